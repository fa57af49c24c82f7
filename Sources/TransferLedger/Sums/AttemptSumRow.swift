import FoundationEssentials
import TransferModel

/// The attempts of one block of numbers are added up once all of them have ended: an ended attempt never changes.
enum SumBlock {
  /// A block has 2^`shift` numbers, from `block << shift` on.
  static let shift: Int64 = 12
  static func first(_ block: Int64) -> Int64 { block << shift }
  static func last(_ block: Int64) -> Int64 { (block + 1) << shift - 1 }

  /// The ranges of numbers outside of these blocks, up to the number `newest`.
  static func gaps(between blocks: [Int64], newest: Int64) -> [ClosedRange<Int64>] {
    var gaps: [ClosedRange<Int64>] = []
    var next: Int64 = 0
    for block in blocks {
      if next < first(block) { gaps.append(next...first(block) - 1) }
      next = last(block) + 1
    }
    if next <= newest { gaps.append(next...newest) }
    return gaps
  }
}

/// A row of `attempt_sum`.
struct AttemptSumRow: Equatable {
  var batch: Int64
  var block: Int64
  /// In the order of ``outcomes``.
  var counts: [Int64]
  var bytesTransferred: Int64
  var firstMs, lastMs: Int64
  var errors: String
  var latencies, active: [UInt8]
  var costs: AttemptCosts
  /// JSON.
  var backoff: String

  static let outcomes = ["ok", "retry", "fatal", "unknown", "interrupted", "crashed"]

  init(batch: Int64, block: Int64, _ sums: AttemptSums, _ costs: AttemptCostSums) throws {
    (self.batch, self.block) = (batch, block)
    counts = Self.outcomes.map { sums.outcomes[$0] ?? 0 }
    bytesTransferred = sums.bytesTransferred
    (firstMs, lastMs) = (sums.firstMs ?? 0, sums.lastMs ?? 0)
    errors = try jsonText(sums.errors.mapValues { [$0.count, $0.example, $0.firstMs ?? 0, $0.lastMs ?? 0] })
    var before: Int64 = 0
    latencies = PackedNumbers.pack(
      sums.latencies.sorted { $0.key < $1.key }.flatMap { ms, count in
        defer { before = ms }
        return [ms -| before, count]
      })
    active = sums.active.packed(from: firstMs)
    (self.costs, backoff) = (costs.costs, try costs.backoffText())
  }

  /// The columns in the order of the table, except `id`.
  init(_ row: SQLRow) {
    (batch, block) = (row.int64(0), row.int64(1))
    counts = (2..<8).map { row.int64($0) }
    (bytesTransferred, firstMs, lastMs) = (row.int64(8), row.int64(9), row.int64(10))
    (errors, latencies, active) = (row.text(11), row.bytes(12), row.bytes(13))
    costs = AttemptCosts(
      connectMs: row.int64(14), serverMs: row.int64(15), resentMs: row.int64(16), bytesUnacked: row.int64(17))
    backoff = row.text(18)
  }

  func insert(into db: Connection) throws {
    try db.run(
      """
      INSERT INTO attempt_sum (batch_id, block, ok, retry, fatal, unknown, interrupted, crashed, bytes_transferred, first_at,
        last_at, errors, latencies, active, connect_ms, server_ms, resent_ms, bytes_unacked, backoff)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(batch), .integer(block), .integer(counts[0]), .integer(counts[1]), .integer(counts[2]),
      .integer(counts[3]), .integer(counts[4]), .integer(counts[5]), .integer(bytesTransferred), .integer(firstMs),
      .integer(lastMs), .text(errors), .blob(latencies), .blob(active),
      .integer(costs.connectMs), .integer(costs.serverMs), .integer(costs.resentMs), .integer(costs.bytesUnacked),
      .text(backoff))
  }
}

extension AttemptSums {
  /// Adds a row without its errors, which SQLite adds up.
  mutating func addWithoutErrors(_ row: AttemptSumRow) {
    for (name, count) in zip(AttemptSumRow.outcomes, row.counts) where count != 0 {
      outcomes[name, default: 0] += count
    }
    bytesTransferred +|= row.bytesTransferred
    firstMs = min(firstMs ?? row.firstMs, row.firstMs)
    lastMs = max(lastMs ?? row.lastMs, row.lastMs)
    span.add(row)
    var ms: Int64 = 0
    for (distance, count) in PackedNumbers.pairs(row.latencies) {
      ms +|= distance
      latencies[ms, default: 0] +|= count
    }
    active.add(packed: row.active, from: row.firstMs)
  }
}
