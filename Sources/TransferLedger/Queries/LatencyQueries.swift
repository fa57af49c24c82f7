public import TransferModel

extension LedgerReader {
  /// Figures over the attempts that the filter selects.
  public func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals { try attemptSums(filter).totals }

  /// How long the attempts, chunks, files and batches that the filter selects took. A time window selects an attempt by
  /// its own time, a chunk by the attempt that showed it to be stored, a file and a batch by their end. One group,
  /// "all", unless `group` is given. Reads attempts and chunks once in table order.
  package func latencies(_ filter: RowFilter, by group: LatencyGroup?) throws -> LatencyHistograms {
    var timed: [TimedPlace: [LatencyMeasure: LatencyHistogram]] = [:]
    for measure in LatencyMeasure.allCases {
      let isOfAttempt = measure == .attempt || measure == .chunk
      let add = { (row: SQLRow) in
        guard let ms = row.int64OrNil(1) else { return }
        let place = TimedPlace(batch: row.int64(0), mirror: isOfAttempt ? row.textOrNil(2) : nil)
        timed[place, default: [:]][measure, default: LatencyHistogram()].add(ms)
      }
      switch measure {
      case .attempt: try eachPart(filter, add)
      case .chunk: try eachChunk(filter, add)
      case .file: try eachDoneFile(filter, add)
      case .batch: try eachEndedBatch(filter, add)
      }
    }
    let name = try name(of: group)
    return timed.reduce(into: [:]) { found, place in
      for (measure, histogram) in place.value {
        found[name(place.key), default: [:]][measure, default: LatencyHistogram()].add(histogram)
      }
    }
  }

  private struct TimedPlace: Hashable {
    let batch: Int64
    /// For attempts and chunks; a file or a batch may have several.
    let mirror: String?
  }

  private func name(of group: LatencyGroup?) throws -> (TimedPlace) -> String {
    guard let group else { return { _ in "all" } }
    if group == .host {
      let hosts = try hosts()
      return { hosts.host(of: $0.batch, mirror: $0.mirror) }
    }
    let names = try groups(by: group)
    return { names[$0.batch] ?? "" }
  }

  /// The group of each batch, by batch number; not for hosts.
  private func groups(by group: LatencyGroup) throws -> [Int64: String] {
    // A name that looks like a batch ID gets the real ID appended, so that it is not mistaken for another batch.
    let rows = try db.rows(
      """
      SELECT id, coalesce(iif(name GLOB 'b[0-9]*', name || ' (b' || id || ')', name), 'b' || id), protocol, direction,
        coalesce(job, '') FROM batch
      """
    ) { row in
      let name =
        switch group {
        case .host: ""
        case .batch: row.text(1)
        case .protocol: row.text(2)
        case .direction: row.text(3)
        case .job: row.text(4)
        }
      return (row.int64(0), name)
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Requests that brought or carried content: parts, and the first request of a download with the beginning of its
  /// file.
  private func eachPart(_ filter: RowFilter, _ add: (SQLRow) -> Void) throws {
    if filter.isEverything {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.total_ms, a.mirror FROM attempt a CROSS JOIN file f ON f.id = a.file_id
        WHERE a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0)
          AND NOT (a.chunk_id IS NULL AND a.operation IN ('verify', 'probe') AND f.state = 'done'
            AND a.started_at > f.finished_at)
        """, row: add)
    } else {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.total_ms, a.mirror FROM attempt a JOIN file f ON f.id = a.file_id
        WHERE a.outcome = 'ok' AND (a.operation = 'part' OR a.bytes_transferred > 0) AND NOT {after its end}
          AND {attempts}
        """, filter, row: add)
    }
  }

  /// Excludes chunks that were stored without a request: empty ones, and those copied from a local file. The beginning
  /// of a download is fetched by a request of the file; its first attempt is the first of that operation. These are two
  /// searches, because SQLite would read all attempts of the file for each of its chunks to evaluate an OR.
  private func eachChunk(_ filter: RowFilter, _ add: (SQLRow) -> Void) throws {
    if filter.isEverything {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.ended_at - iif(a.operation = 'part' AND a.n = 1, a.started_at, (SELECT min(t) FROM (
          SELECT p.started_at t FROM attempt p
          WHERE p.file_id = c.file_id AND p.operation = 'part' AND p.chunk_id = c.id
          UNION ALL SELECT p.started_at FROM attempt p
          WHERE a.operation <> 'part' AND a.bytes_transferred > 0 AND p.file_id = c.file_id
            AND p.operation = a.operation AND p.chunk_id IS NULL))),
          a.mirror
        FROM chunk c CROSS JOIN attempt a ON a.id = c.done_attempt CROSS JOIN file f ON f.id = c.file_id
        WHERE c.state = 'done' AND c.reused IS NULL
        """, row: add)
    } else {
      _ = try db.rows(
        """
        SELECT f.batch_id, a.ended_at - iif(a.operation = 'part' AND a.n = 1, a.started_at, (SELECT min(t) FROM (
          SELECT p.started_at t FROM attempt p
          WHERE p.file_id = c.file_id AND p.operation = 'part' AND p.chunk_id = c.id
          UNION ALL SELECT p.started_at FROM attempt p
          WHERE a.operation <> 'part' AND a.bytes_transferred > 0 AND p.file_id = c.file_id
            AND p.operation = a.operation AND p.chunk_id IS NULL))),
          a.mirror
        FROM file f CROSS JOIN chunk c ON c.file_id = f.id CROSS JOIN attempt a ON a.id = c.done_attempt
        WHERE c.state = 'done' AND c.reused IS NULL AND {attempts}
        """, filter, row: add)
    }
  }

  private func eachDoneFile(_ filter: RowFilter, _ add: (SQLRow) -> Void) throws {
    _ = try db.rows(
      "SELECT f.batch_id, f.finished_at - f.created_at FROM file f WHERE f.state = 'done' AND {files}", filter, row: add
    )
  }

  /// Batches that have a selected file and that ended as a whole within the window.
  private func eachEndedBatch(_ filter: RowFilter, _ add: (SQLRow) -> Void) throws {
    _ = try db.rows(
      """
      SELECT b.id, (SELECT iif(count(*) = count(m.finished_at) AND (?1 IS NULL OR max(m.finished_at) >= ?1)
          AND (?2 IS NULL OR max(m.finished_at) < ?2), max(m.finished_at) - b.created_at, NULL)
        FROM file m WHERE m.batch_id = b.id)
      FROM batch b WHERE b.id IN (SELECT f.batch_id FROM file f WHERE {files})
      """, filter, .int(filter.sinceMs), .int(filter.untilMs), row: add)
  }
}
