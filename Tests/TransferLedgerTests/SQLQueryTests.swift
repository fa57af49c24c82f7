import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// What a person may query in SQL.
@Suite struct SQLQueryTests {
  let f: LedgerFixture

  init() throws {
    f = try LedgerFixture()
    try RulesTests.fill(f)
  }

  private func rows(_ sql: String, limit: Int = .max) throws(TransferError) -> (
    columns: [SQLColumn], rows: [[SQLFigure]]
  ) {
    try f.ledger.read { reader in
      var found: (columns: [SQLColumn], rows: [[SQLFigure]]) = ([], [])
      try reader.query(
        sql, within: SQLBudget(timeMs: nil), columns: { found.columns = $0 },
        row: {
          found.rows.append($0)
          return found.rows.count < limit
        })
      return found
    }
  }

  @Test func valuesKeepTheirType() throws {
    let found = try rows("SELECT 1 AS n, 2.5, 'a', x'00FF', NULL, path FROM v_files LIMIT 1")
    #expect(found.columns.map(\.name) == ["n", "2.5", "'a'", "x'00FF'", "NULL", "path"])
    #expect(found.columns.map(\.isBytes) == [false, false, false, false, false, true])
    #expect(
      found.rows == [
        [.integer(1), .real(2.5), .text("a"), .blob([0, 0xFF]), .null, .blob(Array("/src/done".utf8))]
      ])
  }

  /// An endless statement is stopped, and so is one whose value grows without limit; the ledger can be queried again.
  @Test func aStatementHasABudget() throws {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
    _ = try f.ledger.read { reader in
      #expect(throws: SQLBudget.Exceeded.self) {
        try reader.query(
          "\(endless) count(*) FROM n", within: SQLBudget(timeMs: 1), columns: { _ in }, row: { _ in true })
      }
    }
    #expect(throws: TransferError.self) { try rows("SELECT length(zeroblob(\(SQLBudget.longestValue + 1)))") }
    #expect(try rows("SELECT 1").rows == [[.integer(1)]])
  }

  /// The CPU time of `row` counts: rows that take long to print end the statement, too.
  @Test func theWorkForTheRowsCounts() throws {
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n"
    var count = 0
    _ = try f.ledger.read { reader in
      #expect(throws: SQLBudget.Exceeded.self) {
        try reader.query(
          many, within: SQLBudget(timeMs: 20), columns: { _ in },
          row: { _ in
            count += 1
            let endNs = threadNs() + 25_000_000
            while threadNs() < endNs {}
            return true
          })
      }
    }
    #expect(count == 1)
  }

  /// The CPU time of this thread, in nanoseconds.
  private func threadNs() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// Only the engine may read the URLs of upload sessions, by whatever name a query asks for them.
  @Test(arguments: [
    "SELECT remote_id, notes, remotes FROM session", "SELECT s.Remote_ID FROM Session AS s",
    "SELECT max(remote) FROM chunk",
    "SELECT remote_id || 'x' FROM (SELECT * FROM session)",
    "SELECT json_group_array(notes) FILTER (WHERE notes IS NOT NULL) FROM session",
  ])
  func capabilitiesAreNotShown(_ sql: String) throws {
    try f.shell(
      "UPDATE session SET state = 'open', remote_id = 'https://s3same/1', opened_at = 1 WHERE state = 'intended'")
    try f.shell("UPDATE session SET notes = '{\"a\":\"https://s3same/2\"}' WHERE ended_at IS NULL")
    try f.shell("UPDATE chunk SET remote = '{\"a\":\"https://s3same/3\"}' WHERE state <> 'pending'")
    let found = try rows(sql).rows
    #expect(!found.isEmpty && !"\(found)".contains("s3same"), "\(found)")
  }

  @Test(arguments: [
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n",
    "SELECT value FROM json_each('[1,2,3]')", "SELECT name FROM pragma_table_info('v_meta') LIMIT 3",
    "EXPLAIN QUERY PLAN SELECT 1 UNION SELECT 2", "SELECT id FROM v_files ORDER BY id LIMIT 3; -- the end",
    "VALUES (1), (2), (3)", "PRAGMA user_version", "PRAGMA table_info(file)",
  ])
  func readingIsAllowed(_ sql: String) throws { #expect(try rows(sql).rows.isEmpty == false) }

  @Test(arguments: [
    ("DELETE FROM event", "only SELECT"), ("UPDATE file SET priority = 1", "only SELECT"),
    ("INSERT INTO event (at, verb, detail) VALUES (1, 'x', '')", "only SELECT"),
    ("WITH x AS (SELECT 1) INSERT INTO event (at, verb, detail) SELECT 1, 'x', '' FROM x", "only SELECT"),
    ("CREATE TABLE x (a)", "only SELECT"), ("CREATE TEMP TABLE x (a)", "only SELECT"),
    ("DROP TABLE file", "only SELECT"),
    ("CREATE VIEW x AS SELECT 1", "only SELECT"), ("ALTER TABLE file RENAME TO x", "only SELECT"),
    ("ATTACH 'other.db' AS other", "only SELECT"), ("DETACH main", "only SELECT"), ("VACUUM", "only SELECT"),
    ("VACUUM INTO '/tmp/never.db'", "only SELECT"), ("BEGIN", "only SELECT"), ("COMMIT", "only SELECT"),
    ("ROLLBACK", "only SELECT"), ("SAVEPOINT x", "only SELECT"), ("REINDEX", "only SELECT"), ("ANALYZE", "only SELECT"),
    ("PRAGMA journal_mode = DELETE", "only SELECT"), ("PRAGMA query_only = OFF", "only SELECT"),
    ("PRAGMA user_version = 9", "only SELECT"), ("PRAGMA writable_schema = ON", "only SELECT"),
    ("PRAGMA wal_checkpoint(TRUNCATE)", "only SELECT"), ("SELECT load_extension('x')", "only SELECT"),
    ("SELECT 1; SELECT 2", "more than one"), ("SELECT 1; nonsense", "more than one"), ("", "no statement"),
    (" -- nothing", "no statement"), ("SELECT ?1", "parameters"), ("SELECT :a", "parameters"),
    ("SELEC 1", "syntax error"),
    ("SELECT * FROM v_nothing", "no such table"), ("SELECT nope FROM v_files", "no such column"),
  ])
  func everythingElseIsRefused(_ sql: String, _ part: String) throws {
    let before = try f.texts("PRAGMA data_version") + f.texts("SELECT count(*) FROM event")
    var refused: TransferError?
    do throws(TransferError) { _ = try rows(sql) } catch { refused = error }
    #expect(refused?.kind == .usage, "\(sql)")
    #expect(refused?.cause.contains(part) == true, "\(sql): \(refused?.cause ?? "it ran")")
    #expect(try f.texts("PRAGMA data_version") + f.texts("SELECT count(*) FROM event") == before)
  }

  @Test func whatIsReadAfterARefusalIsReadAsBefore() throws {
    #expect(throws: TransferError.self) { try rows("DELETE FROM event") }
    #expect(try rows("SELECT count(*) FROM v_files").rows == [[.integer(6)]])
    #expect(try f.ledger.read { try $0.countFiles(RowFilter()) } == 6)
  }

  @Test func theReaderMayStop() throws { #expect(try rows("SELECT id FROM v_files", limit: 2).rows.count == 2) }

  @Test func theBugOfTheLogIsKnownByItsVersions() {
    let affected = [3_007_000, 3_040_001, 3_044_005, 3_045_000, 3_049_002, 3_050_006, 3_051_002]
    let free = [3_006_023, 3_044_006, 3_050_007, 3_051_003, 3_052_000, 3_053_004]
    #expect(affected.filter { !SQLiteLibrary.hasWALResetBug(versionNumber: $0) }.isEmpty)
    #expect(free.filter { SQLiteLibrary.hasWALResetBug(versionNumber: $0) }.isEmpty)
  }

  @Test func aLookAtTheFileShowsWhoHasIt() throws {
    let condition = StoreCondition(at: f.path)
    #expect(condition.exists && condition.isOwn && condition.mode == 0o600 && condition.folderIsWritable)
    #expect(condition.lock == .held(pid: getpid()) || condition.lock == .held(pid: nil))
    #expect((condition.freeBytes ?? 0) > 0 && condition.walBytes > 0 && condition.unsafeFileSystem == nil)
    try f.restart()
    #expect(StoreCondition(at: f.path).lock == .free)
    let none = StoreCondition(at: f.folder + "/none/x.db")
    #expect(!none.exists && !none.folderExists && none.mode == nil && none.lock == .free)
  }

  @Test func theStoreCountsItself() throws {
    let numbers = try f.ledger.read { try $0.storeNumbers() }
    #expect(numbers.files == 6 && numbers.batches == 1 && numbers.runs == 2 && numbers.journalMode == "wal")
    #expect(numbers.bytes > 0 && numbers.createdMs == f.clock.wallMs && numbers.newestMs == f.clock.wallMs)
    #expect(try numbers.attempts == Int64(f.texts("SELECT count(*) FROM v_attempts")[0]))
  }
}
