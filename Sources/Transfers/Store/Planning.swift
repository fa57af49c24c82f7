import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension TransferStore {
  /// Reports what ``add(_:_:notice:)`` would record and what sending it would require; every file is reported as
  /// `Notice.planned`. Reads sources and ledger; writes nothing and does not use the network. A missing ledger counts
  /// as empty.
  /// - Throws: `.usage`, `.config`, `.noSource`, `.badList`; errors of the store except `.storeMissing`.
  package func plan(
    _ sources: [NameBytes], _ options: UploadOptions,
    each: @escaping @Sendable (NameBytes, PlannedFiles.Entry, String) -> Void = { _, _, _ in },
    notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    _ = try UploadTarget(options.settings)
    let found = try options.selection(sources).resolve()
    let target = try UploadTarget(try options.settings(for: found))
    let ledger = try openForReading()
    defer { ledger?.close() }
    let plan = Lock(PlanResult())
    let place = target.keyPlace
    let (batch, nowMs) = (target.batch(options), machine.clock.wallMs)
    let admitter = SourceAdmitter(
      found, to: target.destination, target.transferProtocol, ownFiles: LedgerFiles(path),
      marker: try options.marker, rules: try options.objectRules, notice: notice)
    let seen = try admitter.examine { page throws(TransferError) in
      let standings = try ledger?.read { reader in
        try page.map {
          try reader.standing(
            place: place, path: $0.path, key: $0.key, identity: $0.identity, in: batch, nowMs: nowMs)
        }
      }
      for (index, file) in page.enumerated() {
        let standing = try Self.standing(of: file, standings?[index], ledger)
        notice(.planned(path: file.path, key: file.key, size: file.identity.size, verdict: standing.rawValue))
        each(file.path, PlannedFiles.Entry(key: file.key, file.identity), standing.rawValue)
        let layout = try target.transferProtocol.layout(size: file.identity.size)
        let requests = try target.transferProtocol.plannedRequests(size: file.identity.size)
        plan.withLock { $0.count(standing, layout, requests) }
      }
    }
    var result = plan.withLock { $0 }
    if result.requests > 0 { result.requests += target.transferProtocol.plannedDiscovery }
    result.counts.add(seen)
    result.hosts = try target.hosts()
    result.variables = try target.variables()
    return result
  }

  /// Reports what ``add(_:notice:)`` would record and what fetching it would require, as far as known before servers
  /// are queried: sizes come from manifests.
  /// - Throws: as that `add`, except for errors of the folder.
  package func plan(
    _ options: DownloadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    let target = DownloadTarget(options)
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
    of file: SourceCandidate, _ found: (standing: Standing, moved: MovedFile?)?, _ ledger: Ledger?
  ) throws(TransferError) -> Standing {
    guard let found, let moved = found.moved, let ledger else { return found?.standing ?? .new }
    let content = try ledger.read { reader in try reader.sentContent(of: moved.file) }
    return ContentCheck.verdict(of: file.path, moved, content).verdict == .same(moved.file) ? .unchanged : .changed
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
  fileprivate mutating func count(_ standing: Standing, _ layout: ChunkLayout, _ requests: Int) {
    guard count(standing, bytes: layout.size) else { return }
    chunks += layout.count
    self.requests += requests
  }

  /// Whether it would be transferred.
  @discardableResult
  fileprivate mutating func count(_ standing: Standing, bytes: Int64) -> Bool {
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
    guard standing == .new || standing == .changed || standing == .requeued else { return false }
    counts.bytes += bytes
    return true
  }
}

extension SourceCounts {
  /// Adds what a scan found besides the files that were looked up in the ledger.
  fileprivate mutating func add(_ seen: SourceCounts) {
    repeated = seen.repeated
    failed = seen.failed
    add(unrecorded: seen)
  }
}
