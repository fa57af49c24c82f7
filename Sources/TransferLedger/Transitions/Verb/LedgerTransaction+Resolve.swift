import TransferModel

extension LedgerTransaction {
  /// unknown → done, pending or cancelled, by decision of a person. The reason is stored in the event of these files,
  /// and for a done file in its receipt. All chosen files must be unknown, or cancelled when they may have arrived.
  func resolveChosen(_ resolution: Resolution, reason: String) throws {
    try recordChosen("resolved", detail: "\(resolution.rawValue): \(reason)")
    switch resolution {
    case .done: try completeChosen(reason: reason)
    case .retry: try retryChosen(startsOver: false)
    case .cancel:
      try cancelChosen()
      try db.run(
        "UPDATE file SET cause = 'policy.resolved' WHERE id IN (SELECT id FROM temp.chosen) AND state = 'cancelled'")
    }
  }

  /// Proof `none`; chunks do not change, because the server did not acknowledge them. Sessions end only in the ledger,
  /// not on the server: the object that the person found there may be the result of the session.
  private func completeChosen(reason: String) throws {
    let files = try db.rows(
      "SELECT f.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id WHERE f.state IN ('unknown', 'cancelled') ORDER BY f.id"
    ) { $0.id(0, FileID.self) }
    for file in files { logs(receipt: 1, of: file) }
    try db.run(
      """
      INSERT INTO receipt (file_id, size, confirmation, etag, version_id, request_id, server_date, location, recorded_at, note)
      SELECT f.id, f.size, 'none', '', '', '', '', '', ?1, ?2 FROM temp.chosen c CROSS JOIN file f ON f.id = c.id
      WHERE f.state IN ('unknown', 'cancelled')
      """, .int(wallMs), .text(reason))
    try db.run(
      """
      UPDATE session SET state = iif(state = 'open', 'completed', 'gone'), ended_at = ? WHERE id IN (
        SELECT s.id FROM temp.chosen c CROSS JOIN session s ON s.file_id = c.id
        WHERE s.state IN ('intended', 'open') AND s.abort_after IS NULL)
      """, .int(wallMs))
    try db.run(
      """
      UPDATE file SET state = 'done', live = 1, cause = NULL, message = NULL, failures = 0,
        finished_at = max(coalesce(started_at, 0), ?)
      WHERE id IN (SELECT id FROM temp.chosen) AND (+state = 'unknown' OR +state = 'cancelled' AND may_have_arrived = 1)
      """, .int(wallMs))
  }
}
