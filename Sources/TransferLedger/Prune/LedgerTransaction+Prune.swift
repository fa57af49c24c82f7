import TransferModel

/// The only transition that deletes rows. It first records what it will delete: the rules of the schema allow no other
/// deletion.
extension LedgerTransaction {
  /// done → done without its attempts; superseded → deleted. Prunes only those of these files that still may be pruned.
  /// Sums of blocks that lose attempts are computed again by ``Ledger/addUpHistory(until:)``.
  /// - Parameter partOf: the event that an earlier transaction of the same prune recorded.
  /// - Returns: the deleted rows, and the event; nil if nothing was deleted.
  func prune(
    _ files: [FileID], before beforeMs: Int64, partOf: Int64?
  ) throws -> (rows: PruneOutcome.Rows, event: Int64?) {
    let reader = LedgerReader(db: db)
    let found = try db.rows(LedgerReader.prunable, Self.array(files.map(\.rawValue)), .integer(beforeMs)) {
      PrunableFile($0)
    }
    guard !found.isEmpty else { return (PruneOutcome.Rows(), nil) }
    let rows = try reader.rows(of: found)
    let event = try recordPrune(before: beforeMs, partOf: partOf)
    let id = try db.insert(
      "INSERT INTO prune (event_id, at, before_at) VALUES (?, ?, ?)", .integer(event), .int(wallMs), .integer(beforeMs))
    try record(found, of: id)
    try delete(found)
    logs(prune: id)
    return (rows, event)
  }

  private func recordPrune(before beforeMs: Int64, partOf: Int64?) throws -> Int64 {
    try recordEvent(
      "pruned", detail: "history of files that ended before \(CivilTime(wallMs: beforeMs).rfc3339)", partOf: partOf)
  }

  // MARK: - Recording

  private func record(_ files: [PrunableFile], of prune: Int64) throws {
    try record("file", files.filter(\.goes).map(\.id), prune)
    try record("history", files.filter { !$0.goes }.map(\.id), prune)
    for file in files where !file.goes {
      try db.run(Self.sumOfFile, .integer(file.id), .flag(file.losesChunks))
    }
    let all = Self.array(files.map(\.id))
    let sums = try PrunedSums(of: all, db)
    try sums.insert(into: db, prune)
    try record("attempt", sums.attempts, prune)
    let chunkless = Self.array(files.filter(\.losesChunks).map(\.id))
    try record("chunk", try numbers(Self.chunksOf, chunkless), prune)
    let sessionless = Self.array(files.filter(\.losesSessions).map(\.id))
    try record("session", try numbers(Self.sessionsOf, sessionless), prune)
    for block in Set(sums.attempts.map { $0 >> SumBlock.shift }) {
      try db.run("DELETE FROM attempt_sum WHERE block = ?", .integer(block))
    }
  }

  private func record(_ kind: String, _ numbers: [Int64], _ prune: Int64) throws {
    for range in NumberRanges.joined(numbers) {
      try db.run(
        "INSERT INTO pruned_range (kind, first_id, last_id, prune_id) VALUES (?, ?, ?, ?)", .text(kind),
        .integer(range.lowerBound), .integer(range.upperBound), .integer(prune))
    }
  }

  private func numbers(_ sql: StaticString, _ files: SQLValue) throws -> [Int64] {
    try db.rows(sql, files) { $0.int64(0) }
  }

  private static func array(_ numbers: [Int64]) -> SQLValue {
    .text("[" + numbers.map(String.init).joined(separator: ",") + "]")
  }

  // MARK: - Deleting

  private func delete(_ files: [PrunableFile]) throws {
    let all = Self.array(files.map(\.id))
    try db.run(Self.deleteBodies, all)
    try db.run(Self.deleteDeliveries, all)
    try db.run("DELETE FROM outbox WHERE file_id IN (SELECT value FROM json_each(?))", all)
    try db.run("DELETE FROM attempt WHERE file_id IN (SELECT value FROM json_each(?))", all)
    try db.run(
      "DELETE FROM chunk WHERE file_id IN (SELECT value FROM json_each(?))",
      Self.array(files.filter(\.losesChunks).map(\.id)))
    try db.run(
      "DELETE FROM session WHERE file_id IN (SELECT value FROM json_each(?))",
      Self.array(files.filter(\.losesSessions).map(\.id)))
    let replaced = Self.array(files.filter(\.goes).map(\.id))
    try db.run("DELETE FROM sighting WHERE file_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM content WHERE file_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM segment WHERE file_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM listed_file WHERE listing_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM listed_file WHERE file_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM absent_source WHERE file_id IN (SELECT value FROM json_each(?))", replaced)
    try db.run("DELETE FROM file WHERE id IN (SELECT value FROM json_each(?))", replaced)
  }

  /// Deletes callbacks that reported the end of a batch and ended themselves before `beforeMs`. Excludes batches that
  /// were merged from another ledger.
  /// - Returns: how many; there may be more if these are as many as the limit.
  func pruneBatchCallbacks(before beforeMs: Int64, limit: Int) throws -> Int {
    let found = try db.rows(Self.batchCallbacks, .integer(beforeMs), .int(limit)) { $0.int64(0) }
    let all = Self.array(found)
    try db.run("DELETE FROM delivery WHERE outbox_id IN (SELECT value FROM json_each(?))", all)
    try db.run("DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))", all)
    return found.count
  }

  static let batchCallbacks: StaticString = """
    SELECT o.id FROM outbox o CROSS JOIN callback c ON c.id = o.callback_id CROSS JOIN batch b ON b.id = c.batch_id
    WHERE o.file_id IS NULL AND o.uid IS NULL AND o.ended_at IS NOT NULL AND o.ended_at < ?1 AND b.origin_id IS NULL
    ORDER BY o.ended_at LIMIT ?2
    """
  static let batchCallbackCount: StaticString = """
    SELECT count(*) FROM outbox o CROSS JOIN callback c ON c.id = o.callback_id CROSS JOIN batch b ON b.id = c.batch_id
    WHERE o.file_id IS NULL AND o.uid IS NULL AND o.ended_at IS NOT NULL AND o.ended_at < ?1 AND b.origin_id IS NULL
    """
  private static let deleteBodies: StaticString = """
    DELETE FROM sent_body WHERE attempt_id IN (
      SELECT a.id FROM json_each(?) n CROSS JOIN attempt a ON a.file_id = n.value)
    """
  private static let deleteDeliveries: StaticString = """
    DELETE FROM delivery WHERE outbox_id IN (
      SELECT o.id FROM json_each(?) n CROSS JOIN outbox o ON o.file_id = n.value)
    """
  private static let chunksOf: StaticString =
    "SELECT c.id FROM json_each(?) n CROSS JOIN chunk c ON c.file_id = n.value"
  private static let sessionsOf: StaticString =
    "SELECT s.id FROM json_each(?) n CROSS JOIN session s ON s.file_id = n.value"
  /// ?2: its chunks are deleted, too.
  private static let sumOfFile: StaticString = """
    INSERT INTO pruned_file (file_id, attempts, bytes_transferred, bytes_untold, bytes_reused)
    SELECT ?1, coalesce(sum(NOT (operation = 'abort' OR chunk_id IS NULL AND operation IN ('verify', 'probe')
        AND started_at > (SELECT finished_at FROM file WHERE id = ?1))), 0), coalesce(sum(bytes_transferred), 0),
      (SELECT coalesce(sum(bytes_transferred_at_most - bytes_transferred), 0) FROM v_cut_off WHERE file_id = ?1),
      iif(?2, (SELECT coalesce(sum(reused), 0) FROM chunk WHERE file_id = ?1 AND reused IS NOT NULL), 0)
    FROM attempt WHERE file_id = ?1
    """
}

/// Joins numbers into the ranges that they fill.
enum NumberRanges {
  static func joined(_ numbers: [Int64]) -> [ClosedRange<Int64>] {
    numbers.sorted().reduce(into: []) { ranges, number in
      if let last = ranges.last, last.upperBound == number - 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
  }
}
