/// Columns whose values only the engine may use: IDs of upload sessions on servers, which are URLs for many protocols,
/// and the protocol state of these sessions. Anyone who knows such a URL can write to the upload or abort it. No
/// command shows these columns.
enum CapabilityColumns {
  static func contains(_ table: String, _ column: String) -> Bool { columns[table]?.contains(column) ?? false }

  private static let columns: [String: Set<String>] = [
    "session": ["remote_id", "notes", "remotes"], "chunk": ["remote"],
  ]

  /// Clears them in a copy that no engine continues: an auditor needs no session IDs, and only the servers know which
  /// of these work without a credential. No leaf of the log contains these columns; the location in a receipt is the
  /// destination and the key, never a session.
  /// The triggers, which forbid this change, are restored; the old values are overwritten on disk, not only unlinked.
  static func clear(_ copy: Connection) throws {
    try copy.execute("PRAGMA journal_mode=MEMORY")
    try copy.execute("PRAGMA secure_delete=ON")
    try copy.execute("BEGIN IMMEDIATE")
    let triggers = try copy.rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('session', 'chunk', 'callback') ORDER BY rowid"
    ) { ($0.text(0), $0.text(1)) }
    for (name, _) in triggers { try copy.execute("DROP TRIGGER \"\(name)\"") }
    for statement in clearing { try copy.execute(statement) }
    for (_, sql) in triggers { try copy.execute(sql) }
    try copy.execute("COMMIT")
  }

  /// Different IDs stay different: two open sessions with one ID would look like a fault.
  private static let clearing = [
    "UPDATE session SET remote_id = 'hidden:' || id WHERE remote_id IS NOT NULL",
    "UPDATE session SET notes = '{}' WHERE notes <> '{}'", "UPDATE session SET remotes = '[]' WHERE remotes <> '[]'",
    "UPDATE chunk SET remote = NULL WHERE remote IS NOT NULL",
    // Anyone who knows the URL of a receiver can send it anything.
    "UPDATE callback SET target = 'hidden:' || id WHERE kind = 'webhook' OR kind = 'ping'",
  ]
}
