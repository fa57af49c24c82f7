import TransferEngine
import TransferLedger
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What is done with a source once its file is done and has its receipt.
public enum SourceFate: Sendable, Hashable {
  case keep
  case delete
  /// Moved to this folder, where it keeps its path below the folder that keys are relative to. The folder must exist,
  /// on the file system of the sources.
  case move(to: NameBytes)
}

extension UploadOptions {
  /// The settings of the batch with what is said here about its sources.
  /// - Throws: `.usage` and `.noSource`.
  func settings(for found: ResolvedSources) throws(TransferError) -> BatchSettings {
    var settings = settings
    if let settleMs, settleMs > 0 { settings.settleMs = settleMs }
    if let readyFile {
      _ = try ReadyMarker(readyFile)
      settings.readyFile = readyFile
    }
    settings.after = try removal(found)
    return settings
  }

  /// Says which sources will not go as this `add` wants it: those that were sent before, and those for which another
  /// batch has other plans.
  func tellFates(
    _ recorded: SourceAdmitter.Recorded, _ ledger: Ledger, _ notice: (Notice) -> Void
  ) throws(TransferError) {
    guard fate != .keep else { return }
    if recorded.counts.staying > 0 {
      notice(
        .remark(
          "sources that stay, because they were sent before and the batch that sent them keeps them: "
            + "\(recorded.counts.staying)"))
    }
    guard let batch = recorded.batch else { return }
    for other in try ledger.read({ reader in try reader.otherFates(of: batch) }) {
      notice(
        .remark("sources that batch \(other.batch) is to \(other.removal.words), too: \(other.sources); \(rule(other))")
      )
    }
  }

  /// The move comes first; of two moves that which is due first.
  private func rule(_ other: OtherFate) -> String {
    switch (fate, other.removal.action) {
    case (.delete, .move): "they are moved, and not deleted"
    case (.move, .delete): "they are moved, and not deleted, unless they are gone before"
    default: "whichever batch is done with a source first moves it"
    }
  }

  var marker: ReadyMarker? {
    get throws(TransferError) { try readyFile.map { text throws(TransferError) in try ReadyMarker(text) } }
  }

  private func removal(_ found: ResolvedSources) throws(TransferError) -> SourceRemoval? {
    if fate == .keep { return nil }
    guard !followSymlinks else {
      throw TransferError(
        .usage, "add", found.base ?? NameBytes("-"),
        cause: "--after would remove the targets of symbolic links, wherever they are",
        remedy: "leave out --follow-symlinks, or --after")
    }
    guard let base = found.base else {
      throw TransferError(
        .usage, "add", list?.path ?? NameBytes("-"), cause: "--after needs the folder of files from a list",
        remedy: "give --base, the folder that contains all of them")
    }
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
