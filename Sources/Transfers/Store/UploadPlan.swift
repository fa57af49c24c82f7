import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

/// What would be recorded for one destination, and what sending it would require. Used by one thread.
final class UploadPlan {
  private let target: UploadTarget
  private let batch: NewBatch
  /// nil for a missing one.
  private let ledger: Ledger?
  private let nowMs: Int64
  private let notice: @Sendable (Notice) -> Void
  private let each: (NameBytes, PlannedFiles.Entry, String) -> Void
  private var plan = PlanResult()

  /// - Parameter each: takes every file that was looked up, and its verdict.
  init(
    for target: UploadTarget, _ options: UploadOptions, _ ledger: Ledger?, nowMs: Int64,
    notice: @escaping @Sendable (Notice) -> Void,
    each: @escaping (NameBytes, PlannedFiles.Entry, String) -> Void
  ) {
    (self.target, self.ledger, self.nowMs) = (target, ledger, nowMs)
    (self.notice, self.each) = (notice, each)
    batch = target.batch(options)
  }

  func add(_ page: [SourceCandidate]) throws(TransferError) {
    if batch.settings.growing == .segments { return try addSegments(page) }
    let standings = try ledger?.read { [target, batch, nowMs] reader in
      try page.map {
        try reader.standing(
          place: target.keyPlace, path: $0.path, key: $0.key, identity: $0.identity, in: batch, nowMs: nowMs)
      }
    }
    let onlyCopies = try ledger?.read { [target] reader in
      try page.map {
        try reader.onlyCopy(
          place: target.keyPlace, target.transferProtocol.objectPlace, path: $0.path, key: $0.key,
          linked: FolderLinks.folder(of: $0.path))
      }
    }
    for (index, file) in page.enumerated() {
      let standing = try standing(of: file, standings?[index])
      if standing.isRecorded, let only = onlyCopies?[index] {
        notice(.failed(path: file.path, .replacing(only)))
        plan.counts.failed += 1
        continue
      }
      notice(.planned(path: file.path, key: file.key, size: file.identity.size, verdict: standing.rawValue))
      each(file.path, PlannedFiles.Entry(key: file.key, file.identity), standing.rawValue)
      try count(standing, size: file.identity.size)
    }
  }

  /// The plan of the destination, with what the scan found besides the files that were looked up in the ledger.
  func result(with seen: SourceCounts) throws(TransferError) -> PlanResult {
    var result = plan
    if result.requests > 0 { result.requests += target.transferProtocol.plannedDiscovery }
    result.counts.add(seen)
    result.hosts = try target.hosts()
    result.variables = try target.variables()
    return result
  }

  private func addSegments(_ page: [SourceCandidate]) throws(TransferError) {
    for file in page {
      if let planned = try growth(of: file) { try count(planned.standing, size: planned.size) }
    }
  }

  private func count(_ standing: SyncStatus, size: Int64) throws(TransferError) {
    let layout = try target.transferProtocol.layout(size: size)
    let requests = try target.transferProtocol.plannedRequests(size: size)
    guard plan.count(standing, bytes: layout.size) else { return }
    plan.chunks += layout.count
    plan.requests += requests
  }

  /// Reads the file if only its content can decide.
  private func standing(
    of file: SourceCandidate, _ found: (standing: SyncStatus, moved: MovedFile?)?
  ) throws(TransferError) -> SyncStatus {
    guard let found, let moved = found.moved, let ledger else { return found?.standing ?? .new }
    let content = try ledger.read { reader in try reader.sentContent(of: moved.file) }
    return ContentCheck.outcome(of: file.path, root: file.root, moved, content).outcome == .same(moved.file)
      ? .unchanged : .changed
  }

  /// nil for a source that cannot be read.
  private func growth(of file: SourceCandidate) throws(TransferError) -> GrowingPlan? {
    let known = try ledger?.read { [batch] reader in try reader.growth(of: file.key, file.identity, in: batch) }
    do throws(Failure) {
      let planned = try GrowingPlan(file, known ?? KnownGrowth(), nowMs: nowMs)
      notice(.planned(path: file.path, key: planned.key, size: planned.size, verdict: planned.standing.rawValue))
      return planned
    } catch {
      notice(.failed(path: file.path, error))
      return nil
    }
  }
}

extension PlannedFiles.Entry {
  fileprivate init(key: NameBytes, _ now: SourceIdentity) {
    self.init(key: key, size: now.size, mtimeNs: now.mtimeNs, ctimeNs: now.ctimeNs, inode: now.inode)
  }
}

extension SourceCounts {
  /// Adds what a scan found besides the files that were looked up in the ledger.
  fileprivate mutating func add(_ seen: SourceCounts) {
    repeated = seen.repeated
    failed += seen.failed
    add(unrecorded: seen)
  }
}
