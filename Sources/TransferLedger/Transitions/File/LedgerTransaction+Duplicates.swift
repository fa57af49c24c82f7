public import TransferModel

/// Files of batches with `dedupe`.
extension LedgerTransaction {
  /// Records the content of a file that this transaction has completed.
  func recordContent(_ file: FileID, _ digest: Digest) throws {
    try db.run("INSERT INTO content (file_id, digest) VALUES (?, ?)", .id(file), .digest(digest))
  }

  /// active → superseded: another file has delivered the same content. If that no longer holds, or the server has
  /// stored anything of this file: → pending, and it is sent. No attempt may be open.
  public func endDuplicate(_ file: FileID, _ run: RunID, of other: DeliveredFile) throws -> TransitionResult {
    guard try isDelivered(file, by: other) else {
      return try requeueFile(file, run, notBeforeMs: nil, code: nil, isFailure: false)
    }
    let requestedAction = try requestedAction(of: file)
    let result = try moveFile(
      file, run, from: .active, to: .superseded, isIdle: true,
      """
      UPDATE file SET {moved}, live = NULL, run_id = NULL, cause = 'policy.duplicate', message = ?1,
        hidden = iif(requested_action = 'remove', 1, NULL), requested_action = NULL, finished_at = max(started_at, ?2)
      WHERE {guard}
      """, .text(other.reason), .int(wallMs))
    guard result.isApplied else { return result }
    try endChunks(of: file)
    try dropSession(of: file)
    try db.run(
      "INSERT INTO content (file_id, digest, same_as) VALUES (?, ?, ?)", .id(file), .digest(other.digest),
      .id(other.id))
    let batch = try db.first("SELECT batch_id FROM file WHERE id = ?", .id(file)) { $0.id(0, BatchID.self) }
    try recordEvent("duplicate", batch: batch, file: file, detail: other.reason)
    try honourEnd(requestedAction, of: file)
    return .applied
  }

  private func isDelivered(_ file: FileID, by other: DeliveredFile) throws -> Bool {
    let holds = try db.first(
      "SELECT 1 FROM chunk WHERE file_id = ? AND (state = 'done' OR acked > 0) LIMIT 1", .id(file)
    ) { _ in true }
    guard holds == nil else { return false }
    return try LedgerReader(db: db).delivered(other.digest, like: file).contains { $0.id == other.id }
  }
}
