import TransferModel

/// Queries to destinations about done files.
extension LedgerTransaction {
  /// Opens the attempt of a query about a done file; durable before its request is sent. Throws `.leaseLost` if this
  /// run no longer owns the ledger; the rules of the schema refuse files that are not done.
  package func beginQuestion(_ file: FileID, _ run: RunID, _ operation: AttemptOperation) throws -> AttemptID {
    precondition(operation == .verify || operation == .probe, "a query changes nothing")
    try requireLease(run)
    return try openAttempt(file, run, operation, session: nil, isRepeatable: true)
  }

  /// Ends the attempt, and records what its answer says about the object as the next receipt of its file. False if the
  /// result is obsolete because a later upload to the same key was done in the meantime.
  package func endQuestion(
    _ attempt: AttemptID, of file: FileID, _ run: RunID, _ result: AttemptResult, _ found: RemoteFinding?
  ) throws -> Bool {
    try require(closeAttempt(attempt, run, result), attempt)
    guard let found else { return true }
    let proof = found.proof
    let changes = try db.run(
      """
      INSERT INTO receipt (file_id, n, finding, size, attempt_id, confirmation, digest, remote_digest, etag, version_id,
        request_id, server_date, location, recorded_at)
      SELECT f.id, 1 + (SELECT max(n) FROM receipt WHERE file_id = f.id), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
        (SELECT location FROM receipt WHERE file_id = f.id AND n = 1), ?12
      FROM file f WHERE f.id = ?1 AND f.state = 'done'
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key AND g.live = 1
          AND g.generation > f.generation AND g.state = 'done')
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.destination_id = f.destination_id AND g.key = f.key
          AND g.live IS NULL AND g.generation > f.generation AND g.state = 'done')
      """, .id(file), .raw(found.outcome), .int(found.size), .id(attempt), .raw(proof.confirmation),
      proof.digest.map { .text($0.description) } ?? .null, proof.remoteDigest.map { .text($0.description) } ?? .null,
      .text(proof.etag), .text(proof.versionID), .text(proof.requestID), .text(proof.serverDate), .int(wallMs))
    let newest = try db.first("SELECT max(n) FROM receipt WHERE file_id = ?", .id(file)) { $0.int64(0) }
    if changes == 1, let newest { logs(receipt: newest, of: file) }
    return changes == 1
  }
}
