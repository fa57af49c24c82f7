import TransferModel

/// What was asked of an engine is honoured by the transition that takes the file out of its hands, in the same
/// transaction: so it holds whether the engine saw it, stopped before, or died.
extension LedgerTransaction {
  func wish(of file: FileID) throws -> Wish? {
    try db.first("SELECT wish FROM file WHERE id = ?", .id(file)) { row throws(SQLiteError) in
      try row.namedOrNil(0, Wish.self)
    } ?? nil
  }

  /// For a file that has just come to rest. What is done or has failed stays so.
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

  /// For a file that has come to its end by itself, and is hidden with it when that was asked. Called off, it keeps its
  /// source.
  func honourEnd(_ wish: Wish?, of file: FileID) throws {
    guard wish == .remove || wish == .cancel else { return }
    try choose([file])
    try revokeRemovalsOfChosen("its file was \(wish == .remove ? "removed" : "cancelled") before it was done")
    guard wish == .remove else { return }
    try recordChosen("removed")
    try hideEmptied(batches(of: [file]))
  }

  /// The wishes on files of dead runs, or on one of them.
  func wishes(notOf run: RunID, _ only: FileID?) throws -> [Wish: [FileID]] {
    let rows = try db.rows(
      "SELECT wish, id FROM file WHERE wish IS NOT NULL AND run_id <> ?1 AND (?2 IS NULL OR id = ?2)", .id(run),
      .id(only)
    ) { row throws(SQLiteError) in (wish: try row.named(0, Wish.self), file: row.id(1, FileID.self)) }
    return Dictionary(grouping: rows, by: \.wish).mapValues { $0.map(\.file) }
  }
}
