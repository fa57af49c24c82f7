import TransferModel

extension LedgerTransaction {
  /// unknown → done, pending or cancelled, because a person says so. Their reason is in the event of these files, and
  /// of a done one part of its receipt. The chosen files are unknown.
  func resolveChosen(_ resolution: Resolution, reason: String) throws {
    try recordChosen("resolved", detail: "\(resolution.rawValue): \(reason)")
    switch resolution {
    case .done: try completeChosen(reason: reason)
    case .retry: try retryChosen(startsOver: false)
    case .cancel: try cancelChosen()
    }
  }

  /// Proof `none`; chunks stay as they are, because nobody acknowledged them. Sessions end here and not at the server:
  /// what a person found there may be what the session became.
  private func completeChosen(reason: String) throws {
    let files = try db.rows(
      "SELECT f.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id WHERE f.state = 'unknown' ORDER BY f.id"
    ) { $0.id(0, FileID.self) }
    for file in files { logs(receipt: 1, of: file) }
    try db.run(
      """
      INSERT INTO receipt (file_id, size, confirmation, etag, version_id, request_id, server_date, location, recorded_at, note)
      SELECT f.id, f.size, 'none', '', '', '', '', '', ?1, ?2 FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
      WHERE f.state = 'unknown'
      """, .int(wallMs), .text(reason))
    try db.run(
      """
      UPDATE session SET state = iif(state = 'open', 'completed', 'gone'), ended_at = ? WHERE id IN (
        SELECT s.id FROM temp.chosen c CROSS JOIN session s ON s.file_id = c.id
        WHERE s.state IN ('intended', 'open') AND s.abort_after IS NULL)
      """, .int(wallMs))
    try db.run(
      """
      UPDATE file SET state = 'done', cause = NULL, message = NULL, failures = 0,
        finished_at = max(coalesce(started_at, 0), ?)
      WHERE id IN (SELECT id FROM temp.chosen) AND +state = 'unknown'
      """, .int(wallMs))
  }
}
