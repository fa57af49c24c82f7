/// How the rows of one table are copied into a merged ledger. Tables that are not named here are left out: what runs
/// learned about hosts, the last state of jobs and scans, quotas, destinations of jobs, callbacks, folders of sources,
/// and absent sources. These matter only to the ledger that stays in use.
struct ShardTable {
  let name: String
  /// Columns that hold numbers of rows.
  let numbers: Set<String>
  /// Columns that are replaced, with the expressions that replace them.
  var others: [String: String] = [:]
  /// The column whose range of numbers selects the rows of a shard; it is the first one of an index.
  let key: String

  init(_ name: String, key: String = "id", _ numbers: [String] = [], _ others: [String: String] = [:]) {
    (self.name, self.key, self.others) = (name, key, others)
    self.numbers = Set(numbers).union(others[key] == nil ? [key] : [])
  }

  private static let ofOrigin = ["origin_id": "{origin}"]

  /// Tables that others refer to come first. Capabilities are not copied out of a ledger: see ``CapabilityColumns``.
  static let all = [
    ShardTable("engine_run", ["first_attempt"], ofOrigin), ShardTable("destination", [], ofOrigin),
    ShardTable("batch", ["destination_id"], ofOrigin), ShardTable("file", ["batch_id", "destination_id", "run_id"]),
    ShardTable("sighting", key: "file_id"), ShardTable("content", key: "file_id", ["same_as"]),
    ShardTable("series", ["destination_id"]), ShardTable("segment", key: "file_id", ["series_id"]),
    ShardTable("listed_file", key: "listing_id", ["file_id"]),
    ShardTable("look", key: "file_id"), ShardTable("removal", key: "file_id"),
    ShardTable(
      "session", ["file_id", "run_id", "opened_by"],
      [
        "remote_id": "iif(remote_id IS NULL, NULL, 'hidden:' || (id + {base}))",
        "notes": "iif(notes IS NULL, NULL, '{}')", "remotes": "iif(remotes IS NULL, NULL, '[]')",
      ]),
    ShardTable("chunk", ["file_id", "done_attempt"], ["remote": "NULL"]),
    ShardTable("attempt", ["file_id", "chunk_id", "session_id", "run_id"]), ShardTable("sent_body", key: "attempt_id"),
    ShardTable("receipt", key: "file_id", ["attempt_id"]),
    ShardTable("event", ["batch_id", "part_of"], ["origin_id": "{origin}", "origin_event": "id"]),
    ShardTable("event_range", key: "event_id", ["first_file", "last_file"]), ShardTable("prune", ["event_id"]),
    ShardTable("pruned_range", key: "first_id", ["last_id", "prune_id"]), ShardTable("pruned_file", key: "file_id"),
    // The examples in its errors are numbers of deleted attempts; they stay as they are, because the leaf of the prune
    // is computed from these texts.
    ShardTable("pruned_sum", ["prune_id", "batch_id", "run_id"]),
    ShardTable(
      "attempt_sum", key: "batch_id", [],
      [
        "id": "NULL", "block": "block + {base} / 4096",
        "errors": """
        (SELECT json_group_object(e.key, json_array(e.value ->> 0, (e.value ->> 1) + {base}, e.value ->> 2, e.value ->> 3))
          FROM json_each(errors) e)
        """,
      ]),
    ShardTable(
      "file_sum", key: "batch_id", [],
      [
        "block": "block + {base} / 4096",
        "slowest": """
        (SELECT json_group_array(json_array(p.value ->> 0, (p.value ->> 1) + {base})) FROM json_each(slowest) p)
        """,
      ]),
    ShardTable("log_group", key: "first_leaf"),
  ]

  /// Copies the rows of the attached database `shard`. All of the SQL text is our own, and the columns are those of our
  /// schema. A row that violates a constraint rolls back the whole transaction: to undo only the statement, SQLite
  /// would keep each page that it changes in memory.
  func copy(_ shard: ShardNumber, in connection: Connection) throws(SQLiteError) {
    let columns = try connection.rowsOnce("SELECT name FROM pragma_table_info('\(name)', 'main')") { $0.text(0) }
    let values = columns.map { column in
      if let other = others[column] {
        return other.replacing("{base}", with: "\(shard.base)").replacing("{origin}", with: "\(shard.rawValue)")
      }
      return numbers.contains(column) ? "\"\(column)\" + \(shard.base)" : "\"\(column)\""
    }
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    try connection.execute(
      "INSERT OR ROLLBACK INTO main.\(name) (\(names)) SELECT \(values.joined(separator: ", ")) FROM shard.\(name)")
  }

  /// Whether a number of the shard is outside the range that is reserved for one shard.
  func isBeyond(_ connection: Connection) throws(SQLiteError) -> Bool {
    try !connection.rowsOnce(
      "SELECT 1 FROM shard.\(name) WHERE \(key) < 0 OR \(key) >= \(ShardNumber.stride) LIMIT 1", row: { _ in true }
    ).isEmpty
  }

  func delete(_ shard: ShardNumber, in connection: Connection) throws(SQLiteError) {
    try connection.execute("DELETE FROM main.\(name) WHERE \(key) >= \(shard.base) AND \(key) < \(shard.end)")
  }
}
