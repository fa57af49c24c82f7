import Testing
import TransferModel

@testable import TransferLedger

/// Every column of every table: what a program other than ours can change in rows that have ended. The list is
/// complete, so that a new column has to be protected or needs a reason here.
@Suite struct EvidenceColumnsTests {
  /// What the triggers let other programs change, and why.
  static let changeable: [String: [String]] = [
    "an upgrade changes it": ["store_meta.schema_version", "store_meta.view_version"],
    "the ledger is in another file since": ["store_meta.born_ns"],
    "how far a shard had progressed when it was last merged": [
      "origin_store.host", "origin_store.merged_at", "origin_store.log_uid", "origin_store.leaves",
      "origin_store.newest_attempt", "origin_store.newest_file", "origin_store.alive_at", "origin_store.equal_keys",
    ],
    "people change it at any time": [
      "batch.labels", "batch.priority", "batch.rate", "batch.workers", "batch.deadline_at", "batch.hidden",
      "file.hidden",
    ],
    "the next run of the job replaces it": [
      "job_state.started_at", "job_state.ended_at", "job_state.result", "job_state.message", "job_state.failed_runs",
      "job_quota.reached_at",
    ],
    "a newer generation replaces the file": ["file.live"], "the staged copy is removed": ["file.staged"],
    "a CHECK ties it to the state": ["file.requested_action", "file.not_before", "file.run_id"],
    "the same content was seen again": [
      "sighting.ctime_ns", "sighting.device", "sighting.boot", "sighting.seen_at", "series.path", "series.size",
      "series.mtime_ns", "series.ctime_ns", "series.inode", "series.device", "series.boot", "series.born_ns",
      "source_folder.inode", "source_folder.born_ns", "source_folder.device", "source_folder.boot", "look.boot",
      "look.since_ms", "look.due_ms", "look.is_changing",
    ],
    "a secret that a snapshot does not contain": ["chunk.remote"],
    "a count that only grows": ["callback_loss.callbacks"],
    "another scan of the same sources, at another time, replaces it": ["scan.completed_at"],
  ]

  private func tables(_ db: Connection) throws -> [String] {
    try db.rowsOnce("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name") {
      $0.text(0)
    }
  }

  private func columns(_ db: Connection, _ table: String) throws -> [(name: String, type: String)] {
    try db.rowsOnce("SELECT name, type FROM pragma_table_info('\(table)') ORDER BY cid") { ($0.text(0), $0.text(1)) }
  }

  /// Another value of the same form.
  private func changed(_ column: String, _ type: String) -> String {
    switch type {
    case "INTEGER": "coalesce(\"\(column)\", 0) + 1"
    case "TEXT":
      """
      iif("\(column)" GLOB '{*', '{"y":1}', iif("\(column)" GLOB '[[]*', '["y"]', coalesce("\(column)", '') || 'y'))
      """
    default: "x'00'"
    }
  }

  private func dropTriggers(_ db: Connection) throws -> [String] {
    let triggers = try db.rowsOnce("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
      (name: $0.text(0), sql: $0.text(1))
    }
    for trigger in triggers { try db.execute("DROP TRIGGER \"\(trigger.name)\"") }
    return triggers.map(\.sql)
  }

  /// Values of the one row of each table; 1, `x` and some bytes in other columns.
  private static let values = [
    "file.state": "'done'", "chunk.state": "'done'", "session.state": "'completed'", "attempt.outcome": "'ok'",
    "attempt.operation": "'part'", "event.verb": "'added'", "engine_run.how": "'done'", "outbox.state": "'delivered'",
    "delivery.outcome": "'ok'", "removal.state": "'done'", "batch.settings": "'{}'", "chunk.remote": "'{}'",
    "session.notes": "'{}'", "session.remotes": "'[]'", "engine_run.argv": "'[]'", "file.run_id": "NULL",
    "file.not_before": "NULL", "file.is_download": "NULL", "file.requested_action": "NULL", "file.staged": "NULL",
    "file.cause": "NULL", "engine_run.origin_id": "NULL", "batch.origin_id": "NULL", "batch.after": "NULL",
    "removal.waits_for": "NULL", "store_meta.copied_at": "NULL", "store_meta.origin_uid": "NULL",
  ]

  /// A new schema with one row that has ended in each table.
  private func filled() throws -> Connection {
    let db = try Connection(path: ":memory:", access: .readWrite)
    for step in Migrations.embedded.steps { try db.execute(step.sql) }
    try db.execute("PRAGMA ignore_check_constraints=ON; PRAGMA foreign_keys=OFF")
    let triggers = try dropTriggers(db)
    for table in try tables(db) where try db.rowsOnce("SELECT 1 FROM \(table) LIMIT 1", row: { _ in true }).isEmpty {
      let values = try columns(db, table).map { column, type in
        Self.values["\(table).\(column)"]
          ?? (type == "INTEGER" ? "1" : type == "TEXT" ? "'x'" : "x'30313233343536373839616263646566'")
      }
      try db.execute("INSERT INTO \(table) VALUES (\(values.joined(separator: ", ")))")
    }
    for trigger in triggers { try db.execute(trigger) }
    return db
  }

  @Test func whatHasEndedIsChangedByNoOtherProgram() throws {
    let db = try filled()
    var open: Set<String> = []
    for table in try tables(db) {
      for (column, type) in try columns(db, table) {
        try db.execute("BEGIN")
        let change = "UPDATE \(table) SET \"\(column)\" = \(changed(column, type))"
        if (try? db.execute(change)) != nil { open.insert("\(table).\(column)") }
        if db.isInTransaction { try db.execute("ROLLBACK") }
      }
    }
    let listed = Set(Self.changeable.values.joined())
    #expect(open.subtracting(listed).sorted() == [], "not protected")
    #expect(listed.subtracting(open).sorted() == [], "protected since")
  }
}
