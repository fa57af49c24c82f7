public import TransferModel

extension LedgerReader {
  /// Failures of the files that the filter selects, by error code: most files first, then most attempts.
  public func failures(_ filter: RowFilter) throws -> [FailureRow] { try failures(filter, more: [:]) }

  func failures(_ filter: RowFilter, more: [String: FailureHits]) throws -> [FailureRow] {
    var ended = try endedByCode(filter)
    for (code, hits) in more where ended[code]?.add(hits) == nil { ended[code] = hits }
    return try failures(ended: ended, met: try metByCode(filter))
  }

  /// Only the failures that ended files, or that keep their copies from being made, without reading attempts: for
  /// callers that must be fast however long the history is. For everything and for whole batches, they are read from
  /// the index `file_rest`.
  public func endings(_ filter: RowFilter) throws -> [FailureRow] { try failures(ended: endedByCode(filter), met: [:]) }

  private func failures(ended: [String: FailureHits], met: [String: FailureHits]) throws -> [FailureRow] {
    let rows = try Set(ended.keys).union(met.keys).map { code in try failure(code, ended[code], met[code]) }
    return rows.sorted { ($1.files, $1.attempts, $0.code) < ($0.files, $0.attempts, $1.code) }
  }

  private func endedByCode(_ filter: RowFilter) throws -> [String: FailureHits] {
    if filter.withHidden.isEverything {
      return byCode(try db.rows(Self.allEnded, .flag(!filter.leavesOutHidden), row: Self.hits))
    }
    if let batches = filter.wholeBatches {
      return byCode(try db.rows(Self.batchEnded, .text(try jsonText(batches)), row: Self.hits))
    }
    return byCode(
      try db.rows(
        """
        SELECT f.cause, count(*), max(f.id), min(f.finished_at), max(f.finished_at)
        FROM file f WHERE f.state IN ('failed', 'unknown', 'settling')
          AND (f.state <> 'settling' OR f.cause IS NOT NULL AND f.cause <> 'source.settling')
          AND f.state <> 'done' AND f.state <> 'active' AND f.state <> 'pending' AND f.state <> 'finishing'
          AND {files}
          AND (?1 IS NULL OR f.finished_at >= ?1 OR f.state <> 'failed')
        GROUP BY f.cause
        """, filter, .int(filter.finishedSinceMs), row: Self.hits))
  }

  private func metByCode(_ filter: RowFilter) throws -> [String: FailureHits] {
    if SumScope(filter) != nil { return try attemptSums(filter).errors }
    var met = byCode(
      try db.rows(
        """
        SELECT a.error_code, count(*), max(a.id), min(a.started_at), max(coalesce(a.ended_at, a.started_at))
        FROM attempt a CROSS JOIN file f ON f.id = a.file_id WHERE a.error_code IS NOT NULL
          AND {attempts}
          AND (?1 IS NULL OR f.finished_at >= ?1 OR f.state = 'unknown')
        GROUP BY a.error_code
        """, filter, .int(filter.finishedSinceMs), row: Self.hits))
    // Their files ended after these attempts began, so within the window.
    for (code, hits) in try prunedSums(filter).flatMap(\.errors) where met[code]?.add(hits) == nil { met[code] = hits }
    return met
  }

  // Grouped in index order, so that nothing is sorted: a cause may have several rows. A settling file counts if its
  // copy could not be made, not while its source may still be written. ?1: includes hidden files.
  static let allEnded: StaticString = """
    SELECT cause, count(*), max(id), min(finished_at), max(finished_at) FROM file
    WHERE state IN ('failed', 'unknown', 'settling')
      AND (state <> 'settling' OR cause IS NOT NULL AND cause <> 'source.settling')
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
      AND (?1 OR hidden IS NULL)
    GROUP BY state, batch_id, cause
    """
  static let batchEnded: StaticString = """
    SELECT cause, count(*), max(id), min(finished_at), max(finished_at) FROM file
    WHERE state IN ('failed', 'unknown', 'settling')
      AND (state <> 'settling' OR cause IS NOT NULL AND cause <> 'source.settling')
      AND state <> 'done' AND state <> 'active' AND state <> 'pending' AND state <> 'finishing'
      AND batch_id IN (SELECT value FROM json_each(?1))
    GROUP BY state, batch_id, cause
    """

  private func byCode(_ rows: [(code: String, hits: FailureHits)]) -> [String: FailureHits] {
    rows.reduce(into: [:]) { sum, row in
      if sum[row.code]?.add(row.hits) == nil { sum[row.code] = row.hits }
    }
  }

  private func failure(_ code: String, _ ended: FailureHits?, _ met: FailureHits?) throws -> FailureRow {
    let known = try db.first("SELECT category, hint FROM error_code WHERE code = ?", .text(code)) {
      ($0.text(0), $0.text(1))
    }
    let file = try db.first(
      """
      SELECT f.path, f.message, coalesce(b.settings ->> '$.options.endpoint-url', b.destination),
        (SELECT a.mirror FROM attempt a WHERE a.file_id = f.id AND a.error_code = f.cause ORDER BY a.id DESC LIMIT 1)
      FROM file f JOIN batch b ON b.id = f.batch_id WHERE f.id = ?
      """, .int(ended?.example)
    ) { ($0.bytes(0), $0.textOrNil(1), $0.textOrNil(3) ?? Self.hosts(of: $0.text(2))[1]) }
    let attempt = try db.first(
      """
      SELECT f.path, a.message, coalesce(b.settings ->> '$.options.endpoint-url', b.destination), a.mirror
      FROM attempt a JOIN file f ON f.id = a.file_id JOIN batch b ON b.id = f.batch_id WHERE a.id = ?
      """, .int(met?.example)
    ) { ($0.bytes(0), $0.textOrNil(1), $0.textOrNil(3) ?? Self.hosts(of: $0.text(2))[1]) }
    return FailureRow(
      code: code, category: known?.0 ?? "", hint: known?.1 ?? "", files: ended?.count ?? 0, attempts: met?.count ?? 0,
      firstMs: [ended?.firstMs, met?.firstMs].compactMap(\.self).min(),
      lastMs: [ended?.lastMs, met?.lastMs].compactMap(\.self).max(),
      examplePath: ended?.path ?? (file?.0 ?? attempt?.0).map { NameBytes($0) },
      exampleMessage: ended?.path == nil ? file?.1 ?? attempt?.1 : ended?.message,
      exampleHost: ended?.path == nil ? (file ?? attempt).map { $0.2 } : nil)
  }
}
