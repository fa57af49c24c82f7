import TransferModel

extension LedgerTransaction {
  /// The newest version of a download that was begun before: in an ended session of this generation, in an earlier
  /// generation of its batch, or in one that is done and wrote the file at its path. nil for uploads.
  func earlierVersion(of file: ClaimedFile, isFresh: Bool) throws -> SessionFacts? {
    guard file.direction == .download, file.generation > 1 || !isFresh else { return nil }
    let notes = try db.first(Self.earlierVersion, .id(file.id)) { $0.textOrNil(0) }
    guard let notes, let notes else { return nil }
    return SessionFacts(remoteID: "earlier", intendedAtMs: 0, notes: storedValues(notes))
  }

  static let earlierVersion: StaticString = """
    SELECT coalesce(
      (SELECT notes FROM session WHERE file_id = ?1 AND remote_id IS NOT NULL ORDER BY id DESC LIMIT 1),
      (SELECT s.notes FROM file n
        CROSS JOIN file f ON f.destination_id = n.destination_id AND f.key = n.key AND f.live IS NULL
        CROSS JOIN session s ON s.file_id = f.id
        WHERE n.id = ?1 AND f.path = n.path AND s.remote_id IS NOT NULL
          AND (f.state = 'done' OR (f.state = 'superseded' AND f.batch_id = n.batch_id))
        ORDER BY f.generation DESC, s.id DESC LIMIT 1))
    """
}
