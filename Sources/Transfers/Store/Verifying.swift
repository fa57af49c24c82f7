import TransferEngine
import TransferLedger
public import TransferModel
import TransferProtocols

/// What a `verify` found.
public struct VerifyResult: Sendable, Hashable {
  public var intact = 0
  public var changed = 0
  public var missing = 0
  /// Could not be read: nothing is recorded of them.
  public var unreadable = 0
  /// Of what was compared, in bytes.
  public var bytes: Int64 = 0
  /// The changed and the missing, for a repair.
  public var bad: [KeptDownload] = []

  public var files: Int { intact + changed + missing + unreadable }
}

extension TransferStore {
  /// Compares the local files of downloads with what was recorded of them, and records what it found; each is read from
  /// its beginning to its end. What was found of a file is durable when `found` has it.
  /// - Throws: errors of the store; `.noSource` when a target folder is not there: perhaps its disk is not mounted.
  package func verify(
    _ filter: RowFilter, _ share: FileShare, found: (KeptDownload, Result<LocalFinding, Failure>) -> Void
  ) throws(TransferError) -> VerifyResult {
    let ledger = try Ledger.open(at: path, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    var (result, folders, last) = (VerifyResult(), [BatchID: LocalFolder](), Int64(0))
    while true {
      let page = try ledger.read { try $0.keptDownloads(filter, share, after: last, limit: Self.verifiedAtOnce) }
      guard let final = page.last else { return result }
      last = final.id.rawValue
      var findings: [(KeptDownload, Result<LocalFinding, Failure>)] = []
      for file in page {
        if folders[file.batch] == nil { folders[file.batch] = try Self.folder(of: file.batch, ledger) }
        guard let folder = folders[file.batch] else { continue }
        findings.append((file, Self.compare(file, folder)))
      }
      let known = findings
      try ledger.write { tx in
        for case (let file, .success(let finding)) in known { _ = try tx.recordFinding(file.id, finding) }
      }
      for (file, finding) in findings {
        result.count(file, finding)
        found(file, finding)
      }
    }
  }

  private static let verifiedAtOnce = 64

  private static func compare(_ file: KeptDownload, _ folder: LocalFolder) -> Result<LocalFinding, Failure> {
    Result { () throws(Failure) in try KeptFile(file.path, below: folder.path).compare(with: file) }
  }

  private static func folder(of batch: BatchID, _ ledger: Ledger) throws(TransferError) -> LocalFolder {
    guard let settings = try ledger.read({ try $0.batchSettings(batch) })?.download else {
      throw TransferError(.bug, "read the settings of batch", NameBytes(batch.description), cause: "no download")
    }
    let folder = LocalFolder(settings.folder)
    do throws(TransferError) {
      try folder.check()
    } catch {
      throw TransferError(
        .noSource, "open folder", folder.path, cause: error.cause, remedy: "mount its disk, or name other batches")
    }
    return folder
  }

  /// Records files that `verify` found changed or missing to be fetched again, in batches with the settings of theirs
  /// that replace what is there. Durable on return.
  package func repair(_ bad: [KeptDownload]) throws(TransferError) -> AddResult {
    let clock = SystemClock()
    let ledger = try Ledger.open(at: path, mode: .existing, clock: clock)
    defer { ledger.close() }
    let mark = try ledger.read { reader in try reader.addedMark() }
    var (counts, files, first) = (SourceCounts(), SelectedFiles(), BatchID?.none)
    for (batch, bad) in Dictionary(grouping: bad, by: \.batch).sorted(by: { $0.key < $1.key }) {
      let again = bad.map { NewDownload(path: $0.path, key: $0.key, expected: $0.expected) }
      let target = AdmissionTarget(try Self.repairing(batch, ledger), since: mark, wallMs: clock.wallMs)
      let done = try ledger.write { tx in try tx.admitDownloads(again, to: target) }
      counts.added += done.added
      counts.queued += done.queued
      files.append(done.files)
      first = first ?? done.batch
    }
    return AddResult(batch: first, counts: counts, files: AddedFiles(since: mark, batch: first, files: files))
  }

  private static func repairing(_ batch: BatchID, _ ledger: Ledger) throws(TransferError) -> NewBatch {
    guard var settings = try ledger.read({ try $0.batchSettings(batch) }), let download = settings.download else {
      throw TransferError(.bug, "read the settings of batch", NameBytes(batch.description), cause: "no download")
    }
    settings.download?.overwrites = true
    let row = try ledger.read { try $0.batches(.batch(batch), after: 0, limit: 1, withAttempts: false) }.first
    return NewBatch(
      settings: settings, protocolName: try AllProtocols.make(settings, credentialsRegion: nil).name,
      destination: settings.destination, place: DownloadTarget.place(settings.destination, download.folder),
      labels: row?.labels ?? [:])
  }
}

extension VerifyResult {
  fileprivate mutating func count(_ file: KeptDownload, _ finding: Result<LocalFinding, Failure>) {
    guard case .success(let found) = finding else {
      unreadable += 1
      return
    }
    bytes += found.size ?? 0
    switch found.verdict {
    case .intact: intact += 1
    case .changed: changed += 1
    case .missing: missing += 1
    }
    if found.verdict != .intact { bad.append(file) }
  }
}
