import TransferModel

/// Sums over attempts for reports, added attempt by attempt or from stored sums.
struct AttemptSums {
  /// By outcome, without attempts after the end of their file; only outcomes that occur.
  var outcomes: [String: Int64] = [:]
  /// Aborts, and queries about done files: no attempts to transfer them.
  var afterEnd: Int64 = 0
  var bytesTransferred: Int64 = 0
  /// Start of the first, end of the last.
  var firstMs, lastMs: Int64?
  /// The same, and the time in flight, without attempts after the end of their file: no part of the transfer.
  var span = TransferSpan()
  var active = ActiveTime()
  /// The number of requests with content that succeeded, by their time in milliseconds.
  var latencies: [Int64: Int64] = [:]
  var errors: [String: FailureHits] = [:]

  var attempts: Int64 { outcomes.values.reduce(0, +|) }
  var retries: Int { Int(outcomes["retry"] ?? 0) }

  mutating func add(_ attempt: SummedAttempt) {
    bytesTransferred +|= attempt.bytesTransferred
    firstMs = min(firstMs ?? attempt.startedMs, attempt.startedMs)
    if let ended = attempt.endedMs { lastMs = max(lastMs ?? ended, ended) }
    if attempt.isAfterItsEnd {
      afterEnd += 1
    } else {
      outcomes[attempt.outcome, default: 0] += 1
      span.add(startMs: attempt.startedMs, endMs: attempt.endedMs)
      if let ended = attempt.endedMs { active.add(startMs: attempt.startedMs, endMs: ended) }
      if let latency = attempt.latencyMs { latencies[latency, default: 0] += 1 }
    }
    if let code = attempt.error {
      add(
        FailureHits(
          count: 1, example: attempt.id, firstMs: attempt.startedMs, lastMs: attempt.endedMs ?? attempt.startedMs),
        of: code)
    }
  }

  mutating func add(_ hits: FailureHits, of code: String) {
    if errors[code]?.add(hits) == nil { errors[code] = hits }
  }

  var totals: AttemptTotals {
    var totals = AttemptTotals()
    (totals.attempts, totals.byOutcome) = (attempts, outcomes)
    (totals.firstMs, totals.lastMs, totals.activeMs) = (span.firstMs, span.lastMs, active.totalMs)
    totals.latency = LatencyFigures(latencies)
    return totals
  }
}

/// From the start of the first attempt of a transfer to the end of the last.
struct TransferSpan: Equatable {
  var firstMs, lastMs: Int64?

  mutating func add(startMs: Int64, endMs: Int64?) {
    firstMs = min(firstMs ?? startMs, startMs)
    if let endMs { lastMs = max(lastMs ?? endMs, endMs) }
  }

  /// Adds the attempts of a stored sum, all of which have ended.
  mutating func add(_ row: AttemptSumRow) {
    if let span = PackedIslands(row.active, from: row.firstMs).span { add(startMs: span.startMs, endMs: span.endMs) }
  }
}

/// The fields of one attempt that are added up.
struct SummedAttempt {
  let id: Int64
  let outcome: String
  let startedMs: Int64
  let endedMs: Int64?
  let bytesTransferred: Int64
  /// Only for a request that succeeded and brought or carried content: a part, or the first request of a download.
  let latencyMs: Int64?
  let error: String?
  /// The attempt does not belong to the transfer of its file: an abort, or a query about its file after that was done.
  let isAfterItsEnd: Bool

  /// The columns of `attempt` from number `i` on, in this order:
  /// id, outcome, started_at, ended_at, bytes_transferred, total_ms of a request with content that succeeded,
  /// error_code, whether it was made after the end of its file
  init(_ row: SQLRow, from i: Int32 = 0) {
    (id, outcome) = (row.int64(i), row.text(i + 1))
    (startedMs, endedMs, bytesTransferred) = (row.int64(i + 2), row.int64OrNil(i + 3), row.int64(i + 4))
    (latencyMs, error, isAfterItsEnd) = (row.int64OrNil(i + 5), row.textOrNil(i + 6), row.flag(i + 7))
  }
}

/// The occurrences of one error: files that ended with it, or attempts that met it.
struct FailureHits: Hashable {
  var count: Int64
  /// The number of the newest of them.
  var example: Int64
  var firstMs, lastMs: Int64?
  /// The source of one that no row names, and why it was not sent.
  var path: NameBytes?
  var message: String?

  mutating func add(_ other: FailureHits) {
    count += other.count
    if path == nil { (path, message) = (other.path, other.message) }
    example = max(example, other.example)
    firstMs = [firstMs, other.firstMs].compactMap(\.self).min()
    lastMs = [lastMs, other.lastMs].compactMap(\.self).max()
  }
}
