public import TransferModel

/// Requests that affect very many files are applied in parts, so that an engine that shares the ledger never waits
/// long. The affected files and batches are selected outside of the transactions that change them, however much must be
/// read; each transaction checks its own part again, and continues the event that the first one recorded. Each part is
/// durable by itself and leaves a valid ledger; if the process crashes in between, the same command does the rest.
extension Ledger {
  /// Files of an overdue batch that an engine handles in one transaction.
  static let filesAtOnce = 500

  /// Applies the verb to the files that the filter selects at this moment. Blocking; durable on return. `between` is
  /// called after each part.
  public func control(
    _ verb: ControlVerb, _ filter: RowFilter, between: () -> Void = {}
  ) throws(TransferError) -> ControlOutcome {
    try requireWriting()
    let (told, batches) = try read { (try $0.outcome(of: verb, filter), try $0.batchesToHide(verb, filter)) }
    let files = (told.changed + told.asked).sorted()
    var sum = ControlOutcome()
    (sum.unaffected, sum.unrepeatable, sum.uncertain) = (told.unaffected, told.unrepeatable, told.uncertain)
    var begun: [EventKey: Int64] = [:]
    try SliceSize.walk(files) { part throws(TransferError) in
      let (narrow, events) = (filter.narrowed(to: part), begun)
      let (done, ms) = try measuredWrite { try $0.controlPart(verb, narrow, events) }
      begun = done.begun
      sum.add(done.0)
      between()
      return ms
    }
    try SliceSize.walk(batches) { part throws(TransferError) in try measuredWrite { try $0.hideEmptied(part) }.ms }
    return sum
  }

  /// Changes the batches that the filter names, or that have a file which it selects; a running engine follows within a
  /// second. A new priority also applies to their files that are not at rest; a new deadline clears the cause of the
  /// old one from their pending files. Blocking; durable on return.
  public func changeBatches(
    _ filter: RowFilter, _ change: BatchChange, between: () -> Void = {}
  ) throws(TransferError) -> BatchOutcome {
    try requireWriting()
    var outcome = BatchOutcome()
    var nowMs: Int64 = 0
    let selected = try read { try $0.batches(selectedBy: filter) }
    try SliceSize.walk(selected) { part throws(TransferError) in
      let (changed, ms) = try measuredWrite { (try $0.changeBatches(part, change), $0.wallMs) }
      outcome.changed += changed.0.changed
      outcome.unaffected += changed.0.unaffected
      nowMs = changed.1
      return ms
    }
    guard change.priority != nil || change.deadlineMs != nil else { return outcome }
    // Includes unaffected batches: an earlier command may have crashed before it changed their files.
    let batches = outcome.changed + outcome.unaffected
    let files = try read { try $0.filesToFollow(batches, nowMs: nowMs) }
    try SliceSize.walk(files) { part throws(TransferError) in
      let ms = try measuredWrite { try $0.followBatch(part) }.ms
      between()
      return ms
    }
    return outcome
  }

  /// A write, and how long it blocked other writers, not counting its commit.
  private func measuredWrite<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> (result: T, ms: Int64) {
    let clock = clock
    return try write { tx in
      let startMs = clock.bootMs
      let result = try body(tx)
      return (result, clock.bootMs - startMs)
    }
  }
}

extension RowFilter {
  /// The same filter limited to these files, which it selected a moment ago and may no longer select.
  fileprivate func narrowed(to files: [FileID]) -> RowFilter {
    var filter = self
    filter.files = files.map { $0.rawValue...$0.rawValue }
    (filter.batches, filter.withinBatches, filter.paths) = ([], nil, [])
    return filter
  }
}

extension ControlOutcome {
  fileprivate mutating func add(_ other: ControlOutcome) {
    changed += other.changed
    asked += other.asked
    unaffected.merge(other.unaffected, uniquingKeysWith: +)
    unrepeatable += other.unrepeatable
    uncertain += other.uncertain
    keptSources += other.keptSources
    going += other.going
  }
}
