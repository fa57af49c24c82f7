import CSQLite
import TransferModel

/// The rows of the ledger inside one write transaction. Every method is one named, guarded transition, or a read. Only
/// valid inside the body to which it is passed, on the writer thread.
///
/// A transition that finds its row in another state changes nothing and returns ``TransitionResult/lost(to:)``. Methods
/// that must return a row throw `.leaseLost` instead. A change that the rules of the schema refuse throws an error,
/// which rolls back the whole body.
public struct LedgerTransaction {
  let db: Connection
  /// The wall-clock time of this transaction, in milliseconds since 1970 UTC.
  public let wallMs: Int64
  /// The same time by the boot clock, which cannot be set.
  let bootMs: Int64
  let notes = Notes()

  init(db: Connection, wallMs: Int64, bootMs: Int64 = 0) {
    self.db = db
    self.wallMs = wallMs
    self.bootMs = bootMs
  }

  /// State that is kept during this transaction.
  final class Notes {
    fileprivate var isPromoted = false
    fileprivate var newestAttempt: Int64?
    /// Bytes that were credited to attempts of the querying run.
    var credited: Int64 = 0
    /// The first events of a verb that takes several transactions, from this transaction or an earlier one; nil outside
    /// of such a verb.
    var begun: [EventKey: Int64]?
    /// Rows that became final; their leaves are appended to the log before the commit.
    var ended: [LogEntry] = []
  }

  /// The newest attempt that was begun in this transaction.
  var newestAttempt: Int64? { notes.newestAttempt }

  func began(_ attempt: Int64) -> AttemptID {
    notes.newestAttempt = attempt
    return AttemptID(rawValue: attempt)
  }

  /// waiting → pending for every chunk that is due. The time is constant within a transaction, so once is enough.
  /// Checks first whether there is one: an UPDATE of several rows uses a temporary table even if no row matches.
  func promoteChunks() throws {
    guard !notes.isPromoted else { return }
    notes.isPromoted = true
    let isDue = try db.first(Self.dueChunk, .int(wallMs)) { _ in true }
    if isDue == true { try db.run(Self.promoteDueChunks, .int(wallMs)) }
  }

  static let dueChunk: StaticString = "SELECT 1 FROM chunk WHERE state = 'waiting' AND not_before <= ? LIMIT 1"
  static let promoteDueChunks: StaticString =
    "UPDATE chunk SET state = 'pending', not_before = NULL WHERE state = 'waiting' AND not_before <= ?"

  /// The state of a file; nil if it belongs to another run.
  func stateOf(_ file: FileID, _ run: RunID) throws -> String? {
    let found = try db.first("SELECT state, run_id FROM file WHERE id = ?", .id(file)) { row in
      (row.text(0), row.idOrNil(1, RunID.self))
    }
    guard let (state, owner) = found, owner == nil || owner == run else { return nil }
    return state
  }

  func stateOf(_ chunk: ChunkID) throws -> String? {
    try db.first("SELECT state FROM chunk WHERE id = ?", .id(chunk)) { $0.text(0) }
  }

  func stateOf(_ session: SessionID) throws -> String? {
    try db.first("SELECT state FROM session WHERE id = ?", .id(session)) { $0.text(0) }
  }

  /// Throws `.leaseLost` if `run` has ended because another engine took over.
  package func requireLease(_ run: RunID) throws {
    let holds = try db.first("SELECT 1 FROM engine_run WHERE id = ? AND ended_at IS NULL", .id(run)) { _ in true }
    if holds != true { throw leaseLost("run \(run)", "its lease ended") }
  }

  /// Throws `.leaseLost` unless the file belongs to this run.
  func requireWork(_ file: FileID, _ run: RunID) throws {
    let owner = try db.first("SELECT run_id FROM file WHERE id = ?", .id(file)) { $0.idOrNil(0, RunID.self) }
    if owner != .some(run) { throw leaseLost("file \(file)", "it does not belong to run \(run)") }
  }

  private func leaseLost(_ what: String, _ cause: String) -> TransferError {
    TransferError(
      .leaseLost, "write to store", NameBytes(what), cause: cause, remedy: "let the other engine continue")
  }
}
