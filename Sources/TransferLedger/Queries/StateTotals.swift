public import TransferModel

/// Where files stand: what `status` and lists of batches add up. Counted from the indexes that separate the states,
/// which hold the sizes too, and of done files from their sums; no row of a table is read but for files that are in
/// work or were cut off.
public struct StateTotals: Sendable, Hashable {
  /// Files by state, without those that a newer generation replaced.
  public var byState: [FileState: Int] = [:]
  /// Sum of their sizes.
  public var bytes: Int64 = 0
  /// Sum of what the server acknowledged of chunks; of a done file that is its size.
  public var bytesAcked: Int64 = 0
  /// Failed files whose cause is `integrity.mismatch`.
  public var mismatched = 0

  public init() {}

  public func count(_ state: FileState) -> Int { byState[state] ?? 0 }
  public var files: Int { byState.values.reduce(0, +) }
  /// The same but for those; never below nothing.
  public func without(_ others: StateTotals) -> StateTotals {
    var totals = self
    totals.byState.merge(others.byState.filter { byState[$0.key] != nil }) { max(0, $0 - $1) }
    totals.bytes = max(0, bytes - others.bytes)
    totals.bytesAcked = max(0, bytesAcked - others.bytesAcked)
    totals.mismatched = max(0, mismatched - others.mismatched)
    return totals
  }

  /// Files that an engine still has to bring to an end.
  public var left: Int { FileTotals(self).left }
}

extension FileTotals {
  public init(_ states: StateTotals) {
    self.init(
      byState: states.byState, bytes: states.bytes, bytesAcked: states.bytesAcked, mismatched: states.mismatched)
  }
}

extension StateTotals {
  init(_ totals: FileTotals) {
    (byState, bytes) = (totals.byState, totals.bytes)
    (bytesAcked, mismatched) = (totals.bytesAcked, totals.mismatched)
  }

  mutating func add(_ state: FileState, _ tally: (count: Int, sum: Int64)) {
    guard tally.count > 0, state != .superseded else { return }
    byState[state, default: 0] += tally.count
    bytes += tally.sum
    if state == .done { bytesAcked += tally.sum }
  }
}

extension LedgerReader {
  /// All files that are not hidden.
  public func shown() throws -> RowFilter {
    var filter = RowFilter()
    filter.leavesOutHidden = try hasHiddenRows()
    return filter
  }

  /// Where the files stand that the filter selects. For everything, and for whole batches, by sums and indexes alone:
  /// about 50 ns for each file that no sum holds.
  public func stateTotals(_ filter: RowFilter) throws -> StateTotals {
    if filter.withHidden.isEverything { return try allStates(withHidden: !filter.leavesOutHidden) }
    guard let batches = filter.wholeBatches else { return StateTotals(try fileTotals(filter)) }
    return try statesByBatch(batches).values.reduce(into: StateTotals()) { sum, batch in
      sum.byState.merge(batch.byState, uniquingKeysWith: +)
      sum.bytes += batch.bytes
      sum.bytesAcked += batch.bytesAcked
      sum.mismatched += batch.mismatched
    }
  }

  func allStates(withHidden: Bool = true) throws -> StateTotals {
    var totals = StateTotals()
    for sql in [Self.readyTally, Self.waitingTally] {
      if let tally = try db.first(sql, row: { $0.tally(0) }) { totals.add(.pending, tally) }
    }
    totals.add(.done, try doneTally(try doneSums(), withHidden: withHidden))
    for sql in [Self.runningTallies, Self.restTallies] {
      let rows = try db.rows(sql, .flag(withHidden)) { row throws(SQLiteError) in
        (try row.named(0, FileState.self), row.tally(1), row.int(2))
      }
      for (state, tally, mismatched) in rows {
        totals.add(state, tally)
        totals.mismatched += mismatched
      }
    }
    for sql in [Self.partialAcked, Self.runningAcked] {
      totals.bytesAcked += try db.first(sql, .flag(withHidden)) { $0.int64(0) } ?? 0
    }
    return totals
  }

  static let readyTally: StaticString =
    "SELECT tally(size) FROM file WHERE state = 'pending' AND not_before IS NULL"
  static let waitingTally: StaticString =
    "SELECT tally(size) FROM file WHERE state = 'pending' AND not_before IS NOT NULL"
  // ?1: also what people tidied away.
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
    SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.holds IS NOT NULL AND f.run_id IS NULL AND f.state <> 'done' AND f.state <> 'superseded'
      AND (?1 OR f.hidden IS NULL)
    """
  static let runningAcked: StaticString = """
    SELECT coalesce(sum(iif(c.state = 'done', c.length, c.acked)), 0) FROM file f CROSS JOIN chunk c ON c.file_id = f.id
    WHERE f.state IN ('active', 'finishing') AND (?1 OR f.hidden IS NULL)
    """
}

extension RowFilter {
  /// Nothing is left out.
  var isEverything: Bool { self == RowFilter() }

  /// The batches, when the filter means all files of some batches and nothing else.
  var wholeBatches: [Int64]? {
    var rest = self
    (rest.batches, rest.withinBatches) = ([], nil)
    guard rest.isEverything else { return nil }
    if let withinBatches { return batches.isEmpty ? withinBatches : nil }
    guard batches.reduce(0, { $0 + min($1.count, 10_000) }) <= 10_000 else { return nil }
    return Array(Set(batches.flatMap(Array.init)))
  }
}
