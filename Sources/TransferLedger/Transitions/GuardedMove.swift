import TransferModel

/// How a transition of one row is guarded. Each statement says `SET {moved}, … WHERE {guard}`: what the guard asks of the row stands
/// here and nowhere else, and so does the look at what became of it. Transitions of many rows at once have their guards in their
/// own texts.
///
/// `?101` the new state, `?102` the row, `?103` the state that it leaves, `?104` the run or the attempt, `?105` a further demand.
enum RowGuard {
  /// In a state, and the attempt that worked on it was closed; with `?105` it had succeeded. Without an attempt only the state: what
  /// is stored names its attempt, which the rules of the schema ask about.
  static let chunk = [
    moved,
    (
      "guard",
      """
      id = ?102 AND state = ?103 AND (?104 IS NULL OR EXISTS (SELECT 1 FROM attempt
        WHERE id = ?104 AND chunk_id = chunk.id AND outcome <> 'open' AND (NOT ?105 OR outcome = 'ok')))
      """
    ),
  ]

  /// With a run; with `?103` in this one of the two states that an engine works in; with `?105` without an open request.
  static let file = [
    moved,
    (
      "guard",
      """
      id = ?102 AND state IN ('active', 'finishing') AND (?103 IS NULL OR state = ?103) AND run_id = ?104
        AND (NOT ?105 OR NOT EXISTS (SELECT 1 FROM attempt
          WHERE file_id = file.id AND outcome = 'open' AND operation <> 'abort'))
      """
    ),
  ]

  /// Not ended; with `?103` in this state; with `?104` while its file is with this run.
  static let session = [
    moved,
    (
      "guard",
      """
      id = ?102 AND state IN ('intended', 'open') AND (?103 IS NULL OR state = ?103)
        AND (?104 IS NULL OR EXISTS (SELECT 1 FROM file WHERE id = session.file_id AND run_id = ?104))
      """
    ),
  ]

  private static let moved = ("moved", "state = ?101")
}

extension LedgerTransaction {
  /// A chunk goes from one state to another.
  /// - Parameters:
  ///   - attempt: that was closed before; with `isOk` with success.
  ///   - sql: what changes with the state.
  func moveChunk(
    _ chunk: ChunkID, from old: ChunkState = .inFlight, to new: ChunkState, after attempt: AttemptID?,
    isOk: Bool = false, _ sql: StaticString, _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      ComposedStatement(
        sql: sql, variant: "chunk", parts: RowGuard.chunk, values: values,
        shared: [.raw(new), .id(chunk), .raw(old), .id(attempt), .flag(isOk)]))
    return try result(changes) { try stateOf(chunk) }
  }

  /// A file that is with `run` goes on or leaves its hands.
  /// - Parameters:
  ///   - old: nil for either state in which an engine has it.
  ///   - isIdle: none of its requests is open.
  ///   - sql: what changes with the state.
  func moveFile(
    _ file: FileID, _ run: RunID, from old: FileState? = nil, to new: FileState, isIdle: Bool = false,
    _ sql: StaticString, _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      ComposedStatement(
        sql: sql, variant: "file", parts: RowGuard.file, values: values,
        shared: [.raw(new), .id(file), .raw(old), .id(run), .flag(isIdle)]))
    return try result(changes) { try stateOf(file, run) }
  }

  /// A session that has not ended goes on or ends.
  /// - Parameters:
  ///   - old: nil for either state in which it has not ended.
  ///   - run: that has its file; nil for any.
  ///   - sql: what changes with the state.
  func moveSession(
    _ session: SessionID, _ run: RunID?, from old: SessionState? = nil, to new: SessionState, _ sql: StaticString,
    _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      ComposedStatement(
        sql: sql, variant: "session", parts: RowGuard.session, values: values,
        shared: [.raw(new), .id(session), .raw(old), .id(run)]))
    return try result(changes) { try stateOf(session) }
  }

  /// What a guarded statement did that can only change one row: when it changed none, the state says why.
  func result(_ changes: Int, _ state: () throws -> String?) throws -> TransitionResult {
    changes == 1 ? .applied : .lost(to: try state())
  }

  /// For a row that this very transaction has just seen where it is to be.
  func require(_ result: TransitionResult, _ what: some CustomStringConvertible) throws {
    guard !result.isApplied else { return }
    throw TransferError(
      .bug, "write to store", NameBytes(what.description), cause: "it changed inside a transaction",
      remedy: "run \"transfers store check\"")
  }
}
