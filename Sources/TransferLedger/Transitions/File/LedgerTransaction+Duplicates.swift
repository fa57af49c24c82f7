public import TransferModel

/// Files of batches that send no content twice.
extension LedgerTransaction {
  /// What a file delivered that this transaction has made done.
  func recordContent(_ file: FileID, _ digest: Digest) throws {
    try db.run("INSERT INTO content (file_id, digest) VALUES (?, ?)", .id(file), .digest(digest))
  }

  /// active → superseded: another file has delivered its content. When that does not stand for its key any more, or
  /// something of this one has arrived: → pending, and it is sent. No attempt may be open.
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
