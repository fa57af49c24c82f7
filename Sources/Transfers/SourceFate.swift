import TransferEngine
import TransferLedger
public import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The action on a source once its file is done and has its receipt.
public enum SourceFate: Sendable, Hashable {
  case keep
  case delete
  /// Moves it to this folder, keeping its path relative to the folder to which keys are relative. The folder must exist
  /// and be on the file system of the sources.
  case move(to: NameBytes)
}

extension UploadOptions {
  /// The settings of the batch, completed by these options about its sources.
  /// - Throws: `.usage` and `.noSource`.
  func settings(for found: ResolvedSources) throws(TransferError) -> BatchSettings {
    var settings = settings
    if let settleMs, settleMs > 0 { settings.settleMs = settleMs }
    if let readyFile {
      _ = try ReadyMarker(readyFile)
      settings.readyFile = readyFile
    }
    settings.after = try removal(found)
    try refuseForGrowing(settings)
    return settings
  }

  /// - Throws: `.usage`, or `.config` for a job, for options that do not fit files that grow: these are never complete.
  private func refuseForGrowing(_ settings: BatchSettings) throws(TransferError) {
    guard settings.growing == .segments else { return }
    let kind: TransferError.Kind = job == nil ? .usage : .config
    let others = [
      ("--after", settings.after != nil), ("--settle", settings.settleMs != nil),
      ("--ready-file", settings.readyFile != nil), ("--dedupe", settings.dedupe == true),
      ("--stage", settings.stage == true), ("a plan", plan != nil),
    ]
    guard try Destination(settings).isInto else {
      throw TransferError(
        kind, "add to", NameBytes(settings.destination),
        cause: "it names one object, and --growing segments sends many",
        remedy: "name a folder, with a slash at the end")
    }
    guard let other = others.first(where: \.1) else { return }
    throw TransferError(
      kind, "add to", NameBytes(settings.destination),
      cause: "--growing segments and \(other.0) exclude each other", remedy: "leave out one of them")
  }

  /// Reports which sources will not be treated as this `add` requests: those that were sent before, and those that
  /// another batch will delete or move.
  func tellFates(
    _ recorded: SourceAdmitter.Recorded, _ ledger: Ledger, _ notice: (Notice) -> Void
  ) throws(TransferError) {
    guard fate != .keep else { return }
    if recorded.counts.staying > 0 {
      notice(
        .remark(
          "sources that are kept, because an earlier batch sent them and keeps them: "
            + "\(recorded.counts.staying)"))
    }
    guard let batch = recorded.batch else { return }
    for other in try ledger.read({ reader in try reader.otherFates(of: batch) }) {
      notice(
        .remark("sources that batch \(other.batch) will also \(other.removal.words): \(other.sources); \(rule(other))")
      )
    }
  }

  /// A move takes precedence over a deletion; of two moves, the first that is due wins.
  private func rule(_ other: OtherFate) -> String {
    switch (fate, other.removal.action) {
    case (.delete, .move): "they are moved, and not deleted"
    case (.move, .delete): "they are moved, and not deleted, unless they are deleted first"
    default: "the batch that is done with a source first moves it"
    }
  }

  var marker: ReadyMarker? {
    get throws(TransferError) { try readyFile.map { text throws(TransferError) in try ReadyMarker(text) } }
  }

  /// The checks of an `add` that need neither its sources nor credentials, for the check of a configuration.
  /// - Throws: `.usage` and `.config`.
  package func check(_ sources: [NameBytes]) throws(TransferError) {
    var settings = try self.settings.rooted()
    try AllProtocols.refuseUnsupportedOptions(settings)
    // The region and the like of AWS may be those of the user that runs the job.
    if try Destination(settings).definition.credential != .aws {
      _ = try AllProtocols.make(settings, credentialsRegion: nil)
    }
    _ = (try marker, try objectRules)
    let asked = selection(sources)
    try asked.checkRules()
    if fate != .keep {
      try refuseLinks(NameBytes("-"))
      guard list == nil || base != nil else { throw withoutBase }
      settings.after = SourceRemoval(.delete, proof: fateProof, base: "/")
    }
    if case .move(let folder) = fate, asked.contains(folder: folder) {
      throw ResolvedSources.amongSources(folder)
    }
    if let settleMs, settleMs > 0 { settings.settleMs = settleMs }
    settings.readyFile = readyFile
    try refuseForGrowing(settings)
  }

  private func refuseLinks(_ subject: NameBytes) throws(TransferError) {
    guard followSymlinks else { return }
    throw TransferError(
      .usage, "add", subject, cause: "--after would remove the targets of symbolic links, wherever they are",
      remedy: "leave out --follow-symlinks, or --after")
  }

  private var withoutBase: TransferError {
    TransferError(
      .usage, "add", list?.path ?? NameBytes("-"), cause: "--after needs the folder of files from a list",
      remedy: "give --base, the folder that contains all of them")
  }

  private func removal(_ found: ResolvedSources) throws(TransferError) -> SourceRemoval? {
    if fate == .keep { return nil }
    try refuseLinks(found.base ?? NameBytes("-"))
    guard let base = found.base else { throw withoutBase }
    let root = try text(base)
    guard case .move(let folder) = fate else { return SourceRemoval(.delete, proof: fateProof, base: root) }
    let target = try found.checked(moveFolder: folder)
    return SourceRemoval(.move, proof: fateProof, base: root, folder: try text(target))
  }

  private func text(_ folder: NameBytes) throws(TransferError) -> String {
    if let text = folder.utf8 { return text }
    throw TransferError(
      .usage, "add", folder, cause: "--after takes folders whose names are UTF-8",
      remedy: "give another --base or folder"
    )
  }
}

extension SourceRemoval {
  /// `delete`, `move to "/sent"`.
  fileprivate var words: String { folder.map { "move to \"\(printable($0))\"" } ?? "delete" }
}
