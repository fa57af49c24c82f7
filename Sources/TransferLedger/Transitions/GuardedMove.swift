import TransferModel

/// How a transition of one row is guarded. Each statement says `SET {moved}, … WHERE {guard}`: what the guard asks of
/// the row stands here and nowhere else, and so does the look at what became of it. Transitions of many rows at once
/// have their guards in their own texts. `?101` is the row, `?102` the attempt or the run.
struct RowGuard: Equatable {
  enum Row: String { case chunk, file, session }

  let row: Row
  /// nil for either state in which an engine has a file, or in which a session has not ended.
  let old: String?
  let new: String
  /// There is an attempt or a run to be asked for.
  var hasOwner = true
  /// Of a chunk: the attempt succeeded. Of a file: none of its requests is open.
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

/// What the guarded change of a row is kept prepared by. Two that have the same text differ in their guards.
struct MoveKey: Hashable {
  let text: UnsafePointer<UInt8>
  let guarding: RowGuard

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LedgerTransaction {
  /// A chunk goes from one state to another.
  /// - Parameters:
  ///   - attempt: that was closed before; with `isOk` with success. nil asks for the state only: what is stored names
  ///     its attempt, and the rules of the schema ask about that.
  ///   - sql: what changes with the state.
  func moveChunk(
    _ chunk: ChunkID, from old: ChunkState = .inFlight, to new: ChunkState, after attempt: AttemptID?,
    isOk: Bool = false, _ sql: StaticString, _ values: SQLValue...
  ) throws -> TransitionResult {
    let changes = try db.run(
      sql, RowGuard(row: .chunk, old: old.rawValue, new: new.rawValue, hasOwner: attempt != nil, demands: isOk), values,
      row: chunk.rawValue, owner: attempt?.rawValue)
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
      sql, RowGuard(row: .file, old: old?.rawValue, new: new.rawValue, demands: isIdle), values, row: file.rawValue,
      owner: run.rawValue)
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
      sql, RowGuard(row: .session, old: old?.rawValue, new: new.rawValue, hasOwner: run != nil), values,
      row: session.rawValue, owner: run?.rawValue)
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
