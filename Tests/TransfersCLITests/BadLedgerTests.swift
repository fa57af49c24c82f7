import Glibc
import Testing

@testable import TransferLedger
@testable import TransferModel

/// Each kind of bad ledger has its own code, and one line that names the problem, the file and the remedy.
@Suite struct BadLedgerTests {
  let program: BuiltProgram
  private var store: String { program.folder.path + "/l.db" }

  init() throws { program = try BuiltProgram() }

  @Test(arguments: [
    ["status"], ["list"], ["list", "attempts"], ["show", "f1"], ["why", "f1"], ["report"], ["report", "failures"],
    ["retry", "--all"],
    ["store", "check"], ["store", "schema"], ["run"],
  ])
  func missing(_ arguments: [String]) throws {
    let outcome = try program.run((arguments + ["--store", store]).map { Array($0.utf8) })
    #expect(outcome.code == 7)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.hasPrefix("transfers: error[store.missing]: "))
    #expect(outcome.err.contains(store))
    #expect(outcome.err.split(separator: "\n").count == 1)
    #expect(access(store, F_OK) != 0, "reading must not create a ledger")
  }

  @Test func missingIsSaidInJSONToo() throws {
    let outcome = try program.run("status", "--json", "--store", store)
    #expect(outcome.code == 7)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains(#""code":7,"error":"store.missing""#))
    #expect(outcome.err.contains(#""name":"store""#))
  }

  @Test func notALedger() throws {
    try writeFile(store, Array(repeating: 0x61, count: 8192))
    try expect(code: 7, "store.corrupt", try program.run("status", "--store", store))
    #expect(try readText(store) == String(repeating: "a", count: 8192), "the file must not be changed")
  }

  @Test func newer() throws {
    _ = try FilledLedger(in: program.folder)
    let path = program.folder.path + "/ledger.db"
    // user_version is the big-endian number at offset 60. Source: https://sqlite.org/fileformat.html section 1.3.
    try patch(path, at: 60, [0, 0, 0, 99])
    try expect(code: 7, "store.newer", try program.run("status", "--store", path))
    try expect(code: 7, "store.newer", try program.run("retry", "--all", "--store", path))
  }

  /// Reading does not change a ledger. A command that changes rows upgrades it first, even after an engine was killed.
  @Test func older() throws {
    try writeFile(store, [])
    let old = try Connection(path: store, access: .readWrite)
    try old.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
    for migration in Migrations.embedded.steps.dropLast() { try old.execute(migration.sql) }
    try old.execute(
      "PRAGMA application_id=\(Store.applicationID); PRAGMA user_version=\(Migrations.embedded.count - 1)")
    let uid = "\(UID.makeChecked(wallMs: 0))".filter { $0 != "-" }
    try old.execute(
      """
      INSERT INTO store_meta (id, uid, schema_version, view_version, created_by, created_at)
      VALUES (1, x'\(uid)', 3, 1, 'transfers', 0)
      """)
    for command in ["status", "list", "report"] {
      let looked = try program.run(command, "--store", store)
      try expect(code: 7, "store.read_only", looked)
      #expect(looked.err.contains("must be upgraded. Try: run \"transfers run\" once"))
    }
    #expect(try program.run("run", "--store", store).code == 0)
    #expect(try program.run("status", "--store", store).code == 0)
    #expect(try program.run("store", "check", "--store", store).code == 0)
    withExtendedLifetime(old) {}
  }

  @Test(.enabled(if: geteuid() != 0, "root may read everything"))
  func unreadable() throws {
    _ = try FilledLedger(in: program.folder)
    let path = program.folder.path + "/ledger.db"
    chmod(path, 0)
    let outcome = try program.run("status", "--store", path)
    #expect(outcome.code == 7)
  }

  @Test func aFolderIsNoLedger() throws {
    try expect(code: 7, "store.", try program.run("status", "--store", program.folder.path))
  }

  private func expect(code: Int32, _ name: String, _ outcome: BuiltProgram.Outcome) throws {
    #expect(outcome.code == code)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.hasPrefix("transfers: error[\(name)"), "\(outcome.err)")
    #expect(outcome.err.split(separator: "\n").count == 1)
  }

  private func patch(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
    guard let file = fopen(path, "r+") else { throw SystemFailure("open \(path)") }
    defer { fclose(file) }
    fseek(file, offset, SEEK_SET)
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
  }
}
