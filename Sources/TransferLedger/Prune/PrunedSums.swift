import FoundationEssentials
import TransferModel

/// Sums of the attempts to be deleted, for each batch, run and quarter of an hour.
struct PrunedSums {
  /// In every time zone, days begin at such a quarter.
  static let quarterMs: Int64 = 900_000

  struct Key: Hashable, Comparable {
    let batch, run, quarter: Int64

    static func < (a: Key, b: Key) -> Bool { (a.batch, a.run, a.quarter) < (b.batch, b.run, b.quarter) }
  }

  /// The numbers of the attempts.
  private(set) var attempts: [Int64] = []
  private var sums: [Key: PrunedSum] = [:]

  /// - Parameter files: a JSON array.
  init(of files: SQLValue, _ db: Connection) throws {
    var seen = Set<Int64>()
    var found: [Key: PrunedSum] = [:]
    var numbers: [Int64] = []
    _ = try db.rows(RowFilter().statement(Self.rows, [files])) { row throws(SQLiteError) in
      let trace = try LedgerReader.trace(row)
      let key = Key(
        batch: row.int64(22), run: trace.run.rawValue, quarter: Self.quarter(of: trace.startedMs))
      found[key, default: PrunedSum()].add(row, trace, isFirst: seen.insert(trace.file.rawValue).inserted)
      numbers.append(row.int64(24))
    }
    (sums, attempts) = (found, numbers)
  }

  static func quarter(of ms: Int64) -> Int64 { ms >= 0 ? ms / quarterMs : (ms - quarterMs + 1) / quarterMs }

  func insert(into db: Connection, _ prune: Int64) throws {
    for (key, sum) in sums.sorted(by: { $0.key < $1.key }) { try sum.insert(into: db, prune, key) }
  }

  private static let rows: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id, f.state = 'superseded',
      a.id, a.outcome, a.started_at, a.ended_at, a.bytes_transferred,
      iif(a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0), a.total_ms, NULL), a.error_code,
      {after its end}, a.http_version,
      iif(a.error_code = 'engine.crashed' AND a.operation = 'part', (SELECT o.bytes_transferred_at_most - o.bytes_transferred
        FROM v_cut_off o WHERE o.attempt_id = a.id), 0), {counted}
    FROM json_each(?1) n CROSS JOIN file f ON f.id = n.value CROSS JOIN attempt a ON a.file_id = f.id ORDER BY a.id
    """
}

/// A row of `pruned_sum`.
struct PrunedSum {
  var sums = AttemptSums()
  var costs = AttemptCostSums()
  var files: Int64 = 0
  var bytesAcked: Int64 = 0
  var bytesUntold: Int64 = 0
  var connects: [Int64: Int64] = [:]
  var firstBytes: [Int64: Int64] = [:]
  var statuses: [Int64: Int] = [:]
  var versions: [String: Int] = [:]

  init() {}

  /// - Parameter row: a row of the statement of ``PrunedSums``.
  mutating func add(_ row: SQLRow, _ trace: AttemptTrace, isFirst: Bool) {
    let attempt = SummedAttempt(row, from: 24)
    sums.add(attempt)
    costs.add(trace, isAfterItsEnd: attempt.isAfterItsEnd)
    if row.flag(23) { costs.costs += .replacing(trace) }
    files += isFirst ? 1 : 0
    bytesAcked +|= row.int64(34)
    bytesUntold +|= row.int64(33)
    if let ms = row.int64OrNil(12) { connects[ms, default: 0] += 1 }
    if trace.outcome == .ok, let ms = trace.firstByteMs { firstBytes[ms, default: 0] += 1 }
    if let status = trace.httpStatus { statuses[status, default: 0] += 1 }
    if let version = row.textOrNil(32) { versions[version, default: 0] += 1 }
  }

  func insert(into db: Connection, _ prune: Int64, _ key: PrunedSums.Key) throws {
    let row = try AttemptSumRow(batch: key.batch, block: key.quarter, sums, costs)
    try db.run(
      """
      INSERT INTO pruned_sum (prune_id, batch_id, run_id, quarter, files, ok, retry, fatal, unknown, interrupted, crashed,
        bytes_transferred, bytes_acked, bytes_untold, first_at, last_at, errors, latencies, active, connect_ms, server_ms,
        resent_ms, bytes_unacked, backoff, connects, first_bytes, statuses, versions, after_end)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(prune), .integer(key.batch), .integer(key.run), .integer(key.quarter), .integer(files),
      .integer(row.counts[0]), .integer(row.counts[1]), .integer(row.counts[2]), .integer(row.counts[3]),
      .integer(row.counts[4]), .integer(row.counts[5]), .integer(row.bytesTransferred), .integer(bytesAcked),
      .integer(bytesUntold), .integer(row.firstMs), .integer(row.lastMs), .text(row.errors), .blob(row.latencies),
      .blob(row.active), .integer(row.costs.connectMs), .integer(row.costs.serverMs), .integer(row.costs.resentMs),
      .integer(row.costs.bytesUnacked), .text(row.backoff), .blob(PackedNumbers.histogram(connects)),
      .blob(PackedNumbers.histogram(firstBytes)),
      .text(try jsonText(Dictionary(uniqueKeysWithValues: statuses.map { ("\($0)", $1) }))),
      .text(try jsonText(versions)), .integer(sums.afterEnd))
  }
}

/// A row of `pruned_sum` that was read.
struct PrunedSumRow {
  /// The block of these sums is the quarter.
  let sums: AttemptSumRow
  let run: Int64
  let files, bytesAcked, bytesUntold: Int64
  /// Aborts, and queries about done files.
  private let afterEnd: Int64
  let connects, firstBytes: [UInt8]
  private let statusesText, versionsText: String

  var startedMs: Int64 { sums.block *| PrunedSums.quarterMs }
  var attempts: Int64 { tries +| afterEnd }
  /// Without attempts after the end of their file.
  var tries: Int64 { sums.counts.reduce(0, +|) }

  /// - Parameter row: a row of ``LedgerReader/prunedRows``.
  init(_ row: SQLRow) {
    sums = AttemptSumRow(row)
    (run, files, bytesAcked, bytesUntold) = (row.int64(19), row.int64(20), row.int64(21), row.int64(22))
    (connects, firstBytes) = (row.bytes(23), row.bytes(24))
    (statusesText, versionsText) = (row.text(25), row.text(26))
    afterEnd = row.int64(27)
  }

  /// Only a damaged ledger holds lists of another length.
  var errors: [String: FailureHits] {
    let lists = Self.object(sums.errors, [Int64].self).filter { $0.value.count == 4 }
    return lists.mapValues { FailureHits(count: $0[0], example: $0[1], firstMs: $0[2], lastMs: $0[3]) }
  }

  var costs: AttemptCostSums {
    let backoff = Self.object(sums.backoff, [Int64].self).filter { $0.value.count == 2 }
    return AttemptCostSums(
      costs: sums.costs, backoff: backoff.mapValues { BackoffSum(attempts: $0[0], ms: $0[1]) },
      lastMs: PackedIslands(sums.active, from: sums.firstMs).span?.endMs)
  }

  var statuses: [Int64: Int] {
    Self.object(statusesText, Int.self).reduce(into: [:]) { found, pair in
      if let status = Int64(pair.key) { found[status] = pair.value }
    }
  }

  var versions: [String: Int] { Self.object(versionsText, Int.self) }

  private static func object<T: Decodable>(_ json: String, _ type: T.Type) -> [String: T] {
    (try? JSONDecoder().decode([String: T].self, from: Data(json.utf8))) ?? [:]
  }
}

extension PackedNumbers {
  /// Packs how often each number occurs, as pairs of a distance and a count.
  static func histogram(_ counts: [Int64: Int64]) -> [UInt8] {
    var before: Int64 = 0
    return pack(
      counts.sorted { $0.key < $1.key }.flatMap { number, count in
        defer { before = number }
        return [number -| before, count]
      })
  }

  /// Adds the result of ``histogram(_:)``.
  static func add(_ bytes: [UInt8], to counts: inout [Int64: Int64]) {
    var number: Int64 = 0
    for (distance, count) in pairs(bytes) {
      number +|= distance
      counts[number, default: 0] +|= count
    }
  }
}
