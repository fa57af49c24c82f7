public import TransferModel

/// The ledger of one machine: an SQLite file that knows every batch, file, chunk and attempt. Any number of processes
/// may have it open; each writes through one connection on its own thread, and reads through another.
public final class Ledger: Sendable {
  public enum OpenMode: Sendable {
    /// Read and write; made when it is missing (directory 0700, file 0600).
    case create
    /// Read and write; `.storeMissing` when it is not there.
    case existing
    /// Read only; works while another process writes, and for a user who may not write.
    case readOnly
  }

  /// What belongs to a ledger: these follow its path.
  public static let fileSuffixes = [
    "", "-wal", "-shm", "-journal", ".lock", ".gate", ".watermark", ".sending", ".inflight", ".reserve",
    ".key", ".callbacks", ".daemon",
  ]

  /// Absolute.
  public let path: String
  /// It turned out to be a copy when it was opened, and was marked as one.
  let copyFinding: CopyFinding?
  private let reader: SnapshotReader
  private let writer: Writer?
  let clock: any TransferClock
  /// Held from ``startRun(_:)`` until ``close()``.
  private let engineLock = Lock<SidecarLock?>(nil)

  private init(
    path: String, reader: SnapshotReader, writer: Writer?, clock: any TransferClock, copyFinding: CopyFinding? = nil
  ) {
    self.clock = clock
    self.path = path
    self.copyFinding = copyFinding
    self.reader = reader
    self.writer = writer
  }

  deinit { close() }

  /// Opens the ledger at `path`, and brings its schema up to date. What is not a ledger, or a newer one, is refused
  /// before anything is written; so is a merged one, but for reading.
  ///
  /// Throws `.storeMissing`, `.storeCorrupt`, `.storeNewer`, `.storeReadOnly`,
  /// `.storeUnsuitable`, `.storeBusy`, `.storeFull`, `.storeIO`.
  public static func open(at path: String, mode: OpenMode, clock: any TransferClock) throws(TransferError) -> Ledger {
    try open(at: path, mode: mode, clock: clock, gatePatienceMs: Gate.patienceMs)
  }

  static func open(
    at path: String, mode: OpenMode, clock: any TransferClock, gatePatienceMs: Int64 = Gate.patienceMs,
    migrations: Migrations = .embedded
  ) throws(TransferError) -> Ledger {
    let file = try StoreFile(at: path, makesFolder: mode == .create)
    guard file.exists || mode == .create else { throw file.missingError }
    let store = Store(path: file.path, migrations: migrations)
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
      try reader.read { _ in }
      return Ledger(path: file.path, reader: reader, writer: nil, clock: clock)
    }
    let gate: Gate
    do {
      gate = try Gate(file, patienceMs: gatePatienceMs)
    } catch {
      // Says what is wrong with the folder.
      if !file.exists { try file.create() }
      throw error
    }
    let watermark = Watermark(at: Watermark.path(ofLedger: file.path))
    let connection =
      file.exists
      ? try store.prepared(gate, mayBegin: mode == .create, wallMs: clock.wallMs)
      : try store.created(file, gate, wallMs: clock.wallMs)
    try store.refuseMerged(connection)
    let detector = CopyDetector(file, gate, watermark, wallMs: clock.wallMs)
    let finding = try detector.looking(connection)
    let writer = Writer(store: store, connection: connection, gate: gate, clock: clock)
    return Ledger(path: file.path, reader: reader, writer: writer, clock: clock, copyFinding: finding)
  }

  /// Queues a job for the writer thread (group commit). `then` is called on that thread after the COMMIT returned: what
  /// the body wrote is durable. It must not block. The body may run more than once (a batch of jobs is rolled back
  /// because of another job), so it must have no effect outside of its transaction.
  ///
  /// A failure means that the body wrote nothing, but for `.storeIO` whose cause says that it is unknown: then the rows
  /// have to be read again. After the second such failure all further work is refused.
  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T,
    then: @escaping @Sendable (Result<T, TransferError>) -> Void
  ) {
    guard let writer else { return then(.failure(readOnlyError)) }
    writer.enqueue(TypedWriteJob(body, then: then))
  }

  /// The same, waiting for the result; for the command line and tests. Never from a Swift task of the engine, nor from
  /// the writer thread.
  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> T {
    let answer = Mailbox<Result<T, TransferError>>()
    write(body) { answer.put($0) }
    guard let result = answer.take()?.first else { preconditionFailure("a job without a result") }
    return try result.get()
  }

  /// The same for what deletes rows that others name: in a transaction of its own, in which SQLite looks for no
  /// references.
  func writeUnreferenced<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> T {
    guard let writer else { throw readOnlyError }
    let answer = Mailbox<Result<T, TransferError>>()
    writer.enqueue(TypedWriteJob(isUnreferenced: true, body) { answer.put($0) })
    guard let result = answer.take()?.first else { preconditionFailure("a job without a result") }
    return try result.get()
  }

  /// Reads one consistent snapshot. Blocking; reads of one ledger run one after the other. In the rare case of a ledger
  /// that this user may not lock, `body` runs again when somebody wrote meanwhile.
  public func read<T>(_ body: (LedgerReader) throws -> T) throws(TransferError) -> T { try reader.read(body) }

  /// Differs from an earlier mark when another connection has changed the ledger meanwhile; costs no look at a row.
  /// Reads of what may have changed belong after it.
  public func changeMark() throws(TransferError) -> LedgerMark {
    LedgerMark(version: try read { try $0.dataVersion() }, stamp: reader.stamp)
  }

  /// Commits what is queued, empties the WAL through the gate, gives up the lock of ``startRun(_:)`` and closes.
  /// Idempotent.
  public func close() {
    writer?.close()
    reader.close()
    engineLock.withLock { $0 = nil }
  }

  /// Becomes the one engine of this ledger: takes the lock on `<path>.lock`, which lives as long as this object, marks
  /// runs that crashed as such, and records the new one. Blocking. Throws `.locked` when another engine
  /// has it; the cause names its process and machine. With a `turn` that has come its lock is taken over.
  public func startRun(_ run: NewRun, turn: EngineTurn? = nil) throws(TransferError) -> RunID {
    try engineLock.withLock { (held: inout SidecarLock?) throws(TransferError) in
      if held == nil { held = try lockForEngine(run, turn) }
    }
    writer?.waitLong()
    let id = try write { try $0.beginRun(run) }
    if let mark = try read({ reader in try reader.watermark(of: id) }) {
      writer?.keep(WatermarkFile(path: Watermark.path(ofLedger: path), mark))
    }
    return id
  }

  /// For an engine: its writer waits for a full or failing disk, and sets aside some space (`<path>.reserve`) that is
  /// given back when the disk is full. Until ``close()``.
  public func retryCommits(_ retry: CommitRetry) { writer?.retryCommits(retry) }

  /// For an engine that has recovered what was left: a new journal of what its requests read. nil where it cannot be
  /// made.
  public func sendingJournal() -> SendingJournal? { SendingJournal(path: SendingJournal.path(ofLedger: path)) }

  /// For an engine: where it tells others how much is out. nil where that cannot be made.
  public func inFlightFile(_ run: RunID) -> InFlightFile? { InFlightFile(path: InFlightFile.path(ofLedger: path), run) }

  /// Ends the wait of ``retryCommits(_:)``: what cannot be committed now fails. Any thread.
  public func stopRetrying() { writer?.stopRetrying() }

  /// Puts right what a dead engine left, when none is alive and there is something to do: so that what people ask of
  /// its files happens without a run. Begins and ends a run of its own (`recovered`), holds the lock only meanwhile,
  /// and touches no network: sessions of cancelled files are ended at their servers by the next run. nil when an engine
  /// is alive, or nothing is with a dead one. Blocking. Durable on return.
  public func recoverIfIdle(_ run: NewRun) throws(TransferError) -> Recovery? {
    guard try read({ try $0.hasWorkInHand() }) else { return nil }
    return try engineLock.withLock { (held: inout SidecarLock?) throws(TransferError) in
      guard held == nil else { return nil }
      let lock = try SidecarLock(path: path + ".lock")
      guard try lock.tryLockExclusive() else { return nil }
      try lock.write("pid \(run.pid) on \(run.host)")
      let id = try write { try $0.beginRun(run) }
      let recovery = try recover(id)
      _ = try write { try $0.endRun(id, how: "recovered") }
      return recovery
    }
  }

  private func lockForEngine(_ run: NewRun, _ turn: EngineTurn?) throws(TransferError) -> SidecarLock {
    guard writer != nil else { throw readOnlyError }
    if let lock = turn?.take() {
      try lock.write("pid \(run.pid) on \(run.host)")
      return lock
    }
    let lock = try SidecarLock(path: path + ".lock")
    guard try lock.tryLockExclusive() else {
      let holder = lock.read()
      throw TransferError(
        .locked, "start engine on", NameBytes(path),
        cause: "another engine runs" + (holder.isEmpty ? "" : ": \(holder)"),
        remedy: "it is already processing this work")
    }
    try lock.write("pid \(run.pid) on \(run.host)")
    return lock
  }

  private var readOnlyError: TransferError {
    TransferError(.storeReadOnly, "write to store", NameBytes(path), cause: "it was opened for reading")
  }
}

/// A moment in the life of a ledger; see ``Ledger/changeMark()``.
public struct LedgerMark: Sendable, Hashable {
  let version: Int64
  /// For a file that can only be read without locks, where SQLite does not notice changes.
  let stamp: [Int]
}
