import CSQLite
import Testing
import TransferModel

@testable import TransferLedger

/// Every table of the schema refuses that another program deletes, replaces or renumbers its rows: also a table that
/// someone adds without rules.
@Suite struct EveryTableTests {
  /// Sums are deleted when their rows change and written again by a run; `store check` compares them with the rows.
  static let sums: Set<String> = ["attempt_sum", "file_sum"]

  /// Rows for the tables that ``RulesTests/fill(_:)`` leaves empty.
  static let more = """
    UPDATE file SET state = 'settling', cause = 'source.settling' WHERE id = 3;
    INSERT INTO look VALUES (3, 1, 0, 5, NULL);
    INSERT INTO removal (file_id, inode, recorded_at) VALUES (1, 1, 0);
    INSERT INTO absent_source VALUES (4, 0);
    INSERT INTO callback (id, batch_id, event, kind, target, secret) VALUES (1, 1, 'done', 'exec', 'true', '');
    INSERT INTO outbox (id, callback_id, file_id, state) VALUES (1, 1, 1, 'delivering');
    INSERT INTO delivery (outbox_id, n, started_at, outcome) VALUES (1, 1, 0, 'open');
    INSERT INTO callback_loss VALUES (1, 1, 0, 0);
    INSERT INTO scan VALUES (1, '', 'p', '{}', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    INSERT INTO series (id, destination_id, key, number, path, start, size, digest, head, mtime_ns, ctime_ns, inode,
      device, boot, began_at, grown_at)
    VALUES (1, 1, x'61', 1, x'61', 0, 5, 'sha256:0', 'sha256:0', 1, 1, 1, 1, 1, 1, 1);
    INSERT INTO segment (file_id, series_id, start, digest) VALUES (1, 1, 0, 'sha256:0');
    INSERT INTO prune VALUES (1, 1, 1, 1);
    INSERT INTO pruned_range VALUES ('attempt', 900, 900, 1);
    INSERT INTO pruned_file VALUES (1, 1, 1, 0, 0);
    INSERT INTO pruned_sum VALUES (1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}', x'', x'', 0, 0, 0, 0, '{}',
      x'', x'', '{}', '{}', 0);
    """

  private func filled() throws -> LedgerFixture {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    try RulesTests.addUp(f)
    let shell = try Connection(path: f.path, access: .readWrite)
    try shell.execute("PRAGMA foreign_keys = OFF; BEGIN")
    let guards = try shell.rowsOnce("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
      ($0.text(0), $0.text(1))
    }
    for (name, _) in guards { try shell.execute("DROP TRIGGER \(name)") }
    try shell.execute(Self.more)
    for (_, sql) in guards { try shell.execute(sql) }
    try shell.execute("COMMIT")
    return f
  }

  private struct Table {
    var name: String
    var columns: [String]
    var keys: [(name: String, type: String)]
    var hasRowid: Bool

    /// Statements that delete, replace or renumber each row.
    var statements: [String] {
      let all = columns.map { "\"\($0)\"" }.joined(separator: ", ")
      let renumbered = keys.map { key in
        let next = key.type == "INTEGER" ? "\(key.name) + 1" : "CAST(\(key.name) || 'x' AS \(key.type))"
        return "UPDATE OR REPLACE \(name) SET \(key.name) = \(next)"
      }
      return ["DELETE FROM \(name)", "INSERT OR REPLACE INTO \(name) (\(all)) SELECT \(all) FROM \(name)"]
        + renumbered + (hasRowid ? ["UPDATE OR REPLACE \(name) SET rowid = rowid + 1"] : [])
    }
  }

  private func tables(_ shell: Connection) throws -> [Table] {
    let found = try shell.rowsOnce(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
    ) { ($0.text(0), $0.text(1)) }
    return try found.map { name, sql in
      let columns = try shell.rowsOnce("SELECT name, type, pk FROM pragma_table_info('\(name)')") {
        (name: $0.text(0), type: $0.text(1), isKey: $0.int64(2) > 0)
      }
      return Table(
        name: name, columns: columns.map(\.name), keys: columns.filter(\.isKey).map { (name: $0.name, type: $0.type) },
        hasRowid: !sql.contains("WITHOUT ROWID"))
    }
  }

  @Test func rowsOfEveryTableAreKept() throws {
    let f = try filled()
    let shell = try Connection(path: f.path, access: .readWrite)
    let tables = try tables(shell)
    #expect(tables.count > 35)
    for table in tables where !Self.sums.contains(table.name) {
      #expect(try f.texts("SELECT 1 FROM \(table.name) LIMIT 1") == ["1"], "\(table.name) has no row to lose")
      for sql in table.statements {
        try shell.execute("SAVEPOINT one")
        let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
        #expect(error?.code == SQLITE_CONSTRAINT | (7 << 8), "\(sql): \(error?.message ?? "")")
        try shell.execute("ROLLBACK TO one; RELEASE one")
      }
    }
  }

  @Test func whatBindsEnginesChangesOnlyWithAnEvent() throws {
    let f = try filled()
    let quota = JobQuota(bytes: 20, per: .week)
    let two = ["put:one", "put:three"].map { JobDestination(place: $0, prefix: NameBytes(""), destination: $0) }
    try f.ledger.write { tx in try tx.setQuota(ofJob: "nightly", quota) }
    try f.ledger.write { tx in try tx.noteQuotaReached("nightly", quota) }
    // The event has permitted this change, and no other, although it is still the newest.
    for sql in [
      "DELETE FROM job_quota", "UPDATE job_quota SET bytes = 1 << 40", "UPDATE job_quota SET after_event = 0",
      "UPDATE job_quota SET bytes = 1 << 40, after_event = (SELECT max(id) FROM event)",
    ] {
      #expect(throws: SQLiteError.self, "\(sql)") { try f.shell(sql) }
    }
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", Set(two)) }
    #expect(throws: SQLiteError.self) { try f.shell("DELETE FROM job_destination") }
    #expect(try f.texts("SELECT place FROM job_destination ORDER BY 1") == ["put:one", "put:three"])
    // The event of one job, or about something else, permits nothing for another.
    try f.ledger.write { tx in try tx.setQuota(ofJob: "night", quota) }
    for sql in [
      "DELETE FROM job_quota WHERE job = 'nightly'", "UPDATE job_quota SET bytes = 1 << 40 WHERE job = 'nightly'",
      "DELETE FROM job_destination",
    ] {
      #expect(throws: SQLiteError.self, "\(sql)") { try f.shell(sql) }
    }
    try f.ledger.write { tx in try tx.setQuota(ofJob: "nightly", nil) }
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", []) }
    #expect(try f.texts("SELECT job FROM job_quota UNION ALL SELECT job FROM job_destination") == ["night"])
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'set' ORDER BY id DESC LIMIT 2")
        == ["destinations of job nightly: only one", "quota of job nightly: none"])
  }
}
