import TransferModel

/// The fields of one attempt that histories by batch, host and period need.
struct FlowAttempt {
  let batch, file: Int64
  let startedMs: Int64
  let endedMs: Int64?
  let bytesTransferred, bytesAcked: Int64
  let isError, isRetry, isOK: Bool
  /// Only for a request that succeeded and brought or carried content: a part, or the first request of a download.
  let latencyMs: Int64?
  /// The attempt does not belong to the transfer of its file: an abort, or a query about its file after that was done.
  let isAfterItsEnd: Bool

  /// The columns from 0 on: batch_id, file_id, started_at, ended_at, bytes_transferred, those of them
  /// that count, the number of the outcome (0 ok, 1 retry, 2 open or interrupted, 3 another; plus 8
  /// after the end of its file), total_ms of a request with content that succeeded.
  init(_ row: SQLRow) {
    (batch, file, startedMs, endedMs) = (row.int64(0), row.int64(1), row.int64(2), row.int64OrNil(3))
    (bytesTransferred, bytesAcked) = (row.int64(4), row.int64(5))
    isAfterItsEnd = row.int64(6) >= 8
    let outcome = row.int64(6) % 8
    (isOK, isRetry, isError) = (outcome == 0, outcome == 1, outcome == 1 || outcome == 3)
    latencyMs = row.int64OrNil(7)
  }
}

/// Adds up attempts.
struct FlowSums {
  private var flow = AttemptFlow()
  private var span = TransferSpan()
  private var active = ActiveTime()
  private var latencies: [Int64: Int64] = [:]

  mutating func add(_ attempt: FlowAttempt) {
    flow.bytesTransferred +|= attempt.bytesTransferred
    flow.bytesAcked +|= attempt.bytesAcked
    if !attempt.isAfterItsEnd {
      flow.attempts += 1
      flow.errors += attempt.isError ? 1 : 0
      flow.retries += attempt.isRetry ? 1 : 0
      span.add(startMs: attempt.startedMs, endMs: attempt.endedMs)
      if let ended = attempt.endedMs { active.add(startMs: attempt.startedMs, endMs: ended) }
      if let latency = attempt.latencyMs { latencies[latency, default: 0] += 1 }
    }
  }

  mutating func add(_ row: PrunedSumRow) {
    let sums = row.sums
    flow.attempts +|= row.tries
    let counts = Dictionary(uniqueKeysWithValues: zip(AttemptSumRow.outcomes, sums.counts))
    flow.retries +|= counts["retry"] ?? 0
    for error in ["retry", "fatal", "unknown", "crashed"] { flow.errors +|= counts[error] ?? 0 }
    flow.bytesTransferred +|= sums.bytesTransferred
    flow.bytesAcked +|= row.bytesAcked
    span.add(sums)
    active.add(packed: sums.active, from: sums.firstMs)
    PackedNumbers.add(sums.latencies, to: &latencies)
  }

  var total: AttemptFlow {
    var total = flow
    (total.firstMs, total.lastMs) = (span.firstMs, span.lastMs)
    total.activeMs = active.totalMs
    total.latency = LatencyFigures(latencies)
    return total
  }
}
