import CSQLite
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Copies of a ledger: their content, the state they are left in, and that no existing file is damaged.
@Suite struct CopyTests {
  let f: LedgerFixture
  private var target: String { f.folder + "/copy.db" }

  init() throws {
    f = try LedgerFixture()
    try RulesTests.fill(f)
  }

  @discardableResult
  private func copy(
    _ kind: LedgerCopy, to target: String? = nil, replacing: Bool = false, isCancelled: @escaping () -> Bool = { false }
  ) throws(TransferError) -> Int64 {
    try Ledger.copy(f.path, as: kind, to: target ?? self.target, replacing: replacing, isCancelled: isCancelled)
  }

  private func refusal(_ body: () throws(TransferError) -> Void) -> TransferError? {
    do throws(TransferError) { try body() } catch { return error }
    return nil
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test(arguments: LedgerCopy.allCases) func aCopyHoldsWhatTheLedgerHolds(_ kind: LedgerCopy) throws {
    let size = try copy(kind)
    let copied = try Ledger.open(at: target, mode: .readOnly, clock: f.clock)
    defer { copied.close() }
    #expect(try copied.read { try $0.check() } == f.ledger.read { try $0.check() })
    #expect(try copied.read { try $0.integrityProblems() }.isEmpty)
    #expect(try copied.read { try $0.totals(RowFilter()) } == f.ledger.read { try $0.totals(RowFilter()) })
    var (facts, original) = (try copied.read { try $0.storeFacts() }, try f.ledger.read { try $0.storeFacts() })
    #expect(facts.uid != original.uid, "a copy is a separate ledger")
    (facts.uid, original.uid) = ("", "")
    #expect(facts == original)
    #expect(try Int64(fileBytes(target).count) == size)
  }

  /// Capabilities that only the engine may use are in a backup, but in no byte of a snapshot.
  @Test(arguments: ["https://up.example/s3same-1", "s3same-1"])
  func aSnapshotHoldsNoNameOfASession(_ name: String) throws {
    try f.shell("UPDATE session SET state = 'open', remote_id = '\(name)', opened_at = 1 WHERE state = 'intended'")
    try f.shell(
      "UPDATE session SET notes = '{\"s.url\":\"https://up.example/s3same-2\"}' WHERE ended_at IS NULL")
    try f.shell("UPDATE chunk SET remote = '{\"url\":\"https://up.example/s3same-3\"}' WHERE state <> 'pending'")
    let secrets = ["s3same-1", "s3same-2", "s3same-3"]
    try copy(.backup)
    let backup = String(decoding: try fileBytes(target), as: UTF8.self)
    #expect(secrets.allSatisfy { backup.contains($0) })
    try copy(.snapshot, replacing: true)
    let snapshot = String(decoding: try fileBytes(target), as: UTF8.self)
    #expect(!secrets.contains { snapshot.contains($0) } && !snapshot.contains("up.example/s3same"))
    let copied = try Ledger.open(at: target, mode: .readOnly, clock: f.clock)
    defer { copied.close() }
    #expect(try copied.read { try $0.check() } == f.ledger.read { try $0.check() })
    #expect(try copied.read { try $0.integrityProblems() }.isEmpty)
    let schema = { (ledger: Ledger) in
      try ledger.read { reader in
        var found: [[SQLFigure]] = []
        try reader.query(
          "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name", within: SQLBudget(timeMs: nil),
          columns: { _ in },
          row: {
            found.append($0)
            return true
          })
        return found
      }
    }
    #expect(try schema(copied) == schema(f.ledger))
  }

  @Test func aSnapshotNeedsNoLogAndABackupHasOne() throws {
    try copy(.snapshot)
    #expect(try fileBytes(target)[18...19] == [1, 1], "rollback journal: sqlite.org/fileformat.html section 1.3")
    #expect(mode(target) == 0o400)
    let backup = f.folder + "/backup.db"
    try copy(.backup, to: backup)
    #expect(try fileBytes(backup)[18...19] == [2, 2])
    #expect(mode(backup) == 0o600)
    #expect(try fileNames(in: f.folder).filter { $0.contains("copy") || $0.contains("part") } == ["copy.db"])
  }

  @Test(arguments: LedgerCopy.allCases) func oneCanGoOnWithACopy(_ kind: LedgerCopy) throws {
    try copy(kind)
    chmod(target, 0o600)
    let copied = try Ledger.open(at: target, mode: .existing, clock: f.clock)
    defer { copied.close() }
    _ = try copied.startRun(NewRun(argv: ["run"], version: "1", host: "h", bootID: "b", pid: 1))
    #expect(try copied.read { try $0.newestRun() }?.pid == 1)
  }

  /// Files that were not at rest are in doubt once in a copy, unless a person trusts it; never in the ledger itself.
  @Test(arguments: LedgerCopy.allCases) func aCopyDoubtsWhatWasNotAtRest(_ kind: LedgerCopy) throws {
    try copy(kind)
    chmod(target, 0o600)
    let copied = try Ledger.open(at: target, mode: .existing, clock: f.clock)
    defer { copied.close() }
    let start = { (ledger: Ledger) in
      let run = try ledger.startRun(NewRun(argv: ["run"], version: "1", host: "h", bootID: "b", pid: 1))
      return try ledger.write { tx in
        _ = try tx.recover(run)
        return (run, try tx.claimFiles(run, limit: 9))
      }
    }
    let (run, files) = try start(copied)
    let known = files.filter { !$0.isDoubtful }
    #expect(!files.isEmpty && known.isEmpty)
    try copied.write { tx in
      for file in files {
        let result = try tx.markUnknown(file.id, run, code: .engineCopied, message: "copied")
        #expect(result == .applied)
      }
    }
    #expect(try copied.read { try $0.check() } == f.ledger.read { try $0.check() })
    try copied.write { tx in
      _ = try tx.retryFiles(RowFilter(), startsOver: false)
      _ = try tx.admit(LedgerFixture.source("new"), to: BatchID(rawValue: 1))
    }
    let again = try copied.write { try $0.claimFiles(run, limit: 9) }
    let (paths, doubtful) = (again.map(\.path), again.filter { $0.isDoubtful })
    #expect(paths.contains(NameBytes("/src/new")) && doubtful.isEmpty)
    let own = try start(f.ledger).1.filter { $0.isDoubtful }
    #expect(own.isEmpty)
  }

  @Test(arguments: LedgerCopy.allCases) func whatIsWrittenMeanwhileIsNotHalfThere(_ kind: LedgerCopy) throws {
    let batch = BatchID(rawValue: 1)
    var asked = 0
    let ledger = f.ledger
    // Each call happens in the middle of the copying; it commits a transaction of another connection.
    try copy(kind) {
      asked += 1
      if asked <= 3 {
        let name = "late-\(asked)"
        _ = try? ledger.write { try $0.admit(LedgerFixture.source(name), to: batch) }
      }
      return false
    }
    let copied = try Ledger.open(at: target, mode: .readOnly, clock: f.clock)
    defer { copied.close() }
    #expect(try copied.read { try $0.check() } == f.ledger.read { try $0.check() })
    if kind == .backup { #expect(asked >= 1) }
  }

  @Test(arguments: LedgerCopy.allCases) func whatIsThereStays(_ kind: LedgerCopy) throws {
    try f.write(target, "precious")
    let refused = refusal { () throws(TransferError) in try copy(kind) }
    #expect(refused?.kind == .usage && refused?.cause == "it exists")
    #expect(try fileBytes(target) == Array("precious".utf8))
    try copy(kind, replacing: true)
    #expect(try fileBytes(target).starts(with: Array("SQLite format 3".utf8)))
  }

  @Test func namesThatWouldDoHarmAreRefused() throws {
    try f.write(f.folder + "/old.db-wal", "log")
    mkdir(f.folder + "/folder", 0o700)
    defer { rmdir(f.folder + "/folder") }
    for (name, part) in [
      ("transfers.db", "belongs to the ledger"), ("transfers.db-wal", "belongs to the ledger"),
      ("transfers.db.lock", "belongs to the ledger"), ("old.db", "would mix"), ("folder", "folder"),
      ("none/x.db", "folder does not exist"), ("..", "not a file name"),
    ] {
      let refused = refusal { () throws(TransferError) in
        try copy(.snapshot, to: f.folder + "/" + name, replacing: true)
      }
      #expect(refused?.kind == .usage, "\(name)")
      #expect(refused?.cause.contains(part) == true, "\(name): \(refused?.cause ?? "copied")")
    }
    #expect(try f.findings() == [])
  }

  @Test func aCopyThatIsStoppedLeavesNothing() throws {
    let names = try fileNames(in: f.folder)
    let stopped = refusal { () throws(TransferError) in try copy(.backup) { true } }
    #expect(stopped?.kind == .interrupted)
    #expect(try fileNames(in: f.folder) == names)
  }

  private func newestPid(_ ledger: Ledger) throws -> Int64? { try ledger.read { try $0.newestRun()?.pid } }

  private func startRun(_ ledger: Ledger, pid: Int32) throws {
    _ = try ledger.startRun(NewRun(argv: ["run"], version: "1", host: "h", bootID: "b", pid: pid))
  }

  private var besideTheCopy: [String] {
    get throws { try fileNames(in: f.folder).filter { $0.hasPrefix("copy.db") } }
  }

  @Test func readersLeaveNothingBesideACopy() throws {
    try copy(.backup)
    let readers = try (0..<2).map { _ in try Ledger.open(at: target, mode: .readOnly, clock: f.clock) }
    for reader in readers { #expect(try reader.read { try $0.integrityProblems() }.isEmpty) }
    for reader in readers { reader.close() }
    _ = try Ledger.copy(target, as: .snapshot, to: f.folder + "/second", replacing: false, isCancelled: { false })
    #expect(try besideTheCopy == ["copy.db"])
    try copy(.backup, replacing: true)
  }

  /// Readers see what the engine writes, and never half a transaction.
  @Test func anEngineMayBeginWhileACopyIsRead() throws {
    try copy(.backup)
    let readers = try (0..<2).map { _ in try Ledger.open(at: target, mode: .readOnly, clock: f.clock) }
    defer { for reader in readers { reader.close() } }
    #expect(try newestPid(readers[0]) != 99)
    var (engine, passes): (Ledger?, Int) = (nil, 0)
    let seen = try readers[1].read { reader in
      passes += 1
      if engine == nil {
        engine = try Ledger.open(at: target, mode: .existing, clock: f.clock)
        try startRun(try #require(engine), pid: 99)
      }
      return try reader.newestRun()?.pid
    }
    #expect(passes == 2 && seen == 99)
    #expect(try newestPid(readers[0]) == 99)
    // The WAL is emptied, not removed.
    engine?.close()
    #expect(try newestPid(readers[0]) == 99)
    #expect(try besideTheCopy.contains("copy.db-wal"))
  }

  /// The empty WAL was left by an earlier reader.
  @Test func anEmptyLogOfWhatIsReplacedIsNoHindrance() throws {
    try copy(.backup)
    var reader: Connection? = try Connection(path: target, access: .readWrite)
    try reader?.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    _ = try reader?.first("SELECT count(*) FROM file") { $0.int(0) }
    #expect(try besideTheCopy.contains("copy.db-wal"))
    let asked = refusal { () throws(TransferError) in try copy(.backup, replacing: true) }
    #expect(asked?.cause.contains("would mix") == true, "another process has it open")
    reader = nil
    #expect(try besideTheCopy.contains("copy.db-wal"))
    #expect(refusal { () throws(TransferError) in try copy(.backup) } != nil)
    try copy(.backup, replacing: true)
    #expect(try besideTheCopy == ["copy.db"])
  }

  @Test func aLogWithFramesIsNeverRemoved() throws {
    try copy(.backup)
    let other = try Connection(path: target, access: .readWrite)
    try other.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try other.execute("CREATE TABLE other(n)")
    let log = try fileBytes(target + "-wal")
    #expect(!log.isEmpty)
    #expect(refusal { () throws(TransferError) in try copy(.backup, replacing: true) } != nil)
    #expect(try fileBytes(target + "-wal") == log)
  }

  @Test func noLedgerNoCopy() throws {
    let missing = refusal { () throws(TransferError) in
      _ = try Ledger.copy(f.folder + "/none.db", as: .backup, to: target, replacing: false, isCancelled: { false })
    }
    #expect(missing?.kind == .storeMissing)
    #expect(access(target, F_OK) != 0)
  }
}

extension LedgerFixture {
  func write(_ path: String, _ text: String) throws {
    guard let file = fopen(path, "w") else { throw Surprise("open \(path)") }
    defer { fclose(file) }
    fputs(text, file)
  }
}
