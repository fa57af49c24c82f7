public import TransferModel

/// Requests by people that an engine has to apply.
public struct ControlState: Sendable, Hashable {
  /// For files that an engine holds.
  package var requestedActions: [FileID: RequestedAction] = [:]
  /// Of the batches that have limits.
  public var limits: [BatchID: BatchLimits] = [:]
  /// Whether the abort of a session is due.
  public var hasDueAborts = false

  public init() {}
}

extension LedgerReader {
  /// Batches past their deadline that have pending files, among those that the filter names or that have a file it
  /// selects.
  public func overdueBatches(_ filter: RowFilter, nowMs: Int64) throws -> [OverdueBatch] {
    try db.rows(
      """
      SELECT id, deadline_at, files FROM (
        SELECT b.id, b.deadline_at, (SELECT count(*) FROM file f WHERE f.batch_id = b.id AND f.state = 'pending') files
        FROM batch b WHERE b.deadline_at IS NOT NULL AND b.deadline_at <= ?1 AND {batches})
      WHERE files > 0 ORDER BY id
      """, filter, .integer(nowMs)
    ) { OverdueBatch(id: $0.id(0), deadlineMs: $0.int64(1), files: $0.int(2)) }
  }

  /// The number of files that the filter selects and that are pending past the deadline of their batch. Costs next to
  /// nothing if no batch is past its deadline.
  public func overdueFiles(_ filter: RowFilter, nowMs: Int64) throws -> Int {
    let isAny = try db.first(Self.overdueBatch, .integer(nowMs)) { _ in true } ?? false
    guard isAny else { return 0 }
    return try db.first(
      """
      SELECT count(*) FROM file f
      WHERE f.state = 'pending' AND f.batch_id IN (SELECT id FROM batch WHERE deadline_at <= ?1) AND {files}
      """, filter, .integer(nowMs)
    ) { $0.int(0) } ?? 0
  }

  /// Three lookups in indexes that hold only such rows: an engine may call this several times a second.
  public func controlState(nowMs: Int64) throws -> ControlState {
    var state = ControlState()
    let requestedActions = try db.rows(Self.requestedActions) { row throws(SQLiteError) in
      (row.id(0, FileID.self), try row.named(1, RequestedAction.self))
    }
    state.requestedActions = Dictionary(uniqueKeysWithValues: requestedActions)
    let limits = try db.rows(Self.limits) { row in
      let limits = BatchLimits(rate: row.int64OrNil(1), workers: row.intOrNil(2), deadlineMs: row.int64OrNil(3))
      return (row.id(0, BatchID.self), limits)
    }
    state.limits = Dictionary(uniqueKeysWithValues: limits)
    state.hasDueAborts = try db.first(Self.dueAbort, .int(nowMs)) { _ in true } ?? false
    return state
  }

  /// Excludes settling files, which no engine holds.
  static let requestedActions: StaticString =
    "SELECT id, requested_action FROM file WHERE requested_action IS NOT NULL AND run_id IS NOT NULL"
  static let limits: StaticString = """
    SELECT id, rate, workers, deadline_at FROM batch
    WHERE rate IS NOT NULL OR workers IS NOT NULL OR deadline_at IS NOT NULL
    """
  static let overdueBatch: StaticString =
    "SELECT 1 FROM batch WHERE deadline_at IS NOT NULL AND deadline_at <= ? LIMIT 1"
  static let dueAbort: StaticString = """
    SELECT 1 FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL AND abort_after <= ? LIMIT 1
    """
}
