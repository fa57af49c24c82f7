import TransferModel

/// What a copy of a ledger leaves to its original, as long as nobody says that it may be trusted: the partial files of
/// downloads, the sessions at servers, and the sources, of files in doubt; also when it is decided that they are sent.
extension LedgerTransaction {
  /// active: begins a download in doubt again, in a partial file of this copy. What the original has fetched of it is
  /// not here any more.
  func leavingPartial(_ file: ClaimedFile, _ run: RunID) throws -> ClaimedFile {
    guard file.direction == .download else { return file }
    let own = try db.first("SELECT uid FROM store_meta WHERE copied_at IS NOT NULL") { $0.uid(0) }
    guard let own, file.partialOf != own else { return file }
    let session = try db.first(
      "SELECT id FROM session WHERE file_id = ? AND state IN ('intended', 'open') AND abort_after IS NULL", .id(file.id)
    ) { $0.id(0, SessionID.self) }
    if let session { _ = try endSession(session, .gone) }
    _ = try resetChunks(file.id, run)
    try db.run("UPDATE file SET partial_of = ? WHERE id = ? AND state = 'active'", .uid(own), .id(file.id))
    var file = file
    file.partialOf = own
    return file
  }

  func partialOwner(of file: FileID) throws -> UID? {
    try db.first("SELECT partial_of FROM file WHERE id = ? AND partial_of IS NOT NULL", .id(file)) { $0.uid(0) }
  }

  /// Puts off the due aborts that would take away what the original of this copy may still use. Costs nothing if the
  /// ledger is not a copy.
  func putOffSharedAborts() throws {
    guard try db.first("SELECT 1 FROM doubt LIMIT 1", row: { _ in true }) != nil else { return }
    try db.run(Self.sharedAborts, .int(wallMs), .int(wallMs + Self.sharedAbortPauseMs))
  }

  /// Every run looks at them again when it begins.
  private static let sharedAbortPauseMs: Int64 = 86_400_000

  static let sharedAborts: StaticString = """
    UPDATE session SET abort_after = ?2
    WHERE state IN ('intended', 'open') AND abort_after IS NOT NULL AND abort_after <= ?1
      AND EXISTS (SELECT 1 FROM doubt d CROSS JOIN file f ON f.id = d.file_id CROSS JOIN store_meta m
        WHERE d.file_id = session.file_id
          AND iif(f.is_download IS NULL, session.intended_at <= m.copied_at, f.partial_of IS NOT m.uid))
    """
}
