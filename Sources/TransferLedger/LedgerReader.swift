import FoundationEssentials
public import TransferModel

/// A consistent snapshot of the ledger; only valid inside the body that it was given to.
public struct LedgerReader {
  let db: Connection

  /// What a batch was asked to do; nil when there is no such batch.
  public func batchSettings(_ batch: BatchID) throws -> BatchSettings? {
    let text = try db.first("SELECT settings FROM batch WHERE id = ?", .id(batch)) { $0.bytes(0) }
    return try text.map { try JSONDecoder().decode(BatchSettings.self, from: Data($0)) }
  }

  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC; nil when nothing waits. It may
  /// lie in the past until the next claim.
  public func nextDueMs() throws -> Int64? {
    let times = [
      try db.first(Self.nextFile) { $0.int64OrNil(0) }, try db.first(Self.nextChunk) { $0.int64OrNil(0) },
      try db.first(Self.nextAbort) { $0.int64OrNil(0) },
    ]
    return times.compactMap { $0 ?? nil }.min()
  }

  static let nextFile: StaticString =
    "SELECT min(not_before) FROM file WHERE state = 'pending' AND not_before IS NOT NULL"
  static let nextChunk: StaticString = "SELECT min(not_before) FROM chunk WHERE state = 'waiting'"
  static let nextAbort: StaticString =
    "SELECT min(abort_after) FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL"

  /// Files that are not at rest. Each number is counted in an index that holds just these rows; so the cost grows with
  /// what is left, and it does not belong on a hot path.
  public func workLeft() throws -> WorkLeft {
    try db.first(
      """
      SELECT (SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NULL),
        (SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NOT NULL),
        (SELECT count(*) FROM file WHERE state IN ('active', 'finishing')),
        (SELECT count(*) FROM file WHERE state = 'paused'),
        (SELECT count(*) FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL)
      """
    ) { WorkLeft(ready: $0.int(0), waiting: $0.int(1), active: $0.int(2), paused: $0.int(3), aborts: $0.int(4)) }
      ?? WorkLeft(ready: 0, waiting: 0, active: 0, aborts: 0)
  }

  /// Files or requests in the hands of an engine: something to recover when none is alive.
  func hasWorkInHand() throws -> Bool {
    let file = try db.first("SELECT 1 FROM file WHERE state IN ('active', 'finishing') LIMIT 1") { _ in true }
    let attempt = try db.first("SELECT 1 FROM attempt WHERE outcome = 'open' LIMIT 1") { _ in true }
    return file == true || attempt == true
  }
}
