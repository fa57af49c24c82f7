import TransferModel

/// The guard of a transition of one row. Each statement contains `SET {moved}, … WHERE {guard}`: the conditions of the
/// guard are defined only here, and so is the evaluation of the result. Transitions of many rows at once have their
/// guards in their own statements. `?101` is the row, `?102` the attempt or the run.
struct RowGuard: Equatable {
  enum Row: String { case chunk, file, session }

  let row: Row
  /// nil for any state in which an engine has a file, or in which a session has not ended.
  let old: String?
  let new: String
  /// The guard requires an attempt or a run.
  var hasOwner = true
  /// Requires of a chunk that the attempt succeeded, of a file that none of its requests is open.
  var demands = false

  var parts: [(name: String, text: String)] {
    [("moved", "state = '\(new)'"), ("guard", "id = ?101 AND \(state)\(hasOwner ? owner : "")")]
  }

  private var state: String {
    if let old { return "state = '\(old)'" }
    return row == .file ? "state IN ('active', 'finishing')" : "state IN ('intended', 'open')"
  }

  private var owner: String {
    switch row {
    case .chunk:
      """
       AND EXISTS (SELECT 1 FROM attempt
        WHERE id = ?102 AND chunk_id = chunk.id AND outcome \(demands ? "= 'ok'" : "<> 'open'"))
      """
    case .file: " AND run_id = ?102" + (demands ? Self.noOpenRequest : "")
    case .session: " AND EXISTS (SELECT 1 FROM file WHERE id = session.file_id AND run_id = ?102)"
    }
  }

  private static let noOpenRequest = """
     AND NOT EXISTS (SELECT 1 FROM attempt WHERE file_id = file.id AND outcome = 'open' AND operation <> 'abort')
    """
}

/// The key by which the prepared statement of a guarded change is cached. Statements with the same text differ in their
/// guards.
struct MoveKey: Hashable {
  let text: UnsafePointer<UInt8>
  let guarding: RowGuard

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LedgerTransaction {
  /// Moves a chunk from one state to another.
  /// - Parameters:
  ///   - attempt: must have been closed before; with `isOk` successfully. nil checks the state only: a stored chunk
  ///     refers to its attempt, which the rules of the schema check.
  ///   - sql: the statement, with the other columns to change.
  func moveChunk(
    _ chunk: ChunkID, from old: ChunkState = .inFlight, to new: ChunkState, after attempt: AttemptID?,
    isOk: Bool = false, _ sql: StaticString, _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      sql, RowGuard(row: .chunk, old: old.rawValue, new: new.rawValue, hasOwner: attempt != nil, demands: isOk), values,
      row: chunk.rawValue, owner: attempt?.rawValue)
    return try result(changes) { try stateOf(chunk) }
  }

  /// Moves a file that belongs to `run` to another state.
  /// - Parameters:
  ///   - old: nil for any state in which an engine has it.
  ///   - isIdle: requires that none of its requests is open.
  ///   - sql: the statement, with the other columns to change.
  func moveFile(
    _ file: FileID, _ run: RunID, from old: FileState? = nil, to new: FileState, isIdle: Bool = false,
    _ sql: StaticString, _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      sql, RowGuard(row: .file, old: old?.rawValue, new: new.rawValue, demands: isIdle), values, row: file.rawValue,
      owner: run.rawValue)
    return try result(changes) { try stateOf(file, run) }
  }

  /// Moves a session that has not ended to another state.
  /// - Parameters:
  ///   - old: nil for any state in which it has not ended.
  ///   - run: must have the session's file; nil for any.
  ///   - sql: the statement, with the other columns to change.
  func moveSession(
    _ session: SessionID, _ run: RunID?, from old: SessionState? = nil, to new: SessionState, _ sql: StaticString,
    _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      sql, RowGuard(row: .session, old: old?.rawValue, new: new.rawValue, hasOwner: run != nil), values,
      row: session.rawValue, owner: run?.rawValue)
    return try result(changes) { try stateOf(session) }
  }

  /// The result of a guarded statement that can change only one row: if it changed none, the state shows why.
  func result(_ changes: Int, _ state: () throws -> String?) throws -> TransitionResult {
    changes == 1 ? .applied : .lost(to: try state())
  }

  /// For a transition that must succeed, because this transaction has just seen the row in the required state.
  func require(_ result: TransitionResult, _ what: some CustomStringConvertible) throws {
    guard !result.isApplied else { return }
    throw TransferError(
      .bug, "write to store", NameBytes(what.description), cause: "it changed inside a transaction",
      remedy: "run \"transfers store check\"")
  }
}
