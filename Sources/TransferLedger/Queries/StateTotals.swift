public import TransferModel

extension StateTotals {
  init(_ totals: FileTotals) {
    self.init()
    (byState, bytes) = (totals.byState, totals.bytes)
    (bytesAcked, mismatched, unsized) = (totals.bytesAcked, totals.mismatched, totals.unsized)
  }

  /// `unsized` of the files have no size.
  mutating func add(_ state: FileState, _ tally: (count: Int, sum: Int64), unsized: Int = 0) {
    guard tally.count > 0, state != .superseded else { return }
    if FileState.left.contains(state) { self.unsized += unsized }
    byState[state, default: 0] += tally.count
    bytes +|= tally.sum
    if state == .done { bytesAcked +|= tally.sum }
  }
}

extension LedgerReader {
  /// A filter that selects all files that are not hidden.
  public func shown() throws -> RowFilter {
    var filter = RowFilter()
    filter.leavesOutHidden = try hasHiddenRows()
    return filter
  }

  /// The states of the files that the filter selects. For everything and for whole batches, reads only sums and
  /// indexes: about 50 ns for each file that no sum holds.
  public func stateTotals(_ filter: RowFilter) throws -> StateTotals {
    if filter.withHidden.isEverything { return try allStates(withHidden: !filter.leavesOutHidden) }
    guard let batches = filter.wholeBatches else { return StateTotals(try fileTotals(filter)) }
    return try statesByBatch(batches).values.reduce(into: StateTotals()) { sum, batch in
      sum.byState.merge(batch.byState, uniquingKeysWith: +)
      sum.bytes +|= batch.bytes
      sum.bytesAcked +|= batch.bytesAcked
      sum.mismatched +|= batch.mismatched
      sum.unsized +|= batch.unsized
    }
  }

  func allStates(withHidden: Bool = true) throws -> StateTotals {
    var totals = StateTotals()
    for sql in [Self.readyTally, Self.waitingTally] {
      if let (tally, unsized) = try db.first(sql, row: { ($0.tally(0), $0.tallyNulls(0)) }) {
        totals.add(.pending, tally, unsized: unsized)
      }
    }
    totals.add(.done, try doneTally(try doneSums(), withHidden: withHidden))
    for sql in [Self.runningTallies, Self.restTallies] {
      let rows = try db.rows(sql, .flag(withHidden)) { row throws(SQLiteError) in
        (try row.named(0, FileState.self), row.tally(1), row.tallyNulls(1), row.int(2))
      }
      for (state, tally, unsized, mismatched) in rows {
        totals.add(state, tally, unsized: unsized)
        totals.mismatched += mismatched
      }
    }
    for sql in [Self.partialAcked, Self.runningAcked] {
      totals.bytesAcked +|= try db.first(sql, .flag(withHidden)) { $0.int64(0) } ?? 0
    }
    return totals
  }

  static let readyTally: StaticString =
    "SELECT tally(size) FROM file WHERE state = 'pending' AND not_before IS NULL"
  static let waitingTally: StaticString =
    "SELECT tally(size) FROM file WHERE state = 'pending' AND not_before IS NOT NULL"
  // ?1: includes hidden files.
  static let runningTallies: StaticString = """
    SELECT state, tally(size), 0 FROM file WHERE state IN ('active', 'finishing')
      AND (?1 OR hidden IS NULL) GROUP BY state
    """
  static let restTallies: StaticString = """
    SELECT state, tally(size), sum(cause = 'integrity.mismatch' AND state = 'failed') FROM file
    WHERE state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
      AND (?1 OR hidden IS NULL) GROUP BY state
    """
  static let partialAcked: StaticString = """
    SELECT sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.holds IS NOT NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.state <> 'superseded'
      AND (?1 OR f.hidden IS NULL)
    """
  static let runningAcked: StaticString = """
    SELECT sum_bytes(iif(c.state = 'done', c.length, c.acked)) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.state IN ('active', 'finishing') AND (?1 OR f.hidden IS NULL)
    """
}

extension RowFilter {
  /// Whether the filter leaves nothing out.
  var isEverything: Bool { self == RowFilter() }

  /// The batches, if the filter selects all files of some batches and nothing else.
  var wholeBatches: [Int64]? {
    var rest = self
    (rest.batches, rest.withinBatches) = ([], nil)
    guard rest.isEverything else { return nil }
    if let withinBatches { return batches.isEmpty ? withinBatches : nil }
    guard batches.reduce(0, { $0 + min($1.count, 10_000) }) <= 10_000 else { return nil }
    return Array(Set(batches.flatMap(Array.init)))
  }
}
