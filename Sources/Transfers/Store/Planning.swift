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
    let nowMs = machine.clock.wallMs
    let plans = zip(targets, all).enumerated().map { n, one in
      UploadPlan(for: one.0, one.1, ledger, nowMs: nowMs, notice: notice) { each(n, $0, $1, $2) }
    }
    let admitter = SourceAdmitter(
      found, try lanes(targets, all, notice) { ledger }, ownFiles: OwnFiles(ledger: path, files: options.ownFiles),
      marker: try options.marker, notice: notice)
    let seen = try admitter.examine { n, page throws(TransferError) in try plans[n].add(page) }
    return PlanResult(of: try plans.indices.map { n throws(TransferError) in try plans[n].result(with: seen[n]) })
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

  /// nil when there is no ledger.
  func openForReading() throws(TransferError) -> Ledger? {
    do throws(TransferError) {
      return try open(.readOnly)
    } catch {
      if error.kind == .storeMissing { return nil }
      throw error
    }
  }
}

extension PlanResult {
  /// Whether it would be transferred.
  @discardableResult
  mutating func count(_ standing: SyncStatus, bytes: Int64) -> Bool {
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
  var isRecorded: Bool { self == .new || self == .changed || self == .requeued }
}
