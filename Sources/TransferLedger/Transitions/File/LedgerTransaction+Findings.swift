public import TransferModel

extension LedgerTransaction {
  /// done: records what was found at the path of a download as its next receipt. `.lost` if another download has
  /// written that path in the meantime.
  public func recordFinding(_ file: FileID, _ found: LocalFinding) throws -> TransitionResult {
    let proof: Confirmation = found.outcome != .intact ? .none : found.digest != nil ? .digest : .size
    let changes = try db.run(
      """
      INSERT INTO receipt (file_id, n, finding, size, confirmation, digest, etag, version_id, request_id, server_date,
        location, recorded_at)
      SELECT f.id, 1 + (SELECT max(n) FROM receipt WHERE file_id = f.id), ?2, ?3, ?4, ?5, '', '', '', '', '', ?6
      FROM file f WHERE f.id = ?1 AND f.state = 'done' AND f.is_download = 1
        AND NOT EXISTS (SELECT 1 FROM file g WHERE g.path = f.path AND g.is_download = 1 AND g.state = 'done' AND g.id > f.id)
      """, .id(file), .text(found.outcome.rawValue), .int(found.size), .text(proof.rawValue),
      found.digest.map { .text($0.description) } ?? .null, .int(wallMs))
    let newest = try db.first("SELECT max(n) FROM receipt WHERE file_id = ?", .id(file)) { $0.int64(0) }
    if changes == 1, let newest { logs(receipt: newest, of: file) }
    return try result(changes) { try db.first("SELECT state FROM file WHERE id = ?", .id(file)) { $0.text(0) } }
  }
}
