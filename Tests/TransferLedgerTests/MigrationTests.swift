import CSQLite
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// A second migration, used only in these tests, on a ledger with rows: it rewrites a table, fills a column, and
/// replaces a rule and a view.
@Suite struct MigrationTests {
  static let next = Migrations(
    steps: Migrations.embedded.steps + [
      (
        name: "9999_test",
        sql: """
        ALTER TABLE event ADD COLUMN weight INTEGER;
        DROP TRIGGER event_fixed;
        UPDATE event SET weight = length(detail);
        CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(FAIL, 'an event does not change'); END;
        CREATE TABLE weighed (event_id INTEGER PRIMARY KEY, weight INTEGER NOT NULL) STRICT;
        INSERT INTO weighed SELECT id, weight FROM event;
        DROP VIEW v_events;
        CREATE VIEW v_events AS SELECT id, at, verb, batch_id, part_of, 0 AS files, detail, weight FROM event;
        INSERT INTO view_doc VALUES ('v_events', 'weight', 'INTEGER', 'bytes', 'Length of the detail.');
        """
      )
    ])
  private static let events = 500

  /// A ledger of the first schema with a file and many events, closed.
  private func filled() throws -> LedgerFixture {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    try f.ledger.write { tx in
      for i in 0..<Self.events { try tx.recordEvent("told", batch: nil, file: nil, detail: "event \(i)") }
    }
    f.ledger.close()
    return f
  }

  /// Replaces the content of the file.
  private static func write(to path: String, _ bytes: [UInt8]) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
  }

  private func expectUpgraded(_ f: LedgerFixture) throws {
    #expect(try f.texts("PRAGMA user_version") == ["\(Self.next.count)"])
    #expect(try f.texts("SELECT count(*), sum(weight) FROM v_events WHERE verb = 'told'") == ["\(Self.events) 4390"])
    #expect(
      try f.texts("SELECT count(*) FROM weighed JOIN v_events ON id = event_id")
        == f.texts("SELECT count(*) FROM event"))
    #expect(try f.texts("PRAGMA integrity_check; ") == ["ok"])
    #expect(try f.texts("PRAGMA foreign_key_check") == [])
  }

  @Test func rowsStayAndTheNewSchemaHolds() throws {
    let f = try filled()
    let files = try f.texts("SELECT * FROM v_files")
    try Ledger.open(at: f.path, mode: .existing, clock: f.clock, migrations: Self.next).close()
    try expectUpgraded(f)
    #expect(try f.texts("SELECT * FROM v_files") == files)
    #expect(throws: SQLiteError.self) { try f.shell("UPDATE event SET weight = 0") }
  }

  /// A read-only open upgrades nothing, and fails with `storeReadOnly`.
  @Test func readersUpgradeNothing() throws {
    let f = try filled()
    let before = try fileBytes(f.path)
    let error = #expect(throws: TransferError.self) {
      _ = try Ledger.open(at: f.path, mode: .readOnly, clock: f.clock, migrations: Self.next)
    }
    #expect(error?.kind == .storeReadOnly)
    #expect(try fileBytes(f.path) == before)
  }

  /// A SIGKILL instead of each call that changes a file leaves the old ledger or the new one, and the next open
  /// produces the new one.
  @Test func aKillAtAnyCallLeavesTheOldLedgerOrTheNewOne() async throws {
    let f = try filled()
    let path: String = f.path
    let count: String = f.folder + "/calls"
    let pristine = try fileBytes(path)
    await #expect(processExitsWith: .success) { [path = path as String, count = count as String] in
      KilledCalls.install(at: .max)
      try Ledger.open(at: path, mode: .existing, clock: HandClock(), migrations: MigrationTests.next).close()
      try MigrationTests.write(to: count, Array("\(KilledCalls.made)".utf8))
    }
    let calls = try #require(Int(String(decoding: try fileBytes(count), as: UTF8.self)))
    #expect(calls > 5)
    var versions: Set<String> = []
    for call in 1...calls {
      for name in ["-wal", "-shm"] { unlink(path + name) }
      try Self.write(to: path, pristine)
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, call = call as Int] in
        KilledCalls.install(at: call)
        try Ledger.open(at: path, mode: .existing, clock: HandClock(), migrations: MigrationTests.next).close()
      }
      let version = try f.texts("PRAGMA user_version").joined()
      versions.insert(version)
      let isNew = try f.texts("SELECT count(*) FROM sqlite_schema WHERE name = 'weighed'") == ["1"]
      #expect(version == "\(isNew ? Self.next.count : Migrations.embedded.count)")
      try Ledger.open(at: path, mode: .existing, clock: f.clock, migrations: Self.next).close()
      try expectUpgraded(f)
    }
    #expect(versions.count == 2)
  }
}

/// The calls by which SQLite changes files; the chosen one kills the process. Only for a separate process. Source:
/// https://sqlite.org/c3ref/vfs.html, xSetSystemCall; names of os_unix.c, 3.40.1.
private enum KilledCalls {
  nonisolated(unsafe) static var made = 0
  nonisolated(unsafe) private static var deadly = 0

  static func install(at call: Int) {
    deadly = call
    let write: @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int = { fd, bytes, count in
      KilledCalls.note()
      return Glibc.write(fd, bytes, count)
    }
    let pwrite: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { fd, bytes, count, offset in
      KilledCalls.note()
      return Glibc.pwrite(fd, bytes, count, offset)
    }
    let ftruncate: @convention(c) (Int32, off_t) -> Int32 = { fd, length in
      KilledCalls.note()
      return Glibc.ftruncate(fd, length)
    }
    let unlink: @convention(c) (UnsafePointer<CChar>?) -> Int32 = { path in
      KilledCalls.note()
      return path.map { Glibc.unlink($0) } ?? -1
    }
    guard let vfs = sqlite3_vfs_find("unix") else { return }
    func replace(_ name: String, _ call: sqlite3_syscall_ptr) { _ = vfs.pointee.xSetSystemCall(vfs, name, call) }
    replace("write", unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
    replace("pwrite", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self))
    replace("pwrite64", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self))
    replace("ftruncate", unsafeBitCast(ftruncate, to: sqlite3_syscall_ptr.self))
    replace("unlink", unsafeBitCast(unlink, to: sqlite3_syscall_ptr.self))
  }

  private static func note() {
    made += 1
    if made == deadly { kill(getpid(), SIGKILL) }
  }
}
