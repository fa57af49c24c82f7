import TransferModel

extension LedgerReader {
  /// Other requests to the subject's host within `span`; nil for a run, which may have many hosts, and for a batch that
  /// does not exist. The cost grows with all attempts of that time, or without `countsOthers` with those answered 429
  /// or 503.
  package func hostActivity(_ row: WhyRow, _ span: TimeSpan, countsOthers: Bool = true) throws -> HostActivity? {
    guard let batch = row.batch, let (host, batches) = try batchesAtHost(of: batch) else { return nil }
    let ids = SQLValue.text(try jsonText(batches))
    var found = HostActivity(host: host)
    if countsOthers {
      for shard in try shards() { try count(others: row, span, ids, of: shard, in: &found) }
    }
    // Only waits of the same machine: a Retry-After sent to another one did not delay this work.
    let shard = ShardNumber(ofRow: batch.rawValue)
    let next = try firstAttempt(of: shard) { $0.startedMs >= span.toMs }
    // No wait that a server asks for is longer than this.
    let early = try firstAttempt(of: shard) { $0.startedMs >= span.fromMs -| LedgerTransaction.longestWaitMs }
    for code in [ErrorCode.http429, .http503] {
      _ = try db.rows(Self.hostWaits, .raw(code), .integer(early), .integer(next - 1), ids, .text(host)) { row in
        Self.append(TimeSpan(row.int64(0), row.int64(1)), to: &found.waits)
      }
    }
    return found
  }

  private func count(
    others row: WhyRow, _ span: TimeSpan, _ ids: SQLValue, of shard: ShardNumber, in found: inout HostActivity
  ) throws {
    let next = try firstAttempt(of: shard) { $0.startedMs >= span.toMs }
    let from = try firstAttempt(of: shard) { $0.startedMs >= span.fromMs }
    let (file, ownBatch): (FileID?, BatchID?) =
      if case .file(let id) = row.subject { (id, nil) } else { (nil, row.batch) }
    _ = try db.first(
      """
      SELECT count(*), coalesce(sum(a.outcome IN ('retry', 'fatal', 'unknown')), 0),
        coalesce(sum(a.http_status = 429), 0), coalesce(sum(a.http_status = 503), 0)
      FROM attempt a CROSS JOIN file f ON f.id = a.file_id
      WHERE a.id BETWEEN ?1 AND ?2 AND a.file_id IS NOT ?3 AND f.batch_id IS NOT ?4
        AND iif(a.mirror IS NULL, f.batch_id IN (SELECT value FROM json_each(?5)), a.mirror = ?6)
      """, .integer(from), .integer(next - 1), .id(file), .id(ownBatch), ids, .text(found.host)
    ) { row in
      found.others += row.int64(0)
      found.failed += row.int64(1)
      found.tooMany += row.int64(2)
      found.unavailable += row.int64(3)
    }
  }

  static let hostWaits: StaticString = """
    SELECT a.ended_at, a.ended_at + a.retry_after_ms FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.error_code = ?1 AND a.id BETWEEN ?2 AND ?3 AND a.retry_after_ms > 0
      AND iif(a.mirror IS NULL, f.batch_id IN (SELECT value FROM json_each(?4)), a.mirror = ?5) ORDER BY a.id
    """

  /// Merges a span that overlaps the last one, so that a burst of refusals becomes a few spans.
  private static func append(_ span: TimeSpan, to spans: inout [TimeSpan]) {
    guard let last = spans.last, span.fromMs >= last.fromMs, span.fromMs <= last.toMs else { return spans.append(span) }
    spans[spans.count - 1].toMs = max(last.toMs, span.toMs)
  }

  /// The host with its port, and the batches that use it. Reads all batches.
  private func batchesAtHost(of batch: BatchID) throws -> (host: String, batches: [Int64])? {
    let places = try db.rows("SELECT id, coalesce(settings ->> '$.options.endpoint-url', destination) FROM batch") {
      ($0.int64(0), Self.authority(of: $0.text(1)))
    }
    guard let host = places.first(where: { $0.0 == batch.rawValue })?.1 else { return nil }
    return (host, places.filter { $0.1 == host }.map(\.0))
  }
}
