import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

/// The result of `verify`. Counts are files.
public struct VerifyResult: Sendable, Hashable {
  /// Files whose digest is unchanged.
  public var intact = 0
  /// Files whose size is unchanged, if no digest is known or none was compared.
  public var sameSize = 0
  /// Files of which nothing is known that could be compared.
  public var present = 0
  public var changed = 0
  public var missing = 0
  /// Files that could not be read; nothing is recorded about them.
  public var unreadable = 0
  /// How many of the changed and missing files were recorded to be fetched again.
  public var requeued = 0
  /// The size of the compared files, in bytes.
  public var bytes: Int64 = 0

  package init(intact: Int = 0, changed: Int = 0, missing: Int = 0, unreadable: Int = 0) {
    (self.intact, self.changed, self.missing, self.unreadable) = (intact, changed, missing, unreadable)
  }

  public var files: Int { intact + sameSize + present + changed + missing + unreadable }
}

extension TransferStore {
  /// Compares the local files of downloads with what was recorded about them, and records the findings. Each file is
  /// read completely. The finding for a file is durable when `found` is called with it.
  /// - Parameter repairs: records changed and missing files to be fetched again, in batches with the same settings that
  ///   replace existing files. They are replaced only by the recorded content: another version fails.
  /// - Throws: errors of the store.
  package func verify(
    _ filter: RowFilter, _ share: FileShare, repairs: Bool = false,
    found: (KeptDownload, Result<LocalFinding, Failure>) -> Void
  ) throws(TransferError) -> VerifyResult {
    let clock = machine.clock
    let ledger = try open(.existing, clock: clock)
    defer { ledger.close() }
    var (result, last) = (VerifyResult(), Int64(0))
    var repair = repairs ? Repair(ledger, wallMs: clock.wallMs) : nil
    var folders: [BatchID: NameBytes] = [:]
    while true {
      let page = try ledger.read { try $0.keptDownloads(filter, share, after: last, limit: Self.verifiedAtOnce) }
      guard let final = page.last else { return result }
      last = final.id.rawValue
      for batch in Set(page.map(\.batch)) where folders[batch] == nil {
        folders[batch] = try Self.download(of: batch, ledger).folder
      }
      let known = folders
      let findings = page.map { file in (file, Self.compare(file, known[file.batch] ?? NameBytes("/"))) }
      for (file, finding) in try Self.record(findings, ledger) {
        result.count(finding)
        found(file, finding)
      }
      if let added = try repair?.take(findings) { result.requeued += added }
    }
  }

  private static let verifiedAtOnce = 64

  private static func compare(_ file: KeptDownload, _ folder: NameBytes) -> Result<LocalFinding, Failure> {
    Result { () throws(Failure) in try KeptFile(file.path, below: folder).compare(with: file) }
  }

  /// - Returns: those that still represent their paths.
  private static func record(
    _ findings: [(KeptDownload, Result<LocalFinding, Failure>)], _ ledger: Ledger
  ) throws(TransferError) -> [(KeptDownload, Result<LocalFinding, Failure>)] {
    try ledger.write { tx in
      try findings.filter { file, finding in
        guard case .success(let found) = finding else { return true }
        return try tx.recordFinding(file.id, found).isApplied
      }
    }
  }

  fileprivate static func download(of batch: BatchID, _ ledger: Ledger) throws(TransferError) -> DownloadSettings {
    if let settings = try ledger.read({ try $0.batchSettings(batch) })?.download { return settings }
    throw TransferError(.bug, "read the settings of batch", NameBytes(batch.description), cause: "no download")
  }
}

/// Records files that `verify` found changed or missing to be fetched again.
private struct Repair {
  private let ledger: Ledger
  private let wallMs: Int64
  private var targets: [BatchID: AdmissionTarget] = [:]

  init(_ ledger: Ledger, wallMs: Int64) { (self.ledger, self.wallMs) = (ledger, wallMs) }

  /// - Returns: how many were recorded.
  mutating func take(_ findings: [(KeptDownload, Result<LocalFinding, Failure>)]) throws(TransferError) -> Int {
    var bad: [BatchID: [NewDownload]] = [:]
    for case (let file, .success(let found)) in findings where found.outcome != .intact {
      if targets[file.batch] == nil { targets[file.batch] = try target(for: file.batch) }
      bad[file.batch, default: []].append(NewDownload(path: file.path, key: file.key, expected: file.proven))
    }
    guard !bad.isEmpty else { return 0 }
    let (files, targets) = (bad.sorted { $0.key < $1.key }, targets)
    return try ledger.write { tx in
      try files.reduce(0) { count, page in
        guard let target = targets[page.key] else { return count }
        let done = try tx.admitDownloads(page.value, to: target)
        return count + done.added + done.requeued + done.queued
      }
    }
  }

  private func target(for batch: BatchID) throws(TransferError) -> AdmissionTarget {
    guard var settings = try ledger.read({ try $0.batchSettings(batch) }), let download = settings.download,
      let row = try ledger.read({ try $0.batches(.batch(batch), after: 0, limit: 1, withAttempts: false) }).first
    else {
      throw TransferError(.bug, "read the settings of batch", NameBytes(batch.description), cause: "no download")
    }
    settings.download?.overwrites = true
    let new = NewBatch(
      settings: settings, protocolName: row.protocolName, destination: settings.destination,
      place: DownloadTarget.place(try AllProtocols.make(settings, credentialsRegion: nil), download.folder),
      labels: row.labels,
      priority: Int(row.priority), job: row.job)
    let mark = try ledger.read { reader in try reader.addedMark() }
    return AdmissionTarget(new, since: mark, wallMs: wallMs)
  }
}

extension KeptDownload {
  /// The content that was recorded of it, whatever the server has now.
  fileprivate var proven: ExpectedContent {
    var proven = expected
    (proven.size, proven.digests, proven.isListed) = (size, digests, false)
    return proven
  }
}

extension VerifyResult {
  mutating func count(_ finding: Result<LocalFinding, Failure>, isSizeKnown: Bool = true) {
    guard case .success(let found) = finding else {
      unreadable += 1
      return
    }
    bytes +|= found.size ?? 0
    switch found.outcome {
    case .intact where found.digest != nil: intact += 1
    case .intact where isSizeKnown: sameSize += 1
    case .intact: present += 1
    case .changed: changed += 1
    case .missing: missing += 1
    }
  }
}
