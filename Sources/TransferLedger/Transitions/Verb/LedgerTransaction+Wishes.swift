import TransferModel

/// A control request for a file that an engine has is applied by the transition that releases the file, in the same
/// transaction. So it takes effect even if the engine did not see it, stopped before, or crashed.
extension LedgerTransaction {
  func wish(of file: FileID) throws -> Wish? {
    try db.first("SELECT wish FROM file WHERE id = ?", .id(file)) { row throws(SQLiteError) in
      try row.namedOrNil(0, Wish.self)
    } ?? nil
  }

  /// Applies the request to a file that was just released. A file that is done or failed stays so.
  func honour(_ wish: Wish?, of file: FileID) throws {
    guard let wish else { return }
    try honour(wish, of: [file])
  }

  func honour(_ wish: Wish, of files: [FileID]) throws {
    guard !files.isEmpty else { return }
    try choose(files)
    switch wish {
    case .pause, .pauseNow: try pauseChosen()
    case .cancel: try cancelChosen()
    case .remove:
      try removeChosen()
      try hideEmptied(batches(of: files))
    }
  }

  /// Applies the request to a file that ended without it, and that its own transition has hidden if `remove` was
  /// requested. If cancelling or removing was requested, the removal of its source is revoked.
  func honourEnd(_ wish: Wish?, of file: FileID) throws {
    guard wish == .remove || wish == .cancel else { return }
    try choose([file])
    try revokeRemovalsOfChosen("its file was \(wish == .remove ? "removed" : "cancelled") before it was done")
    guard wish == .remove else { return }
    try recordChosen("removed")
    try hideEmptied(batches(of: [file]))
  }

  /// The control requests for files of crashed runs, or for the one file `only`.
  func wishes(notOf run: RunID, _ only: FileID?) throws -> [Wish: [FileID]] {
    let rows = try db.rows(
      "SELECT wish, id FROM file WHERE wish IS NOT NULL AND run_id <> ?1 AND (?2 IS NULL OR id = ?2)", .id(run),
      .id(only)
    ) { row throws(SQLiteError) in (wish: try row.named(0, Wish.self), file: row.id(1, FileID.self)) }
    return Dictionary(grouping: rows, by: \.wish).mapValues { $0.map(\.file) }
  }
}
