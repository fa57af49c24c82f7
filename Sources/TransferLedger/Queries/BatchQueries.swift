import FoundationEssentials
public import TransferModel

extension LedgerReader {
  /// Batches that the filter names or that have a file it selects, ordered by number, starting after `after`. Their
  /// times, sent bytes and retries are only set `withAttempts`, which reads all of their attempts.
  public func batches(
    _ filter: RowFilter, after: Int64, limit: Int, withAttempts: Bool = true
  ) throws -> [BatchRow] {
    let rows = try db.rows(
      """
      SELECT b.id, b.uid, b.name, b.destination, b.protocol, b.labels, b.priority, b.created_at, b.rate,
        b.workers, b.deadline_at, b.job
      FROM v_batches b
      WHERE b.id > ?1 AND {batches}
      ORDER BY b.id LIMIT ?2
      """, filter, .integer(after),
      .int(limit)
    ) { row in
      BatchRow(
        id: row.id(0), uid: row.text(1), name: row.textOrNil(2), destination: row.text(3), protocolName: row.text(4),
        labels: Self.labels(row.text(5)), priority: row.int64(6), createdMs: row.int64(7), startedMs: nil,
        finishedMs: nil,
        limits: BatchLimits(rate: row.int64OrNil(8), workers: row.intOrNil(9), deadlineMs: row.int64OrNil(10)),
        totals: FileTotals(), job: row.textOrNil(11))
    }
    return try withTotals(rows, withAttempts: withAttempts).map { row in
      var row = row
      if row.totals.left > 0 { row.fault = try settingsFault(row.id) }
      return row
    }
  }

  /// Up to `limit` batches among the first `looked` with ready files that no run can send. Those that can be sent get
  /// out of the way, so that held ones come first.
  public func heldBatches(_ filter: RowFilter, looked: Int, limit: Int = 50) throws -> [BatchRow] {
    let held = try readyBatches(after: BatchID(rawValue: 0), limit: looked).filter { try settingsFault($0) != nil }
    guard !held.isEmpty else { return [] }
    var those = filter
    let wanted = filter.withinBatches.map(Set.init)
    those.withinBatches = held.map(\.rawValue).filter { wanted?.contains($0) ?? true }
    return try batches(those, after: 0, limit: limit, withAttempts: false)
  }

  /// Why the settings of a batch cannot be read; nil if they can.
  private func settingsFault(_ batch: BatchID) throws -> String? {
    do {
      _ = try batchSettings(batch)
      return nil
    } catch let error as TransferError where error.kind == .config {
      return error.cause
    }
  }

  /// Only a damaged ledger holds anything other than an object of strings.
  static func labels(_ json: String) -> [String: String] {
    (try? JSONDecoder().decode([String: String].self, from: Data(json.utf8))) ?? [:]
  }

  /// The number of batches that the filter names, or that have a file it selects.
  public func countBatches(_ filter: RowFilter) throws -> Int {
    try db.first(
      """
      SELECT count(*) FROM batch b WHERE {batches}
      """, filter
    ) { $0.int(0) } ?? 0
  }

  /// The numbers of the batches that the filter names, or that have a file which it selects, at most `limit`.
  public func batchIDs(_ filter: RowFilter, limit: Int) throws -> [BatchID] {
    try db.rows("SELECT b.id FROM batch b WHERE {batches} ORDER BY b.id LIMIT ?1", filter, .int(limit)) { $0.id(0) }
  }

  /// Finds a batch by number (`b12`) or by name; a name takes precedence.
  public func batch(named text: String) throws -> BatchID? {
    let number = text.first == BatchID.letter ? BatchID(text: text) : nil
    return try db.first(
      "SELECT id FROM batch WHERE (name = ?1 AND origin_id IS NULL) OR id = ?2 ORDER BY name IS NOT ?1 LIMIT 1",
      .text(text), .id(number)
    ) { $0.id(0) }
  }

  /// The same, but in a merged ledger a name means the batches of that name in all shards. Empty if there is none.
  public func batches(named text: String) throws -> [BatchID] {
    let merged = try db.rows(
      "SELECT id FROM batch WHERE name = ? AND origin_id IS NOT NULL ORDER BY id", .text(text)
    ) { $0.id(0, BatchID.self) }
    return merged.isEmpty ? try batch(named: text).map { [$0] } ?? [] : merged
  }

  /// The batch that was created last; in a merged ledger, by the clocks of its shards.
  public func newestBatch() throws -> BatchID? {
    try db.first(
      """
      SELECT id FROM batch WHERE id IN (
        SELECT (SELECT max(id) FROM batch WHERE id >= s.n * 1000000000000 AND id < (s.n + 1) * 1000000000000)
        FROM (SELECT 0 AS n UNION ALL SELECT id FROM origin_store) s)
      ORDER BY created_at DESC, id DESC LIMIT 1
      """
    ) { $0.id(0) }
  }

  /// The batches with a number above `last`; served by the primary key.
  public func batches(above last: BatchID) throws -> Set<BatchID> {
    Set(try db.rows("SELECT id FROM batch WHERE id > ?", .id(last)) { $0.id(0, BatchID.self) })
  }

  /// The highest number of a batch; nil if there is none.
  public func lastBatch() throws -> BatchID? {
    let last = try db.first("SELECT max(id) FROM batch") { $0.int64OrNil(0) } ?? nil
    return last.map(BatchID.init(rawValue:))
  }

  /// The first ID that the filter names but that does not exist, as people type it. A range exists if any of its rows
  /// does.
  public func firstMissing(_ filter: RowFilter) throws -> String? {
    for range in filter.files where try isEmpty("SELECT 1 FROM file WHERE id BETWEEN ?1 AND ?2 LIMIT 1", range) {
      return FileID(rawValue: range.lowerBound).description
    }
    for range in filter.batches where try isEmpty("SELECT 1 FROM batch WHERE id BETWEEN ?1 AND ?2 LIMIT 1", range) {
      return BatchID(rawValue: range.lowerBound).description
    }
    for range in filter.chunks where try isEmpty("SELECT 1 FROM chunk WHERE id BETWEEN ?1 AND ?2 LIMIT 1", range) {
      return ChunkID(rawValue: range.lowerBound).description
    }
    for range in filter.attempts where try isEmpty("SELECT 1 FROM attempt WHERE id BETWEEN ?1 AND ?2 LIMIT 1", range) {
      return AttemptID(rawValue: range.lowerBound).description
    }
    for range in filter.sessions where try isEmpty("SELECT 1 FROM session WHERE id BETWEEN ?1 AND ?2 LIMIT 1", range) {
      return SessionID(rawValue: range.lowerBound).description
    }
    return nil
  }

  private func isEmpty(_ sql: StaticString, _ range: ClosedRange<Int64>) throws -> Bool {
    try db.first(sql, .integer(range.lowerBound), .integer(range.upperBound)) { _ in false } ?? true
  }
}
