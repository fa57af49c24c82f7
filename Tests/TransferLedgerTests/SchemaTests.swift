import CMigrations
import CSQLite
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

@Suite struct SchemaTests {
  @Test func theEmbeddedMigrationsAreTheFolder() throws {
    let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/migrations"
    let names = try fileNames(in: folder)
    #expect(names == Migrations.embedded.steps.map { $0.name + ".sql" })
    for (name, migration) in zip(names, Migrations.embedded.steps) {
      #expect(try fileBytes(folder + "/" + name) == Array(migration.sql.utf8), "\(name)")
    }
  }

  /// `docs/schema.sql` is the result of all migrations in one file. `RECORD_SNAPSHOTS=1` writes it.
  @Test func theSchemaIsWrittenDown() throws {
    let path = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/docs/schema.sql"
    let f = try LedgerFixture()
    let parts = try f.texts(
      """
      SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
      ORDER BY type = 'view', tbl_name, type = 'trigger', type = 'index', name
      """)
    let schema =
      "-- Generated from migrations/ by a test: what a ledger is made of.\n\n" + parts.joined(separator: "\n\n") + "\n"
    if getenv("RECORD_SNAPSHOTS") != nil {
      let file = try #require(fopen(path, "w"))
      fputs(schema, file)
      fclose(file)
    }
    #expect(String(decoding: try fileBytes(path), as: UTF8.self) == schema)
  }

  @Test func everyViewColumnIsDocumented() throws {
    let f = try LedgerFixture()
    let columns = try f.texts(
      """
      SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p
      WHERE m.type = 'view' ORDER BY m.name, p.name
      """)
    #expect(try f.texts("SELECT view, \"column\" FROM view_doc ORDER BY view, \"column\"") == columns)
    #expect(columns.count > 80)
  }

  @Test(arguments: [
    (
      "v_files",
      """
      id, uid, batch_id, generation, path, destination, key, size, state, cause, attempts, bytes_acked, bytes_transferred,
      confirmed_by, digest, started_at, finished_at
      """
    ),
    ("v_chunks", "id, file_id, seq, offset, length, state, attempts, digest"),
    (
      "v_attempts",
      """
      id, uid, file_id, chunk_id, run_id, operation, n, started_at, ended_at, outcome, error_code, http_status,
      curl_code, bytes_transferred, bytes_acked, connect_ms, first_byte_ms, total_ms, remote_ip, request_id
      """
    ),
    ("v_batches", "id, uid"), ("v_events", "id, at, verb, batch_id, part_of, files"),
    ("v_event_ranges", "event_id, first_file, last_file"), ("v_runs", "id, uid"),
    ("v_meta", "store_uid, schema_version, view_version, created_by"),
  ])
  func thePublicColumnsAreThere(view: String, columns: String) throws {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    #expect(try f.texts("SELECT \(columns) FROM \(view)").isEmpty == false)
  }

  @Test func theErrorCodesAreThoseOfTheProgram() throws {
    let f = try LedgerFixture()
    let known = ErrorCode.allCases.map { "\($0.rawValue) \($0.category.rawValue)" }.sorted()
    #expect(try f.texts("SELECT code, category FROM v_errors WHERE hint <> '' ORDER BY code") == known)
  }

  /// SQLite copies each page that a statement changes into a statement journal if the statement may abort after its
  /// first write. Source: sqlite3VdbeAssertMayAbort in src/vdbeaux.c, 3.40.1: a Halt that aborts, a function, an
  /// immediate foreign key.
  @Test func theStatementsOfEveryFileNeedNoJournalOfTheirOwn() throws {
    let f = try LedgerFixture()
    try RulesTests.fill(f)
    try f.ledger.write { tx in
      var texts: [String] = []
      var statement = sqlite3_next_stmt(tx.db.db, nil)
      while let found = statement {
        texts.append(String(cString: sqlite3_sql(found)))
        statement = sqlite3_next_stmt(tx.db.db, found)
      }
      let single = texts.filter { $0.contains(" OR FAIL ") }
      #expect(single.count >= 10)
      for text in single {
        let aborting = try tx.db.rowsOnce("EXPLAIN \(text)") { row in
          let (code, p1, p2) = (row.text(1), row.int(2), row.int(3))
          let aborts = code.hasPrefix("Halt") && p1 != 0 && p2 == 2 || code == "Function" || code == "PureFunc"
          return aborts || code == "FkCounter" && p1 == 0 ? "\(code) \(row.textOrNil(5) ?? "")" : nil
        }
        #expect(aborting.compactMap(\.self) == [], "\(text)")
      }
    }
  }

  /// The statements whose cost must not grow with the ledger, and how SQLite runs them.
  @Test(
    arguments: [
      (
        LedgerTransaction.promoteFiles,
        [
          "SEARCH file USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 1",
          "SEARCH file USING COVERING INDEX file_waiting (not_before>? AND not_before<?)",
        ]
      ),
      (LedgerTransaction.readyFiles, ["SCAN file USING INDEX file_ready"]),
      (Connection.readyHead, ["SEARCH file USING COVERING INDEX file_ready_batch (batch_id>?)"]),
      (Connection.readyOfBatch, ["SEARCH file USING COVERING INDEX file_ready_batch (batch_id=?)"]),
      (
        Connection.readyOfOtherSizes,
        [
          "SEARCH file USING COVERING INDEX file_ready_batch (batch_id=?)", "CORRELATED SCALAR SUBQUERY 1",
          "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (file_id=?)",
        ]
      ),
      (
        Connection.readyBehind,
        [
          "SEARCH file USING COVERING INDEX file_ready_batch (batch_id=? AND priority=? AND id>?)",
          "CORRELATED SCALAR SUBQUERY 1", "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (file_id=?)",
        ]
      ),
      (
        Connection.readyOfSizes,
        [
          "SEARCH file USING INDEX file_ready_batch (batch_id=?)", "CORRELATED SCALAR SUBQUERY 1",
          "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (file_id=?)",
        ]
      ),
      (
        LedgerTransaction.batchCallbacks,
        [
          "SEARCH o USING INDEX outbox_batch_ended (ended_at>? AND ended_at<?)",
          "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH b USING INTEGER PRIMARY KEY (rowid=?)",
        ]
      ),
      (LedgerTransaction.endFarWaitsOfFiles, ["SEARCH file USING COVERING INDEX file_waiting (not_before>?)"]),
      (LedgerTransaction.endWaitsForThisRun, ["SEARCH file USING INDEX file_waiting (not_before>?)"]),
      (LedgerTransaction.endFarWaitsOfChunks, ["SEARCH chunk USING INDEX chunk_waiting (not_before>?)"]),
      (LedgerTransaction.promoteDueChunks, ["SEARCH chunk USING INDEX chunk_waiting (not_before<?)"]),
      (LedgerTransaction.pendingChunks, ["SEARCH chunk USING INDEX chunk_pending (file_id=?)"]),
      (
        ExistingFile.liveQuery,
        [
          "SEARCH file USING INDEX file_live (destination_id=? AND key=?)",
          "SEARCH s USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
          "CORRELATED SCALAR SUBQUERY 2", "SEARCH r USING INDEX receipt_contradiction (file_id=?)",
          "CORRELATED SCALAR SUBQUERY 1", "SEARCH l USING PRIMARY KEY (file_id=? AND n>?)",
        ]
      ),
      (
        ExistingFile.pastQuery,
        [
          "SEARCH file USING INDEX file_past (destination_id=? AND key=?)",
          "SEARCH s USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
        ]
      ),
      (Admitter.anyFailed, ["SEARCH file USING COVERING INDEX file_rest (state=?)"]),
      (
        LedgerTransaction.pastGenerationQuery,
        ["SEARCH file USING INDEX file_past (destination_id=? AND key=?)"]
      ),
      (LedgerReader.nextFile, ["SEARCH file USING COVERING INDEX file_waiting (not_before>?)"]),
      (LedgerReader.nextChunk, ["SEARCH chunk USING INDEX chunk_waiting"]),
      (LedgerReader.nextAbort, ["SEARCH session USING INDEX session_abort (abort_after>?)"]),
      (
        LedgerTransaction.dueAborts,
        [
          "SEARCH s USING INDEX session_abort (abort_after>? AND abort_after<?)",
          "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)", "CORRELATED SCALAR SUBQUERY 1",
          "SEARCH o USING INDEX file_live (destination_id=? AND key=?)",
          "SEARCH n USING INDEX session_file (file_id=? AND rowid>?)",
        ]
      ),
      (LedgerReader.requestedActions, ["SEARCH file USING COVERING INDEX file_requested_action (requested_action>?)"]),
      (LedgerReader.limits, ["SCAN batch USING INDEX batch_limits"]),
      (LedgerReader.dueAbort, ["SEARCH session USING INDEX session_abort (abort_after>? AND abort_after<?)"]),
      (ClaimHistory.lostAnswers, ["SEARCH attempt USING INDEX attempt_file (file_id=?)"]),
    ] as [(StaticString, [String])])
  func hotStatementsUseTheirIndex(sql: StaticString, plan: [String]) throws {
    let f = try LedgerFixture()
    let connection = try Connection(path: f.path, access: .readOnly)
    let found = try connection.rowsOnce("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }
    #expect(found == plan)
  }
}
