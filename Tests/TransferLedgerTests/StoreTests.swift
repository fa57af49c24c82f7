import CSQLite
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Opening a ledger: what is refused, what is created, and with which modes.
@Suite struct StoreTests {
  @Test func aWaitForTheGateEndsAndNamesTheHolder() throws {
    let f = try LedgerFixture()
    let holder = try SidecarLock(path: f.path + ".gate")
    try holder.lockExclusive(withinMs: 0)
    let ledger = try Ledger.open(at: f.path, mode: .existing, clock: f.clock, gatePatienceMs: 20)
    defer { ledger.close() }
    let error = #expect(throws: TransferError.self) {
      try ledger.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") }
    }
    #expect(error?.kind == .storeBusy)
    #expect(error?.cause.hasPrefix("process \(getpid()) (") == true, "\(String(describing: error))")
    holder.unlock()
    try ledger.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") }
    #expect(throws: TransferError.self) {
      try holder.lockExclusive(withinMs: 0)
      try Gate(StoreFile(at: f.path, makesFolder: false), patienceMs: 20).alone {}
    }
  }

  /// Another process may be about to fill a file without a schema; it holds the gate meanwhile.
  @Test(arguments: [Ledger.OpenMode.existing, .readOnly])
  func whoFindsAnEmptyFileWaitsForItsMaker(_ mode: Ledger.OpenMode) throws {
    let f = try LedgerFixture()
    let path = f.path + ".new"
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    let maker = try SidecarLock(path: path + ".gate")
    try maker.lockExclusive(withinMs: 0)
    let waiting = #expect(throws: TransferError.self) {
      try Ledger.open(at: path, mode: mode, clock: f.clock, gatePatienceMs: 20)
    }
    #expect(waiting?.kind == .storeBusy, "\(String(describing: waiting))")
    maker.unlock()
    let empty = #expect(throws: TransferError.self) { try Ledger.open(at: path, mode: mode, clock: f.clock) }
    #expect(empty?.kind == .storeCorrupt)
  }

  @Test func aNewFileIsMadeUnderTheGate() throws {
    let f = try LedgerFixture()
    let path = f.path + ".new"
    let other = try SidecarLock(path: path + ".gate")
    try other.lockExclusive(withinMs: 0)
    let busy = #expect(throws: TransferError.self) {
      try Ledger.open(at: path, mode: .create, clock: f.clock, gatePatienceMs: 20)
    }
    #expect(busy?.kind == .storeBusy && access(path, F_OK) != 0)
    other.unlock()
    try Ledger.open(at: path, mode: .create, clock: f.clock).close()
  }

  @Test func whoWaitsForTheEngineLockIsNext() throws {
    let f = try LedgerFixture()
    _ = try f.startRun()
    let turn = try EngineTurn(at: f.path)
    #expect(!turn.hasCome)
    f.ledger.close()
    while !turn.hasCome { sched_yield() }
    let other = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    let run = NewRun(argv: [], version: "", host: "h", bootID: "b", pid: 1)
    let error = #expect(throws: TransferError.self) { try other.startRun(run) }
    #expect(error?.kind == .locked)
    _ = try other.startRun(run, turn: turn)
    other.close()
    let last = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    _ = try last.startRun(run, turn: turn)
    last.close()
  }

  /// Between fork and exec, a child of this process has all our open files.
  @Test func aLockEndsAlthoughAChildStillHasItsFile() throws {
    let f = try LedgerFixture()
    var held: SidecarLock? = try SidecarLock(path: f.path + ".other")
    #expect(try held?.tryLockExclusive() == true)
    let inherited = dup(try #require(held).descriptor)
    defer { close(inherited) }
    let next = try SidecarLock(path: f.path + ".other")
    #expect(try next.tryLockExclusive() == false)
    held = nil
    #expect(try next.tryLockExclusive())
  }

  @Test func filesAreForTheirOwnerWhateverTheUmask() throws {
    let f = try LedgerFixture()
    f.ledger.close()
    let path = f.folder + "/deep/er/transfers.db"
    let before = umask(0)
    defer { umask(before) }
    let ledger = try Ledger.open(at: path, mode: .create, clock: f.clock)
    _ = try ledger.startRun(NewRun(argv: [], version: "", host: "", bootID: "", pid: 1))
    let names = try fileNames(in: f.folder + "/deep/er")
    #expect(names == ["", "-shm", "-wal", ".gate", ".lock", ".watermark"].map { "transfers.db" + $0 })
    for name in names { #expect(try mode(f.folder + "/deep/er/" + name) == 0o600, "\(name)") }
    #expect(try mode(f.folder + "/deep") == 0o700)
    #expect(try mode(f.folder + "/deep/er") == 0o700)
    ledger.close()
    for name in names { unlink(f.folder + "/deep/er/" + name) }
    rmdir(f.folder + "/deep/er")
    rmdir(f.folder + "/deep")
  }

  @Test func everyPragmaIsSet() throws {
    let f = try LedgerFixture()
    let writer = try Store(path: f.path).openWriter()
    let expected = [
      "journal_mode": "wal", "synchronous": "2", "mmap_size": "0", "trusted_schema": "0", "cell_size_check": "1",
      "foreign_keys": "1", "busy_timeout": "5000", "temp_store": "2", "wal_autocheckpoint": "0",
      "application_id": "1414678099", "user_version": "\(Migrations.embedded.count)",
    ]
    for (name, value) in expected {
      #expect(try writer.rowsOnce("PRAGMA \(name)") { $0.text(0) } == [value], "\(name)")
    }
    // DEFENSIVE: the schema table cannot be written even by a program that enables writing to it.
    #expect(throws: SQLiteError.self) {
      try writer.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
    }
    let reader = try Store(path: f.path).openReader(.readOnly)
    #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO event (at, verb, detail) VALUES (0, 'x', '')") }
  }

  @Test func aMissingLedgerIsOnlyMadeWhenAsked() throws {
    let f = try LedgerFixture()
    for mode in [Ledger.OpenMode.existing, .readOnly] {
      #expect(kind { try Ledger.open(at: f.folder + "/none.db", mode: mode, clock: f.clock) } == .storeMissing)
      #expect(kind { try Ledger.open(at: f.folder + "/no/none.db", mode: mode, clock: f.clock) } == .storeMissing)
    }
    #expect(try fileNames(in: f.folder).contains("none.db") == false)
  }

  @Test func aLedgerIsNotUpgradedBeneathAnEngine() throws {
    let f = try LedgerFixture()
    f.ledger.close()
    do {
      let db = try Connection(path: f.path, access: .readWrite)
      try db.execute("PRAGMA user_version = \(Migrations.embedded.count - 1)")
    }
    let engine = try SidecarLock(path: f.path + ".lock")
    #expect(try engine.tryLockExclusive())
    try engine.write("pid 4711 on here")
    let error = #expect(throws: TransferError.self) {
      _ = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    }
    #expect(error?.kind == .locked && error?.cause.contains("pid 4711 on here") == true)
    #expect(try f.texts("PRAGMA user_version") == ["\(Migrations.embedded.count - 1)"])
    engine.unlock()
  }

  @Test func aProgramThatIsOlderThanTheSchemaWritesNothingMore() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    try f.shell("PRAGMA user_version = \(Migrations.embedded.count + 1)")
    for _ in 0..<2 {
      let error = #expect(throws: TransferError.self) { _ = try f.ledger.write { try $0.heartbeat(run) } }
      #expect(error?.kind == .storeNewer)
    }
    // Not even after the version is restored: what the other program did meanwhile is unknown.
    try f.shell("PRAGMA user_version = \(Migrations.embedded.count)")
    #expect(throws: TransferError.self) { _ = try f.ledger.write { try $0.heartbeat(run) } }
  }

  @Test func newerAndForeignLedgersAreRefusedUntouched() throws {
    let f = try LedgerFixture()
    f.ledger.close()
    for (sql, expected) in [
      ("PRAGMA user_version = 99", TransferError.Kind.storeNewer), ("PRAGMA application_id = 7", .storeCorrupt),
    ] {
      try f.shell(sql)
      for mode in [Ledger.OpenMode.create, .existing, .readOnly] {
        #expect(kind { try Ledger.open(at: f.path, mode: mode, clock: f.clock) } == expected, "\(sql) \(mode)")
      }
    }
    #expect(try f.texts("PRAGMA user_version") == ["99"])
  }

  @Test func whatIsNoDatabaseIsRefusedUntouched() throws {
    let f = try LedgerFixture()
    let path = f.folder + "/text.db"
    let text = Array(repeating: UInt8(ascii: "x"), count: 5000)
    let file = try #require(fopen(path, "w"))
    #expect(fwrite(text, 1, text.count, file) == text.count)
    fclose(file)
    for mode in [Ledger.OpenMode.create, .existing, .readOnly] {
      #expect(kind { try Ledger.open(at: path, mode: mode, clock: f.clock) } == .storeCorrupt)
    }
    #expect(try fileBytes(path) == text)
  }

  @Test func anEmptyFileIsOnlyFilledWhenAsked() throws {
    let f = try LedgerFixture()
    let path = f.folder + "/empty.db"
    fclose(fopen(path, "w"))
    #expect(kind { try Ledger.open(at: path, mode: .existing, clock: f.clock) } == .storeCorrupt)
    #expect(kind { try Ledger.open(at: path, mode: .readOnly, clock: f.clock) } == .storeCorrupt)
    try Ledger.open(at: path, mode: .create, clock: f.clock).close()
  }

  @Test func linksFoldersAndSecondNamesAreRefused() throws {
    let f = try LedgerFixture()
    f.ledger.close()
    symlink(f.path, f.folder + "/soft.db")
    mkdir(f.folder + "/folder.db", 0o700)
    defer { rmdir(f.folder + "/folder.db") }
    for name in ["/soft.db", "/folder.db"] {
      #expect(kind { try Ledger.open(at: f.folder + name, mode: .create, clock: f.clock) } == .storeUnsuitable)
    }
    link(f.path, f.folder + "/hard.db")
    #expect(kind { try Ledger.open(at: f.path, mode: .existing, clock: f.clock) } == .storeUnsuitable)
    unlink(f.folder + "/hard.db")
    try Ledger.open(at: f.path, mode: .existing, clock: f.clock).close()
  }

  @Test func aCorruptLedgerIsFound() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    try f.ledger.write { tx in
      for i in 0..<500 { _ = try tx.admit(LedgerFixture.source("file\(i)"), to: batch) }
    }
    f.ledger.close()
    let file = try #require(fopen(f.path, "r+"))
    fseek(file, 0, SEEK_END)
    let pages = ftell(file) / 4096
    let junk = [UInt8](repeating: 0xA5, count: 4096)
    for page in stride(from: 8, to: pages, by: 1) {
      fseek(file, page * 4096, SEEK_SET)
      fwrite(junk, 1, 2048, file)
    }
    fclose(file)
    let found = kind {
      let ledger = try Ledger.open(at: f.path, mode: .readOnly, clock: f.clock)
      defer { ledger.close() }
      let findings = try ledger.read { try $0.check() }
      #expect(findings.contains { $0.invariant.hasPrefix("I02") })
      throw TransferError(.storeCorrupt, "check", cause: "found")
    }
    #expect(found == .storeCorrupt)
  }

  @Test func readersWorkWhileAnotherWritesAndNeverWrite() throws {
    let f = try LedgerFixture()
    let reader = try Ledger.open(at: f.path, mode: .readOnly, clock: f.clock)
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    let left = try reader.read { try $0.workLeft() }
    #expect(left.ready == 1)
    #expect(kind { try reader.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") } } == .storeReadOnly)
    #expect(kind { try reader.startRun(NewRun(argv: [], version: "", host: "", bootID: "", pid: 1)) } == .storeReadOnly)
    reader.close()
  }

  @Test func aLedgerThatCannotBeLockedIsReadWhenItsLogIsEmpty() throws {
    let f = try LedgerFixture()
    _ = try f.makeBatch()
    f.ledger.close()
    for suffix in ["-wal", "-shm"] { unlink(f.path + suffix) }
    let reader = SnapshotReader(store: Store(path: f.path), file: try StoreFile(at: f.path, makesFolder: false))
    // A folder in place of the shared memory file makes SQLite's locks impossible, even for root.
    mkdir(f.path + "-shm", 0o700)
    #expect(try reader.read { try $0.batchSettings(BatchID(rawValue: 1)) } == BatchSettings(destination: "put:there"))
    rmdir(f.path + "-shm")
  }

  @Test func itIsSaidThatARunBeginsBeforeItIsRecorded() throws {
    let f = try LedgerFixture()
    let (other, isRecorded) = (try Ledger.open(at: f.path, mode: .readOnly, clock: f.clock), Lock<[Bool]>([]))
    defer { other.close() }
    let run = try f.ledger.startRun(NewRun(argv: [], version: "", host: "here", bootID: "", pid: 7)) {
      let newest = try? other.read { try $0.newestRun() }
      isRecorded.withLock { $0.append(newest != nil) }
    }
    #expect(isRecorded.withLock(\.self) == [false])
    #expect(try other.read { try $0.newestRun()?.id } == run)
  }

  @Test func oneEngineOwnsALedger() throws {
    let f = try LedgerFixture()
    _ = try f.startRun()
    let other = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    defer { other.close() }
    let error = #expect(throws: TransferError.self) {
      try other.startRun(NewRun(argv: [], version: "", host: "there", bootID: "", pid: 8))
    }
    #expect(error?.kind == .locked && error?.cause == "another engine is running: pid 7 on here")
    f.ledger.close()
    _ = try other.startRun(NewRun(argv: [], version: "", host: "there", bootID: "", pid: 8))
  }

  private func mode(_ path: String) throws -> UInt32 {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Surprise("stat \(path)") }
    return status.st_mode & 0o777
  }
}

/// The kind of error that `body` throws; nil if it returns.
func kind(_ body: () throws -> some Any) -> TransferError.Kind? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? TransferError)?.kind
  }
}
