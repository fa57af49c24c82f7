import FoundationEssentials
public import TransferModel

/// A consistent snapshot of the ledger; only valid inside the body that it is passed to.
public struct LedgerReader {
  let db: Connection

  /// The settings of a batch; nil if the batch does not exist. Throws `.config` if this program cannot read them.
  public func batchSettings(_ batch: BatchID) throws -> BatchSettings? {
    let text = try db.first("SELECT settings FROM batch WHERE id = ?", .id(batch)) { $0.bytes(0) }
    do {
      guard let text else { return nil }
      let version = try JSONDecoder().decode(SettingsVersion.self, from: Data(text)).version
      guard version == BatchSettings.currentVersion else { throw SettingsVersion(version: version) }
      return try JSONDecoder().decode(BatchSettings.self, from: Data(text))
    } catch {
      throw TransferError(
        .config, "read the settings of batch", NameBytes(batch.description), cause: Self.cause(of: error),
        remedy: "push its files again; \"transfers store check\" checks whether the ledger is sound")
    }
  }

  /// The version of settings that this program may not be able to read.
  private struct SettingsVersion: Decodable, Error { var version: Int }

  private static func cause(of error: any Error) -> String {
    switch error {
    case let found as SettingsVersion:
      "they have version \(found.version); this program supports \(BatchSettings.currentVersion)"
    case DecodingError.keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has no value of the expected type"
    default: "they are not valid JSON of this program"
    }
  }

  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC; nil if nothing is waiting. It
  /// may lie in the past until the next claim. Files of the batches in `without` do not count, nor do aborts unless
  /// `countsAborts`.
  public func nextDueMs(without: Set<BatchID> = [], countsAborts: Bool = true) throws -> Int64? {
    let abort = countsAborts ? try nextAbortMs() : nil
    guard without.isEmpty else {
      return [abort, try nextFileMs(notIn: without)].compactMap(\.self).min()
    }
    let file = try db.first(Self.nextFile) { $0.int64OrNil(0) } ?? nil
    let chunk = try db.first(Self.nextChunk) { $0.int64OrNil(0) } ?? nil
    return [file, chunk, abort].compactMap(\.self).min()
  }

  /// When the next session may be aborted on its server, in wall milliseconds.
  public func nextAbortMs() throws -> Int64? { try db.first(Self.nextAbort) { $0.int64OrNil(0) } ?? nil }

  /// Reads every waiting row; only for the end of a run.
  private func nextFileMs(notIn without: Set<BatchID>) throws -> Int64? {
    try db.first(
      """
      SELECT min(due) FROM (
        SELECT not_before AS due, batch_id FROM file WHERE state = 'pending' AND not_before IS NOT NULL
        UNION ALL SELECT c.not_before, f.batch_id FROM chunk c JOIN file f ON f.id = c.file_id WHERE c.state = 'waiting')
      WHERE batch_id NOT IN (SELECT value FROM json_each(?))
      """, .text(try jsonText(without.map(\.rawValue)))
    ) { $0.int64OrNil(0) } ?? nil
  }

  /// Whether a file may be started now that is not of a batch in `without`, and not of a size that is left out of its
  /// batch.
  public func hasReadyFiles(without: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>] = [:]) throws -> Bool {
    try db.hasReadyFiles(without: without, leftOut: leftOut)
  }

  /// Whether a file of these batches may be started now that is not of a size that is left out of its batch.
  public func hasReadyFiles(among batches: Set<BatchID>, leftOut: [BatchID: ClosedRange<Int64>]) throws -> Bool {
    try db.hasReadyFiles(among: batches, leftOut: leftOut)
  }

  /// The first `limit` files of these sizes in a batch that may be started now and have no stored body.
  public func readyFiles(
    of batch: BatchID, sizes: ClosedRange<Int64>, limit: Int
  ) throws -> [(id: FileID, path: NameBytes, size: Int64)] {
    try db.rows(
      Connection.readyOfSizes, .id(batch), .int(sizes.lowerBound), .int(sizes.upperBound), .int(limit)
    ) { ($0.id(0), $0.name(1), $0.int64(2)) }
  }

  /// How many these are without a limit. The cost grows with the ready files of the batch.
  package func readyCount(of batch: BatchID, sizes: ClosedRange<Int64>) throws -> Int {
    try db.first(
      Connection.readyCountOfSizes, .id(batch), .int(sizes.lowerBound), .int(sizes.upperBound)
    ) { $0.int(0) } ?? 0
  }

  /// Up to `limit` batches with files that may be started now, by number, after batch `after`. The cost depends only on
  /// `limit`.
  public func readyBatches(after: BatchID, limit: Int) throws -> [BatchID] {
    try db.readyBatches(after: after, limit: limit)
  }

  /// Those of the given batches with files that may be started now.
  public func readyBatches(among batches: Set<BatchID>) throws -> Set<BatchID> {
    try db.readyBatches(among: batches)
  }

  static let nextFile: StaticString =
    "SELECT min(not_before) FROM file WHERE state = 'pending' AND not_before IS NOT NULL"
  static let nextChunk: StaticString = "SELECT min(not_before) FROM chunk WHERE state = 'waiting'"
  static let nextAbort: StaticString =
    "SELECT min(abort_after) FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL"

  /// Whether there are files that an engine may still complete, and sessions that must still be aborted on a server.
  /// Reads only the beginnings of the indexes of just these rows.
  public func isAnythingLeft() throws -> (files: Bool, aborts: Bool) {
    try db.first(
      """
      SELECT EXISTS (SELECT 1 FROM file WHERE state = 'pending' AND not_before IS NULL)
          OR EXISTS (SELECT 1 FROM file WHERE state = 'pending' AND not_before IS NOT NULL)
          OR EXISTS (SELECT 1 FROM file WHERE state IN ('active', 'finishing')),
        EXISTS (SELECT 1 FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL)
      """
    ) { ($0.flag(0), $0.flag(1)) } ?? (false, false)
  }

  /// Whether files of these batches, which are not active, may still be completed without a person: they are ready, in
  /// backoff or, if that counts, settling. The cost depends only on the number of batches.
  public func isAnythingLeft(in batches: Set<BatchID>, countsSettling: Bool) throws -> Bool {
    try batches.sorted().contains { batch in
      try db.first(Self.batchHasWork, .id(batch), .int(countsSettling ? 1 : 0)) { $0.flag(0) } ?? false
    }
  }

  static let batchHasWork: StaticString = """
    SELECT EXISTS (SELECT 1 FROM file WHERE batch_id = ?1 AND state = 'pending' AND not_before IS NULL)
        OR EXISTS (SELECT 1 FROM file WHERE batch_id = ?1 AND state = 'pending' AND not_before IS NOT NULL)
        OR (?2 AND EXISTS (SELECT 1 FROM file WHERE batch_id = ?1 AND state = 'settling'))
    """

  /// Counts files that are not at rest. Each number is counted in an index of just these rows; so the cost grows with
  /// the remaining work, and this does not belong on a hot path.
  public func workLeft() throws -> WorkLeft {
    try db.first(
      """
      SELECT (SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NULL),
        (SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NOT NULL),
        (SELECT count(*) FROM file WHERE state IN ('active', 'finishing')),
        (SELECT count(*) FROM file WHERE state = 'paused'
          AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'),
        (SELECT count(*) FROM file WHERE state = 'settling'),
        (SELECT count(*) FROM session WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL)
      """
    ) { row in
      WorkLeft(
        ready: row.int(0), waiting: row.int(1), active: row.int(2), paused: row.int(3), settling: row.int(4),
        aborts: row.int(5))
    } ?? WorkLeft(ready: 0, waiting: 0, active: 0, aborts: 0)
  }

  /// Whether an engine has claimed files or has open requests: there is something to recover if no engine is running.
  func hasWorkInHand() throws -> Bool {
    let file = try db.first("SELECT 1 FROM file WHERE state IN ('active', 'finishing') LIMIT 1") { _ in true }
    let attempt = try db.first("SELECT 1 FROM attempt WHERE outcome = 'open' LIMIT 1") { _ in true }
    return file == true || attempt == true
  }
}
