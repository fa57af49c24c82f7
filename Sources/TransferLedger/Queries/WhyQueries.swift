import TransferModel

/// Where the time of one file, batch or run went.
extension LedgerReader {
  /// nil if the row does not exist. Reads each file of a batch, but attempts only of unknown files and of runs that
  /// crashed or are open.
  package func whyRow(_ subject: WhySubject) throws -> WhyRow? {
    switch subject {
    case .file(let id): try whyFile(id)
    case .batch(let id): try whyBatch(id)
    case .run(let id): try whyRun(id)
    }
  }

  private func whyFile(_ id: FileID) throws -> WhyRow? {
    try db.first(
      """
      SELECT f.created_at, f.path, f.state, f.cause, f.is_download IS NOT NULL, f.size, f.batch_id, b.rate,
        CASE f.state WHEN 'unknown' THEN (SELECT max(ended_at) FROM attempt WHERE file_id = f.id)
          ELSE f.finished_at END
      FROM file f JOIN batch b ON b.id = f.batch_id WHERE f.id = ?
      """, .id(id)
    ) { row in
      var found = WhyRow(subject: .file(id), fromMs: row.int64(0))
      (found.name, found.state, found.cause) = (row.name(1), row.text(2), row.textOrNil(3))
      (found.isDownload, found.bytes) = (row.flag(4), row.int64OrNil(5))
      (found.batch, found.rate, found.toMs) = (row.id(6), row.int64OrNil(7), row.int64OrNil(8))
      return found
    }
  }

  private func whyBatch(_ id: BatchID) throws -> WhyRow? {
    let batch = try db.first("SELECT created_at, name, direction, rate FROM batch WHERE id = ?", .id(id)) { row in
      var found = WhyRow(subject: .batch(id), fromMs: row.int64(0))
      found.name = row.textOrNil(1).map { NameBytes($0) }
      (found.isDownload, found.rate, found.batch) = (row.text(2) == "download", row.int64OrNil(3), id)
      return found
    }
    guard var found = batch else { return nil }
    let end = try db.first(
      """
      SELECT count(*) FILTER (WHERE state <> 'superseded'), sum_bytes(size) FILTER (WHERE state <> 'superseded'),
        max(finished_at), coalesce(sum(finished_at IS NULL AND state <> 'unknown'), 0)
      FROM file WHERE batch_id = ?
      """, .id(id)
    ) { (files: $0.int(0), bytes: $0.int64(1), lastMs: $0.int64OrNil(2), left: $0.int(3)) }
    let unknownMs =
      try db.first(
        """
        SELECT max(a.ended_at) FROM file f CROSS JOIN attempt a ON a.file_id = f.id
        WHERE f.batch_id = ? AND f.state = 'unknown'
        """, .id(id)
      ) { $0.int64OrNil(0) } ?? nil
    (found.files, found.bytes) = (end?.files, end?.bytes)
    // A batch without files ended when it began.
    if end?.left == 0 { found.toMs = [end?.lastMs, unknownMs].compactMap(\.self).max() ?? found.fromMs }
    return found
  }

  private func whyRun(_ id: RunID) throws -> WhyRow? {
    guard let life = try runLives(TimeSpan(.min, .max), only: id).first else { return nil }
    return try db.first("SELECT host, how FROM engine_run WHERE id = ?", .id(id)) { row in
      var found = WhyRow(subject: .run(id), fromMs: life.startedMs)
      (found.name, found.state) = (NameBytes(row.text(0)), row.textOrNil(1))
      found.toMs = life.isOpen ? nil : life.lastMs
      return found
    }
  }

  /// The runs that were alive in `span`, ordered by number. A crashed run ended with the newest thing that it recorded.
  package func runLives(_ span: TimeSpan, only: RunID? = nil) throws -> [RunLife] {
    let rows = try db.rows(
      """
      SELECT id, started_at, CASE WHEN ended_at IS NULL OR how = 'crashed'
          THEN coalesce(started_at + heartbeat_boot_ms - started_boot_ms, heartbeat_at) ELSE ended_at END,
        ended_at IS NULL, how IS 'crashed',
        coalesce(heartbeat_at - started_at - (heartbeat_boot_ms - started_boot_ms), 0), processor_ms
      FROM engine_run WHERE (?1 IS NULL OR id = ?1) AND started_at < ?3 AND coalesce(ended_at, ?3) >= ?2 ORDER BY id
      """, .id(only), .integer(span.fromMs), .integer(span.toMs)
    ) { row in
      RunLife(
        id: row.id(0), startedMs: row.int64(1), lastMs: row.int64(2), isOpen: row.flag(3), isCrashed: row.flag(4),
        clockMovedMs: row.int64(5), processorMs: row.int64OrNil(6))
    }
    let pruned = try newestPruned(of: rows.filter { $0.isCrashed || $0.isOpen }.map(\.id.rawValue))
    return try rows.map { life in
      guard life.isCrashed || life.isOpen else { return life }
      var life = life
      let newest = try newestRecord(of: life.id)
      life.lastMs = [life.lastMs, pruned[life.id.rawValue], newest].compactMap(\.self).max() ?? life.lastMs
      return life
    }
  }

  /// The newest time in the attempts of these runs that were pruned.
  private func newestPruned(of runs: [Int64]) throws -> [Int64: Int64] {
    guard !runs.isEmpty else { return [:] }
    let rows = try db.rows(
      """
      SELECT run_id, max(last_at) FROM pruned_sum WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY run_id
      """, .text(try jsonText(runs))
    ) { ($0.int64(0), $0.int64(1)) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// The newest time that a run itself recorded in its last attempts.
  private func newestRecord(of run: RunID) throws -> Int64? {
    let next = try firstAttempt(of: ShardNumber(ofRow: run.rawValue)) { $0.run > run.rawValue }
    return try db.first(
      """
      SELECT max(max(started_at, iif(outcome = 'crashed' OR ended_at IS NULL, started_at, ended_at)))
      FROM attempt WHERE id BETWEEN ?1 - 256 AND ?1 - 1 AND run_id = ?2
      """, .integer(next), .id(run)
    ) { $0.int64OrNil(0) } ?? nil
  }

  /// When the machine slept while an engine ran, read from an index of only these events.
  package func sleeps(_ span: TimeSpan) throws -> [TimeSpan] {
    let rows = try db.rows(
      "SELECT at, detail FROM event WHERE verb = 'slept' AND at > ? ORDER BY at", .integer(span.fromMs)
    ) { ($0.int64(0), MachineSleep(detail: $0.text(1))) }
    return rows.compactMap { atMs, sleep in sleep.map { TimeSpan(atMs -| $0.lengthMs, atMs) } }
      .filter { $0.fromMs < span.toMs }
  }

  /// Decisions about the file, or about files of the batch, ordered by event number; none for a run.
  package func decisions(_ subject: WhySubject) throws -> [FileDecision] {
    let rows: [(Int64, FileDecision)]
    switch subject {
    case .file(let id):
      rows = try db.rows(Self.decisionsOfFile, .id(id), .integer(EventRanges.longest), row: Self.decision)
    case .batch(let id): rows = try db.rows(Self.decisionsOfBatch, .id(id), row: Self.decision)
    case .run: return []
    }
    return Self.joined(rows)
  }

  /// Merges the rows of each event into one decision with all of its files.
  static func joined(_ rows: [(Int64, FileDecision)]) -> [FileDecision] {
    rows.reduce(into: (all: [FileDecision](), last: Int64(0))) { found, row in
      if row.0 == found.last, !found.all.isEmpty {
        found.all[found.all.count - 1].files += row.1.files
      } else {
        found.all.append(row.1)
      }
      found.last = row.0
    }.all
  }

  static let decisionsOfFile: StaticString = """
    SELECT e.id, e.verb, e.at, ?1, ?1 FROM event_range r CROSS JOIN event e ON e.id = r.event_id
    WHERE r.first_file BETWEEN ?1 - ?2 + 1 AND ?1 AND r.last_file >= ?1
      AND e.verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved') ORDER BY e.id
    """
  static let decisionsOfBatch: StaticString = """
    SELECT e.id, e.verb, e.at, r.first_file, r.last_file FROM event e CROSS JOIN event_range r ON r.event_id = e.id
    WHERE e.batch_id = ?1 AND e.verb IN ('paused', 'resumed', 'cancelled', 'retried', 'resolved')
    ORDER BY e.id, r.first_file
    """

  static func decision(_ row: SQLRow) throws(SQLiteError) -> (Int64, FileDecision) {
    (row.int64(0), FileDecision(try row.named(1), atMs: row.int64(2), files: [row.int64(3)...row.int64(4)]))
  }
}
