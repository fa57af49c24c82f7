import TransferModel

extension LedgerReader {
  /// The first `limit` batches that the filter names or that have a file it selects, ordered by number; their figures
  /// cover the whole batch. Reads all of their attempts in table order.
  package func batchHistories(_ filter: RowFilter, limit: Int = .max) throws -> [BatchHistory] {
    let rows = try batches(filter, after: 0, limit: limit)
    var all = RowFilter()
    if !filter.withHidden.isEverything || rows.count == limit { all.withinBatches = rows.map(\.id.rawValue) }
    var flows: [Int64: FlowSums] = [:]
    try eachFlow(all) { attempt, _ in flows[attempt.batch, default: FlowSums()].add(attempt) }
    for row in try prunedSums(all) { flows[row.sums.batch, default: FlowSums()].add(row) }
    let hosts = try hosts()
    return rows.map { row in
      BatchHistory(row, host: hosts.server(of: row.id.rawValue), flows[row.id.rawValue]?.total ?? AttemptFlow())
    }
  }

  /// Hosts of the attempts that the filter selects, ordered by name; those at a mirror count for the server of their
  /// batch once they were pruned. Reads these attempts in table order.
  package func hosts(_ filter: RowFilter) throws -> [HostRow] {
    let names = try hosts()
    var sums: [String: HostSums] = [:]
    try eachFlow(filter) { attempt, row in
      sums[names.host(of: attempt.batch, mirror: row.textOrNil(12)), default: HostSums()].add(attempt, row)
    }
    for row in try prunedSums(filter) { sums[names.server(of: row.sums.batch), default: HostSums()].add(row) }
    return sums.sorted { $0.key < $1.key }.map { $0.value.row($0.key) }
  }

  /// Limits that runs recorded for hosts, ordered by host name.
  package func hostLimits() throws -> [HostLimitRow] {
    try db.rows("SELECT host, requests_at_once, noted_at FROM host_state ORDER BY host") { row in
      HostLimitRow(host: row.text(0), requestsAtOnce: row.int(1), notedMs: row.int64(2))
    }
  }

  /// Passes each attempt that the filter selects to `each`; keeps none in memory. After the columns of ``FlowAttempt``,
  /// the row has connect_ms, first_byte_ms, http_status, http_version and mirror.
  func eachFlow(_ filter: RowFilter, _ each: (FlowAttempt, SQLRow) -> Void) throws {
    let take = { (row: SQLRow) in each(FlowAttempt(row), row) }
    if filter.isEverything {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.file_id, a.started_at, a.ended_at, a.bytes_transferred,
          {counted of all},
          CASE a.outcome WHEN 'ok' THEN 0 WHEN 'retry' THEN 1 WHEN 'open' THEN 2 WHEN 'interrupted' THEN 2 ELSE 3 END
            + iif({after its end}, 8, 0),
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL),
          a.connect_ms, a.first_byte_ms, a.http_status, a.http_version, a.mirror
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        """, filter, row: take)
    } else {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.file_id, a.started_at, a.ended_at, a.bytes_transferred,
          {counted},
          CASE a.outcome WHEN 'ok' THEN 0 WHEN 'retry' THEN 1 WHEN 'open' THEN 2 WHEN 'interrupted' THEN 2 ELSE 3 END
            + iif({after its end}, 8, 0),
          iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL),
          a.connect_ms, a.first_byte_ms, a.http_status, a.http_version, a.mirror
        FROM attempt a JOIN file f ON f.id = a.file_id WHERE {attempts}
        """, filter, row: take)
    }
  }
}

/// Adds up the attempts at one host.
private struct HostSums {
  private var flow = FlowSums()
  private var files = NumberSet()
  /// Files whose attempts were pruned; they have no other attempts.
  private var prunedFiles: Int64 = 0
  private var connect: [Int64: Int64] = [:]
  private var firstByte: [Int64: Int64] = [:]
  private var statuses: [Int64: Int] = [:]
  private var versions: [String: Int] = [:]

  mutating func add(_ attempt: FlowAttempt, _ row: SQLRow) {
    flow.add(attempt)
    files.insert(attempt.file)
    if let ms = row.int64OrNil(8) { connect[ms, default: 0] += 1 }
    if attempt.isOK, let ms = row.int64OrNil(9) { firstByte[ms, default: 0] += 1 }
    if let status = row.int64OrNil(10) { statuses[status, default: 0] += 1 }
    if let version = row.textOrNil(11) { versions[version, default: 0] += 1 }
  }

  mutating func add(_ row: PrunedSumRow) {
    flow.add(row)
    prunedFiles +|= row.files
    PackedNumbers.add(row.connects, to: &connect)
    PackedNumbers.add(row.firstBytes, to: &firstByte)
    statuses.merge(row.statuses, uniquingKeysWith: +)
    versions.merge(row.versions, uniquingKeysWith: +)
  }

  func row(_ host: String) -> HostRow {
    HostRow(
      host: host, files: Int(files.count +| prunedFiles), flow: flow.total, connect: LatencyFigures(connect),
      firstByte: LatencyFigures(firstByte), statuses: statuses, versions: versions)
  }
}
