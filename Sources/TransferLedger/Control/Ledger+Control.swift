public import TransferModel

/// What people do to very many files is done a part at a time: an engine that shares the ledger never waits long for it. Which
/// files and batches are meant is read outside of the transactions that change them, however much has to be read for it; each of
/// those looks again at its own. Each part is durable by itself and leaves a valid ledger; when the process dies in between, the
/// same command does the rest.
extension Ledger {
  /// Files in one transaction.
  static let filesAtOnce = 1_000
  /// Batches in one transaction.
  static let batchesAtOnce = 200

  /// Does what the verb says to the files that the filter selects at this moment. Blocking; durable on return. `between` is
  /// called after each part.
  public func control(
    _ verb: ControlVerb, _ filter: RowFilter, between: () -> Void = {}
  ) throws(TransferError) -> ControlOutcome {
    let (told, batches) = try read { (try $0.outcome(of: verb, filter), try $0.batchesToHide(verb, filter)) }
    let files = (told.changed + told.asked).sorted()
    var sum = ControlOutcome()
    (sum.unaffected, sum.unrepeatable) = (told.unaffected, told.unrepeatable)
    for part in Self.parts(of: files, Self.filesAtOnce) {
      let narrow = filter.narrowed(to: part)
      sum.add(try write { try $0.controlPart(verb, narrow) })
      between()
    }
    for part in Self.parts(of: batches, Self.batchesAtOnce) { try write { try $0.hideEmptied(part) } }
    return sum
  }

  /// Changes the batches that the filter names, or that have a file which it selects; a running engine follows within a
  /// second. A new priority goes to those of their files that are not at rest, too; a new deadline lifts the old one's
  /// cause from its pending files. Blocking; durable on return.
  public func changeBatches(
    _ filter: RowFilter, _ change: BatchChange, between: () -> Void = {}
  ) throws(TransferError) -> BatchOutcome {
    var outcome = BatchOutcome()
    var nowMs: Int64 = 0
    let selected = try read { try $0.batches(selectedBy: filter) }
    for part in Self.parts(of: selected, Self.batchesAtOnce) {
      let (changed, ms) = try write { (try $0.changeBatches(part, change), $0.wallMs) }
      outcome.changed += changed.changed
      outcome.unaffected += changed.unaffected
      nowMs = ms
    }
    guard change.priority != nil || change.deadlineMs != nil else { return outcome }
    // Also of those that are so already: an earlier command may have died before it came to the files.
    let batches = outcome.changed + outcome.unaffected
    let files = try read { try $0.filesToFollow(batches, nowMs: nowMs) }
    for part in Self.parts(of: files, Self.filesAtOnce) {
      try write { try $0.followBatch(part) }
      between()
    }
    return outcome
  }

  private static func parts<ID>(of ids: [ID], _ size: Int) -> [[ID]] {
    stride(from: 0, to: ids.count, by: size).map { Array(ids[$0..<min($0 + size, ids.count)]) }
  }
}

extension RowFilter {
  /// Of the files that it selected a moment ago, these, as far as it selects them still.
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
  }
}
