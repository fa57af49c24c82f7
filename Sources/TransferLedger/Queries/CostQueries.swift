import TransferModel

/// The costs of the attempts that a filter selects, and the time spans and decisions from which reports compute lost
/// wall time.
extension LedgerReader {
  /// For everything and for whole batches, uses the stored sums and reads only the remaining attempts; for other
  /// filters, reads each attempt.
  package func costs(_ filter: RowFilter) throws -> CostSums {
    let hosts = try hosts()
    var batches = try costsByBatch(filter)
    for row in try prunedSums(filter) { batches[row.sums.batch, default: AttemptCostSums()].add(row.costs) }
    var found = CostSums()
    for (batch, sums) in batches { found.add(sums, at: hosts.server(of: batch)) }
    for (place, sums) in try costsAtMirrors(filter) {
      found.add(sums.negated, at: hosts.server(of: place.batch))
      found.add(sums, at: hosts.host(of: place.batch, mirror: place.mirror))
    }
    found.backoff = found.backoff.filter { $0.value.attempts > 0 }
    found.hints = try hints(of: Set(found.backoff.keys.map(\.code)))
    found.decisions = try decisions(filter)
    let pauses = try idleTimes(before: found.decisions, filter)
    found.waiting = try waiting(batches.mapValues(\.lastMs), left: batchesWithWork(filter), except: pauses)
    return found
  }

  private func costsByBatch(_ filter: RowFilter) throws -> [Int64: AttemptCostSums] {
    guard let scope = SumScope(filter) else { return try eachCost(filter) }
    let gaps = try attemptGaps()
    if case .batches = scope, try areMany(gaps) { return try eachCost(filter) }
    let batches: SQLValue = if case .batches(let ids) = scope { .text(try jsonText(ids)) } else { .null }
    var sums = try knownCosts(batches)
    for gap in gaps {
      for (batch, more) in try attemptCosts(gap, of: batches) { sums[batch, default: AttemptCostSums()].add(more) }
    }
    _ = try db.rows(Self.replacedTraces, batches) { row throws(SQLiteError) in
      sums[row.int64(22), default: AttemptCostSums()].costs += .replacing(try Self.trace(row))
    }
    return sums
  }

  private func knownCosts(_ batches: SQLValue) throws -> [Int64: AttemptCostSums] {
    var sums: [Int64: AttemptCostSums] = [:]
    _ = try db.rows(Self.knownCosts, batches) { row in
      let costs = AttemptCosts(
        connectMs: row.int64(2), serverMs: row.int64(3), resentMs: row.int64(4), bytesUnacked: row.int64(5))
      let lastMs = PackedIslands(row.bytes(6), from: row.int64(1)).span?.endMs
      sums[row.int64(0), default: AttemptCostSums()].add(AttemptCostSums(costs: costs, lastMs: lastMs))
    }
    _ = try db.rows(Self.knownBackoff, batches) { row in
      let backoff = [row.text(1): BackoffSum(attempts: row.int64(2), ms: row.int64(3))]
      sums[row.int64(0), default: AttemptCostSums()].add(AttemptCostSums(backoff: backoff))
    }
    return sums
  }

  /// Costs of the attempts with these numbers, by batch. `batches` is a JSON array of the batches that count; NULL for
  /// all.
  func attemptCosts(_ numbers: ClosedRange<Int64>, of batches: SQLValue?) throws -> [Int64: AttemptCostSums] {
    var sums: [Int64: AttemptCostSums] = [:]
    _ = try db.rows(
      Self.tracesByBatch, .integer(numbers.lowerBound), .integer(numbers.upperBound), batches ?? .null
    ) { row throws(SQLiteError) in
      sums[row.int64(22), default: AttemptCostSums()].add(try Self.trace(row), isAfterItsEnd: row.flag(23))
    }
    return sums
  }

  private func eachCost(_ filter: RowFilter) throws -> [Int64: AttemptCostSums] {
    var sums: [Int64: AttemptCostSums] = [:]
    let add = { (row: SQLRow) throws(SQLiteError) in
      let trace = try Self.trace(row)
      sums[row.int64(22), default: AttemptCostSums()].add(trace, isAfterItsEnd: row.flag(24))
      if row.flag(23) { sums[row.int64(22), default: AttemptCostSums()].costs += .replacing(trace) }
    }
    if filter.sinceMs == nil, filter.untilMs == nil {
      _ = try db.rows(Self.tracesOfFiles, filter, row: add)
    } else {
      _ = try db.rows(Self.tracesOfAttempts, filter, row: add)
    }
    return sums
  }

  /// What batches have of the costs of attempts at mirrors: their sums do not tell these apart. Reads these attempts.
  private func costsAtMirrors(_ filter: RowFilter) throws -> [MirrorPlace: AttemptCostSums] {
    var sums: [MirrorPlace: AttemptCostSums] = [:]
    _ = try db.rows(Self.tracesAtMirrors, filter) { row throws(SQLiteError) in
      let (trace, place) = (try Self.trace(row), MirrorPlace(batch: row.int64(22), mirror: row.text(24)))
      sums[place, default: AttemptCostSums()].add(trace, isAfterItsEnd: true)
      if row.flag(23) { sums[place, default: AttemptCostSums()].costs += .replacing(trace) }
    }
    return sums
  }

  /// Batches with selected files that wait for an engine or that an engine holds.
  private func batchesWithWork(_ filter: RowFilter) throws -> Set<Int64> {
    if SumScope(filter) == nil {
      return Set(
        try db.rows(
          """
          SELECT DISTINCT f.batch_id FROM file f
          WHERE f.state IN ('pending', 'active', 'finishing', 'settling') AND {files}
          """, filter
        ) { $0.int64(0) })
    }
    let all = try db.rows(Self.batchesWithWork) { $0.int64(0) }
    guard let wanted = filter.wholeBatches, !filter.isEverything else { return Set(all) }
    return Set(all).intersection(wanted)
  }

  /// For each batch, the time from its recording to its end, without the times in which it had ended before a retry.
  private func waiting(
    _ lastMs: [Int64: Int64?], left: Set<Int64>, except idle: [Int64: [TimeSpan]]
  ) throws -> [TimeSpan] {
    let created = try db.rows("SELECT id, created_at FROM batch ORDER BY id") { ($0.int64(0), $0.int64(1)) }
    return created.flatMap { batch, createdMs -> [TimeSpan] in
      let now: Int64? = left.contains(batch) ? .max : nil
      guard let last = now ?? lastMs[batch] ?? nil else { return [] }
      var (spans, fromMs) = ([TimeSpan](), createdMs)
      for pause in idle[batch] ?? [] where pause.fromMs < last {
        spans.append(TimeSpan(fromMs, pause.fromMs))
        fromMs = pause.toMs
      }
      return spans + [TimeSpan(fromMs, last)]
    }
  }

  /// Decisions of any time: a file that was paused before the window may still be paused in it.
  private func decisions(_ filter: RowFilter) throws -> [FileDecision] {
    let batches: SQLValue
    switch SumScope(filter) {
    case .everything: batches = .null
    case .batches(let ids): batches = .text(try jsonText(ids))
    case nil:
      var anyTime = filter
      (anyTime.sinceMs, anyTime.untilMs) = (nil, nil)
      return Self.joined(try db.rows(Self.decisionsOfFiles, anyTime, row: Self.decision))
    }
    return Self.joined(try db.rows(Self.allDecisions, batches, row: Self.decision))
  }

  private func hints(of codes: Set<String>) throws -> [String: String] {
    let known = try db.rows("SELECT code, hint FROM error_code") { ($0.text(0), $0.text(1)) }
    return Dictionary(uniqueKeysWithValues: known.filter { codes.contains($0.0) })
  }
}

private struct MirrorPlace: Hashable {
  let batch: Int64
  let mirror: String
}

extension CostSums {
  fileprivate mutating func add(_ sums: AttemptCostSums, at host: String) {
    hosts[host, default: AttemptCosts()] += sums.costs
    for (code, sum) in sums.backoff { backoff[BackoffPlace(host: host, code: code), default: BackoffSum()] += sum }
  }
}

extension AttemptCostSums {
  /// To take it away from the sums that include it.
  fileprivate var negated: AttemptCostSums {
    AttemptCostSums(
      costs: AttemptCosts(
        connectMs: -costs.connectMs, serverMs: -costs.serverMs, resentMs: -costs.resentMs,
        bytesUnacked: -costs.bytesUnacked),
      backoff: backoff.mapValues { BackoffSum(attempts: -$0.attempts, ms: -$0.ms) })
  }

  mutating func add(_ more: AttemptCostSums) {
    costs += more.costs
    for (code, sum) in more.backoff { backoff[code, default: BackoffSum()] += sum }
    lastMs = [lastMs, more.lastMs].compactMap(\.self).max()
  }
}

extension LedgerReader {
  static let knownCosts: StaticString = """
    SELECT batch_id, first_at, connect_ms, server_ms, resent_ms, bytes_unacked, active FROM attempt_sum
    WHERE ?1 IS NULL OR batch_id IN (SELECT value FROM json_each(?1))
    """
  static let knownBackoff: StaticString = """
    SELECT s.batch_id, e.key, e.value ->> 0, e.value ->> 1 FROM attempt_sum s, json_each(s.backoff) e
    WHERE ?1 IS NULL OR s.batch_id IN (SELECT value FROM json_each(?1))
    """
  static let tracesByBatch: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id,
      a.operation = 'abort' OR a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
        AND a.started_at > f.finished_at
    FROM attempt a CROSS JOIN file f ON f.id = a.file_id
    WHERE a.id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR f.batch_id IN (SELECT value FROM json_each(?3)))
    """
  // Uses the index `file_rest`.
  static let replacedTraces: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id
    FROM file f CROSS JOIN attempt a ON a.file_id = f.id
    WHERE f.state = 'superseded' AND f.state <> 'done' AND f.state <> 'active' AND f.state <> 'pending'
      AND f.state <> 'finishing' AND (?1 IS NULL OR f.batch_id IN (SELECT value FROM json_each(?1)))
    """
  static let tracesOfFiles: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id, f.state = 'superseded', {after its end}
    FROM attempt a JOIN file f ON f.id = a.file_id WHERE {attempts by file}
    """
  static let tracesOfAttempts: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id, f.state = 'superseded', {after its end}
    FROM attempt a JOIN file f ON f.id = a.file_id WHERE {attempts}
    """
  // Nothing but attempts at mirrors is in the index.
  static let tracesAtMirrors: StaticString = """
    SELECT a.file_id, a.chunk_id, a.run_id, a.operation, a.outcome, a.started_at, a.ended_at, a.error_code, a.http_status,
      a.bytes_transferred, a.bytes_acked, a.dns_ms, a.connect_ms, a.tls_ms, a.sent_ms, a.first_byte_ms, a.total_ms,
      a.held_ms, a.retry_after_ms, a.backoff_ms, NULL, f.is_download IS NOT NULL, f.batch_id, f.state = 'superseded', a.mirror
    FROM attempt a INDEXED BY attempt_mirror CROSS JOIN file f ON f.id = a.file_id
    WHERE a.mirror IS NOT NULL AND {attempts}
    """
  // Each branch uses the index of its state; in the ready index, the first file of each batch is enough.
  static let batchesWithWork: StaticString = """
    SELECT b.id FROM batch b WHERE EXISTS (SELECT 1 FROM file INDEXED BY file_ready_batch
      WHERE batch_id = b.id AND state = 'pending' AND not_before IS NULL)
    UNION SELECT batch_id FROM file WHERE state = 'pending' AND not_before IS NOT NULL
    UNION SELECT batch_id FROM file WHERE state IN ('active', 'finishing')
    UNION SELECT batch_id FROM file WHERE state = 'settling'
    """
  // `resolve retry` queues files again, as `retry` does; the other resolutions end them.
  static let allDecisions: StaticString = """
    SELECT e.id, iif(e.verb = 'resolved' AND e.detail GLOB 'retry:*', 'retried', e.verb), e.at, r.first_file, r.last_file
    FROM event e INDEXED BY event_decided CROSS JOIN event_range r ON r.event_id = e.id
    WHERE e.verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved')
      AND (?1 IS NULL OR e.batch_id IN (SELECT value FROM json_each(?1)))
    ORDER BY e.id, r.first_file
    """
  static let decisionsOfFiles: StaticString = """
    SELECT e.id, iif(e.verb = 'resolved' AND e.detail GLOB 'retry:*', 'retried', e.verb), e.at, f.id, f.id
    FROM event e INDEXED BY event_decided CROSS JOIN event_range r ON r.event_id = e.id
      CROSS JOIN file f ON f.id BETWEEN r.first_file AND r.last_file
    WHERE e.verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved') AND {files}
    ORDER BY e.id, f.id
    """
}
