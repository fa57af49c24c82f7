import TransferModel

/// A control request for a file that an engine has is applied by the transition that releases the file, in the same
/// transaction. So it takes effect even if the engine did not see it, stopped before, or crashed.
extension LedgerTransaction {
  func requestedAction(of file: FileID) throws -> RequestedAction? {
    try db.first("SELECT requested_action FROM file WHERE id = ?", .id(file)) { row throws(SQLiteError) in
      try row.namedOrNil(0, RequestedAction.self)
    } ?? nil
  }

  /// Applies the request to a file that was just released. A file that is done or failed stays so.
  func honour(_ requestedAction: RequestedAction?, of file: FileID) throws {
    guard let requestedAction else { return }
    try honour(requestedAction, of: [file])
  }

  func honour(_ requestedAction: RequestedAction, of files: [FileID]) throws {
    guard !files.isEmpty else { return }
    try choose(files)
    switch requestedAction {
    case .pause, .pauseNow: try pauseChosen()
    case .cancel: try cancelChosen()
    case .remove:
      try removeChosen()
      try hideEmptied(batches(of: files))
    }
  }

  /// Applies the request to a file that ended without it, and that its own transition has hidden if `remove` was
  /// requested. If cancelling or removing was requested, the removal of its source is revoked.
  func honourEnd(_ requestedAction: RequestedAction?, of file: FileID) throws {
    guard requestedAction == .remove || requestedAction == .cancel else { return }
    try choose([file])
    try revokeRemovalsOfChosen(
      "its file was \(requestedAction == .remove ? "removed" : "cancelled")", "before it was done")
    guard requestedAction == .remove else { return }
    try releaseCopiesOfChosen()
    try recordChosen("removed")
    try hideEmptied(batches(of: [file]))
  }

  /// The control requests for files of crashed runs, or for the one file `only`.
  func requestedActions(notOf run: RunID, _ only: FileID?) throws -> [RequestedAction: [FileID]] {
    let rows = try db.rows(
      "SELECT requested_action, id FROM file WHERE requested_action IS NOT NULL AND run_id <> ?1 AND (?2 IS NULL OR id = ?2)",
      .id(run),
      .id(only)
    ) { row throws(SQLiteError) in
      (requestedAction: try row.named(0, RequestedAction.self), file: row.id(1, FileID.self))
    }
    return Dictionary(grouping: rows, by: \.requestedAction).mapValues { $0.map(\.file) }
  }
}
