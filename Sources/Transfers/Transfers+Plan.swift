import TransferEngine
import TransferLedger
public import TransferModel
import TransferProtocols

extension Transfers {
  /// Says what ``add(_:_:notice:)`` would record and what sending it would take; every file comes as `Notice.planned`.
  /// Reads sources and ledger; writes nothing and touches no network. A ledger that does not exist counts as empty.
  /// - Throws: `.usage`, `.config`, `.noSource`; errors of the store but `.storeMissing`.
  public static func plan(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> PlanResult {
    let target = try UploadTarget(options.settings)
    try checkExistence(sources)
    let ledger = try openForReading(options.storePath)
    defer { ledger?.close() }
    let plan = Lock(PlanResult())
    let ownFiles = LedgerFiles(options.storePath)
    for source in sources {
      let scanner = SourceScanner(rules: options.pathRules, followsSymlinks: options.followSymlinks) {
        finding throws(TransferError) in
        if case .file(let path, _, let identity, _) = finding, ownFiles.contains(identity) {
          plan.withLock { $0.special += 1 }
          return notice(.skipped(path: path, reason: "it belongs to the ledger of this upload"))
        }
        try note(finding, source, target, ledger, plan, notice)
      }
      try scanner.scan(source)
    }
    return plan.withLock { $0 }
  }

  private static func openForReading(_ path: String) throws(TransferError) -> Ledger? {
    do throws(TransferError) {
      return try Ledger.open(at: path, mode: .readOnly, clock: SystemClock())
    } catch {
      if error.kind == .storeMissing { return nil }
      throw error
    }
  }

  private static func note(
    _ finding: SourceScanner.Finding, _ source: NameBytes, _ target: UploadTarget, _ ledger: Ledger?,
    _ plan: Lock<PlanResult>, _ notice: (Notice) -> Void
  ) throws(TransferError) {
    switch finding {
    case .file(let path, let relative, let identity, _):
      let key = target.key(relative, path == SourceScanner.absolute(source))
      if let failure = target.uploadProtocol.refusal(ofKey: key) {
        plan.withLock { $0.failed += 1 }
        return notice(.failed(path: path, failure))
      }
      let place = target.uploadProtocol.location(ofKey: NameBytes(""))
      let standing = try ledger?.read { reader in
        try reader.standing(place: place, key: key, identity: identity)
      }
      notice(.planned(path: path, key: key, size: identity.size, verdict: (standing ?? .new).rawValue))
      let layout = try target.uploadProtocol.layout(size: identity.size)
      plan.withLock { $0.count(standing ?? .new, layout) }
    case .excluded(let path, let rule):
      plan.withLock { $0.excluded += 1 }
      notice(.planned(path: path, key: NameBytes(""), size: 0, verdict: "excluded: \(rule)"))
    case .special(let path, let kind):
      plan.withLock { $0.special += 1 }
      notice(.skipped(path: path, reason: "\(kind) is not sent"))
    case .unreadable(let path, _, let failure):
      plan.withLock { $0.failed += 1 }
      notice(.failed(path: path, failure))
    }
  }
}

extension PlanResult {
  fileprivate mutating func count(_ standing: Standing, _ layout: ChunkLayout) {
    switch standing {
    case .new: new += 1
    case .changed: changed += 1
    case .unchanged: unchanged += 1
    case .queued, .unknown: queued += 1
    }
    guard standing == .new || standing == .changed else { return }
    bytes += layout.size
    chunks += layout.count
    // One request a chunk; a session costs its create and its finish.
    requests += layout.count + (layout.count > 1 ? 2 : 0)
  }
}
