import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension TransferStore {
  /// Reports what ``add(_:toEach:notice:)`` would record and what sending it would require; every file is reported as
  /// `Notice.planned` for each destination. Reads sources and ledger; writes nothing and does not use the network. A
  /// missing ledger counts as empty.
  /// - Parameter each: takes the number of a destination, and a file for it.
  /// - Throws: `.usage`, `.config`, `.noSource`, `.badList`; errors of the store except `.storeMissing`.
  package func plan(
    _ sources: [NameBytes], toEach all: [UploadOptions],
    each: @escaping @Sendable (Int, NameBytes, PlannedFiles.Entry, String) -> Void = { _, _, _, _ in },
    notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    guard let options = all.first else { return PlanResult() }
    let (found, targets) = try Self.resolve(sources, all)
    let ledger = try openForReading()
    defer { ledger?.close() }
    let plans = Lock(targets.map { _ in PlanResult() })
    let (batches, nowMs) = (zip(targets, all).map { $0.batch($1) }, machine.clock.wallMs)
    let admitter = SourceAdmitter(
      found, try lanes(targets, all, notice) { ledger }, ownFiles: OwnFiles(ledger: path, files: options.ownFiles),
      marker: try options.marker, notice: notice)
    let seen = try admitter.examine { n, page throws(TransferError) in
      let (target, batch) = (targets[n], batches[n])
      guard batch.settings.growing != .segments else {
        for file in page {
          let planned = try Self.growth(of: file, in: batch, ledger, nowMs: nowMs, notice)
          guard let planned else { continue }
          let layout = try target.transferProtocol.layout(size: planned.size)
          let requests = try target.transferProtocol.plannedRequests(size: planned.size)
          plans.withLock { $0[n].count(planned.standing, layout, requests) }
        }
        return
      }
      let standings = try ledger?.read { reader in
        try page.map {
          try reader.standing(
            place: target.keyPlace, path: $0.path, key: $0.key, identity: $0.identity, in: batch, nowMs: nowMs)
        }
      }
      let onlyCopies = try ledger?.read { reader in
        try page.map {
          try reader.onlyCopy(
            place: target.keyPlace, target.transferProtocol.objectPlace, path: $0.path, key: $0.key,
            linked: FolderLinks.folder(of: $0.path))
        }
      }
      for (index, file) in page.enumerated() {
        let standing = try Self.standing(of: file, standings?[index], ledger)
        if standing.isRecorded, let only = onlyCopies?[index] {
          notice(.failed(path: file.path, .replacing(only)))
          plans.withLock { $0[n].counts.failed += 1 }
          continue
        }
        notice(.planned(path: file.path, key: file.key, size: file.identity.size, verdict: standing.rawValue))
        each(n, file.path, PlannedFiles.Entry(key: file.key, file.identity), standing.rawValue)
        let layout = try target.transferProtocol.layout(size: file.identity.size)
        let requests = try target.transferProtocol.plannedRequests(size: file.identity.size)
        plans.withLock { $0[n].count(standing, layout, requests) }
      }
    }
    var results = plans.withLock { $0 }
    for (n, target) in targets.enumerated() {
      if results[n].requests > 0 { results[n].requests += target.transferProtocol.plannedDiscovery }
      results[n].counts.add(seen[n])
      results[n].hosts = try target.hosts()
      results[n].variables = try target.variables()
    }
    return PlanResult(of: results)
  }

  package func plan(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    try plan(sources, toEach: [options], notice: notice)
  }

  /// Reports what ``add(_:notice:)`` would record and what fetching it would require, as far as known before servers
  /// are queried: sizes come from manifests.
  /// - Throws: as that `add`, except for errors of the folder.
  package func plan(
    _ options: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    let target = DownloadTarget(options)
    try target.folder.refuseOthers()
    // Testing whether the folder ignores case would write to it.
    let spool = try target.spool(ignoresCase: { false }, notice: notice)
    let batches = try target.batches(spool.origins)
    let ledger = try openForReading()
    defer { ledger?.close() }
    var plan = PlanResult()
    let admitter = DownloadAdmitter(spool, to: target.folder, batches)
    plan.counts.repeated = try admitter.examine(ledger, nowMs: machine.clock.wallMs) { _, entry, standing in
      let (path, size) = (target.folder.path(of: entry.path), entry.expected.size)
      guard !entry.url.isFolder else {
        return notice(.planned(path: path, key: entry.url.key, size: nil, verdict: "to be listed"))
      }
      notice(.planned(path: path, key: entry.url.key, size: size, verdict: standing.rawValue))
      plan.count(standing, bytes: size ?? 0)
    }
    for origin in spool.origins {
      guard let settings = batches[origin]?.settings else { continue }
      let host = try AllProtocols.origin(settings, credentialsRegion: nil).description
      if !plan.hosts.contains(host) { plan.hosts.append(host) }
    }
    plan.variables = try target.variables(batches.values)
    return plan
  }

  /// Reads the file if only its content can decide.
  private static func standing(
    of file: SourceCandidate, _ found: (standing: SyncStatus, moved: MovedFile?)?, _ ledger: Ledger?
  ) throws(TransferError) -> SyncStatus {
    guard let found, let moved = found.moved, let ledger else { return found?.standing ?? .new }
    let content = try ledger.read { reader in try reader.sentContent(of: moved.file) }
    return ContentCheck.outcome(of: file.path, root: file.root, moved, content).outcome == .same(moved.file)
      ? .unchanged : .changed
  }

  /// nil for a source that cannot be read.
  private static func growth(
    of file: SourceCandidate, in batch: NewBatch, _ ledger: Ledger?, nowMs: Int64, _ notice: (Notice) -> Void
  ) throws(TransferError) -> GrowingPlan? {
    let known = try ledger?.read { reader in try reader.growth(of: file.key, file.identity, in: batch) }
    do throws(Failure) {
      let planned = try GrowingPlan(file, known ?? KnownGrowth(), nowMs: nowMs)
      notice(.planned(path: file.path, key: planned.key, size: planned.size, verdict: planned.standing.rawValue))
      return planned
    } catch {
      notice(.failed(path: file.path, error))
      return nil
    }
  }

  /// nil when there is no ledger.
  func openForReading() throws(TransferError) -> Ledger? {
    do throws(TransferError) {
      return try Ledger.open(at: path, mode: .readOnly, clock: machine.clock)
    } catch {
      if error.kind == .storeMissing { return nil }
      throw error
    }
  }
}

extension PlannedFiles.Entry {
  fileprivate init(key: NameBytes, _ now: SourceIdentity) {
    self.init(key: key, size: now.size, mtimeNs: now.mtimeNs, ctimeNs: now.ctimeNs, inode: now.inode)
  }
}

extension PlanResult {
  fileprivate mutating func count(_ standing: SyncStatus, _ layout: ChunkLayout, _ requests: Int) {
    guard count(standing, bytes: layout.size) else { return }
    chunks += layout.count
    self.requests += requests
  }

  /// Whether it would be transferred.
  @discardableResult
  fileprivate mutating func count(_ standing: SyncStatus, bytes: Int64) -> Bool {
    switch standing {
    case .new: counts.added += 1
    case .requeued: counts.requeued += 1
    case .changed:
      counts.added += 1
      counts.changed += 1
    case .unchanged: counts.unchanged += 1
    case .queued: counts.queued += 1
    case .busy: counts.busy += 1
    case .unknown: counts.unknown += 1
    }
    guard standing.isRecorded else { return false }
    counts.bytes +|= bytes
    return true
  }
}

extension SyncStatus {
  /// Whether it would be transferred.
  fileprivate var isRecorded: Bool { self == .new || self == .changed || self == .requeued }
}

extension SourceCounts {
  /// Adds what a scan found besides the files that were looked up in the ledger.
  fileprivate mutating func add(_ seen: SourceCounts) {
    repeated = seen.repeated
    failed += seen.failed
    add(unrecorded: seen)
  }
}
