public import TransferModel

/// The ledger of one machine: an SQLite file that records every batch, file, chunk and attempt. Any number of processes
/// may have it open; each writes through one connection on its own thread, and reads through another.
public final class Ledger: Sendable {
  public enum OpenMode: Sendable {
    /// Read and write; created if it is missing (directory 0700, file 0600).
    case create
    /// Read and write; `.storeMissing` if it does not exist.
    case existing
    /// Read only; works while another process writes, and for a user who may not write.
    case readOnly
  }

  /// The suffix of the folder with the staged copies of a ledger.
  public static let copiesSuffix = ".staged"

  /// Suffixes of the path of a ledger: the files that belong to it, and the folder with its staged copies.
  public static let fileSuffixes = [
    "", "-wal", "-shm", "-journal", ".lock", ".gate", ".watermark", ".sending", ".inflight", ".reserve",
    ".key", ".callbacks", ".daemon", copiesSuffix,
  ]

  /// Absolute.
  public let path: String
  /// Set if the ledger turned out to be a copy when it was opened, and was marked as one.
  let copyFinding: CopyFinding?
  /// Whether it was merged from other ledgers, and so can only be read.
  package let isMerged: Bool
  private let reader: SnapshotReader
  private let writer: Writer?
  let clock: any TransferClock
  /// Held from ``startRun(_:turn:beginning:)`` until ``releaseEngine()`` or ``close()``.
  private let engineLock: EngineLock

  private init(
    path: String, reader: SnapshotReader, writer: Writer?, clock: any TransferClock,
    copyFinding: CopyFinding? = nil, isMerged: Bool = false
  ) {
    self.clock = clock
    self.path = path
    self.copyFinding = copyFinding
    self.isMerged = isMerged
    self.reader = reader
    self.writer = writer
    engineLock = EngineLock(ofLedger: path)
  }

  deinit { close() }

  /// Opens the ledger at `path`, and upgrades its schema. A file that is not a ledger, or a newer one, is refused
  /// before anything is written; a merged ledger is refused except for reading.
  ///
  /// Throws `.storeMissing`, `.storeCorrupt`, `.storeNewer`, `.storeReadOnly`,
  /// `.storeUnsuitable`, `.storeBusy`, `.storeFull`, `.storeIO`.
  package static func open(at path: String, mode: OpenMode, clock: any TransferClock) throws(TransferError) -> Ledger {
    try open(at: path, mode: mode, clock: clock, gatePatienceMs: Gate.patienceMs)
  }

  /// Opens a ledger as ``open(at:mode:clock:)`` does, but reuses connections that earlier ones left in `kept`, and
  /// leaves its own there when it is closed.
  package static func open(
    at path: String, mode: OpenMode, clock: any TransferClock, keeping kept: KeptConnections?
  ) throws(TransferError) -> Ledger {
    try open(at: path, mode: mode, clock: clock, gatePatienceMs: Gate.patienceMs, keeping: kept)
  }

  static func open(
    at path: String, mode: OpenMode, clock: any TransferClock, gatePatienceMs: Int64 = Gate.patienceMs,
    migrations: Migrations = .embedded, keeping kept: KeptConnections? = nil
  ) throws(TransferError) -> Ledger {
    let file = try StoreFile(at: path, makesFolder: mode == .create)
    guard file.exists || mode == .create else { throw file.missingError }
    let store = Store(path: file.path, migrations: migrations, kept: kept)
    do {
      return try open(store, file, mode, clock, gatePatienceMs)
    } catch  where error.isBlankStore {
      // Another process may be creating it.
      guard let gate = try? Gate(file, patienceMs: gatePatienceMs) else { throw error }
      do { try gate.alone {} } catch { throw TransferError(any: error, "open store", path: path) }
      return try open(store, file, mode, clock, gatePatienceMs)
    }
  }

  private static func open(
    _ store: Store, _ file: StoreFile, _ mode: OpenMode, _ clock: any TransferClock, _ gatePatienceMs: Int64
  ) throws(TransferError) -> Ledger {
    let reader = SnapshotReader(store: store, file: file)
    if mode == .readOnly {
      let isMerged = try reader.read { try $0.isMerged() }
      return Ledger(path: file.path, reader: reader, writer: nil, clock: clock, isMerged: isMerged)
    }
    let gate: Gate
    do {
      gate = try Gate(file, patienceMs: gatePatienceMs)
    } catch {
      // Throws an error that says what is wrong with the folder.
      if !file.exists { try file.create() }
      throw error
    }
    let (watermark, hadLog) = (Watermark(at: Watermark.path(ofLedger: file.path)), file.walSize > 0)
    let own = Watermark(ofFile: file.path)
    let preparation = StorePreparation(store: store)
    let connection =
      file.exists
      ? try preparation.prepared(gate, mayBegin: mode == .create, wallMs: clock.wallMs)
      : try preparation.created(file, gate, wallMs: clock.wallMs)
    try store.refuseMerged(connection)
    let detector = CopyDetector(file, gate, watermark, own: own, hadLog: hadLog, wallMs: clock.wallMs)
    let finding = try detector.looking(connection)
    let writer = try Writer(store: store, connection: connection, gate: gate, clock: clock)
    return Ledger(path: file.path, reader: reader, writer: writer, clock: clock, copyFinding: finding)
  }

  /// Queues a write for the writer thread (group commit). `then` is called on that thread after the COMMIT returned:
  /// the changes of the body are durable. It must not block. The body may run more than once (if a batch of writes is
  /// rolled back because of another write), so it must have no effect outside of its transaction.
  ///
  /// A failure means that the body wrote nothing, except for `.storeIO` whose cause says that this is unknown: then the
  /// rows must be read again. Without ``retryCommits(_:)``, all further work is refused after the second such failure.
  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T,
    then: @escaping @Sendable (Result<T, TransferError>) -> Void
  ) {
    guard let writer else { return then(.failure(readOnlyError)) }
    writer.enqueue(TypedWrite(body, then: then))
  }

  /// The same, waiting for the result; for the command line and tests. Must not be called from a Swift task of the
  /// engine or from the writer thread.
  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> T {
    let answer = Mailbox<Result<T, TransferError>>()
    write(body) { answer.put($0) }
    guard let result = answer.take()?.first else { preconditionFailure("a write without a result") }
    return try result.get()
  }

  /// The same for a body that deletes rows which others refer to: in a separate transaction, in which SQLite checks no
  /// references.
  func writeUnreferenced<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> T {
    guard let writer else { throw readOnlyError }
    let answer = Mailbox<Result<T, TransferError>>()
    writer.enqueue(TypedWrite(isUnreferenced: true, body) { answer.put($0) })
    guard let result = answer.take()?.first else { preconditionFailure("a write without a result") }
    return try result.get()
  }

  /// Reads one consistent snapshot. Blocking; reads of one ledger run one at a time. In the rare case of a ledger that
  /// is read without locks, `body` runs again if another process wrote in the meantime.
  public func read<T>(_ body: (LedgerReader) throws -> T) throws(TransferError) -> T { try reader.read(body) }

  /// Differs from an earlier mark if another connection has changed the ledger since; reads no rows. Take the mark
  /// before reading what may have changed.
  public func changeMark() throws(TransferError) -> LedgerMark {
    LedgerMark(version: try read { try $0.dataVersion() }, stamp: reader.stamp)
  }

  /// Commits the queued writes, empties the WAL through the gate, releases the engine's lock and closes. Idempotent.
  public func close() {
    writer?.close()
    reader.close()
    engineLock.release()
  }

  /// Ends being the engine, without closing: commits the queued writes, and releases the engine's lock with the
  /// files that belong to an engine. Blocking; call it after the run has ended.
  public func releaseEngine() {
    writer?.endEngine()
    engineLock.release()
  }

  /// Becomes the only engine of this ledger: takes the lock on `<path>.lock` and holds it until ``releaseEngine()`` or
  /// ``close()``, marks runs that crashed as such, and records the new one. Blocking. Throws `.locked` if another
  /// engine has the lock; the cause names its process and machine. If the lock of `turn` is held, it is taken over.
  /// `beginning` is called, perhaps repeatedly, on the writer thread, when all locks are held and the run is about to
  /// be recorded: from then on its end is to be recorded, too.
  public func startRun(
    _ run: NewRun, turn: EngineTurn? = nil, beginning: @escaping @Sendable () -> Void = {}
  ) throws(TransferError) -> RunID {
    try requireWriting()
    try engineLock.take(for: run, turn)
    writer?.waitLong()
    let id = try write { tx in
      beginning()
      return try tx.beginRun(run)
    }
    if let mark = try read({ reader in try reader.watermark(of: id) }),
      let file = WatermarkFile(path: Watermark.path(ofLedger: path), mark)
    {
      writer?.keep(file)
      mark.store(inFile: path)
      // Before anything is sent, the run is in the database file too: a file that is moved without its log and its
      // watermark shows that it had a run that did not end. A reader may prevent this, and then only the attribute of
      // the file shows it.
      writer?.emptyLog()
    }
    return id
  }

  /// For an engine: its writer retries commits while the disk is full or failing, and reserves some space
  /// (`<path>.reserve`) that is released when the disk is full. Until ``close()``.
  public func retryCommits(_ retry: CommitRetry) { writer?.retryCommits(retry) }

  /// For an engine that has completed recovery: a new journal of what its requests read. nil if it cannot be created.
  public func sendingJournal() -> SendingJournal? { SendingJournal(path: SendingJournal.path(ofLedger: path)) }

  /// For an engine: the file in which it tells other processes how much was sent. nil if it cannot be created.
  public func inFlightFile(_ run: RunID) -> InFlightFile? { InFlightFile(path: InFlightFile.path(ofLedger: path), run) }

  /// Ends the wait of ``retryCommits(_:)``: writes that cannot be committed now fail. Any thread.
  public func stopRetrying() { writer?.stopRetrying() }

  /// Recovers after a crashed engine, if none is running and there is something to recover: so that requests for its
  /// files take effect without a new run. Begins and ends a run for it (`recovered`), holds the lock only during it,
  /// and uses no network: the next run aborts the sessions of cancelled files on their servers. nil if an engine is
  /// running, or a crashed one left nothing. Blocking. Durable on return.
  package func recoverIfIdle(_ run: NewRun) throws(TransferError) -> Recovery? {
    guard try read({ try $0.hasWorkInHand() }) else { return nil }
    return try engineLock.whileIdle(for: run) { () throws(TransferError) -> Recovery? in
      let id = try write { try $0.beginRun(run) }
      let recovery = try recover(id)
      _ = try write { try $0.endRun(id, how: "recovered") }
      return recovery
    }
  }

  /// Refuses a change, even if there turned out to be nothing to change.
  func requireWriting() throws(TransferError) {
    if writer == nil { throw readOnlyError }
  }

  private var readOnlyError: TransferError {
    guard !isMerged else { return .mergedStore(path) }
    return TransferError(.storeReadOnly, "write to store", NameBytes(path), cause: "it was opened read-only")
  }
}

/// Identifies a state of a ledger; see ``Ledger/changeMark()``.
public struct LedgerMark: Sendable, Hashable {
  let version: Int64
  /// For a file that can only be read without locks, where SQLite does not notice changes.
  let stamp: [Int]
}
