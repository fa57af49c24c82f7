/// Where the ledger holds what only the engine may use: names of upload sessions at servers, which are URLs for many
/// protocols, and what protocols noted of them. Whoever knows such a URL may write to the upload or end it. No command
/// shows these columns.
enum CapabilityColumns {
  static func contains(_ table: String, _ column: String) -> Bool { columns[table]?.contains(column) ?? false }

  private static let columns: [String: Set<String>] = [
    "session": ["remote_id", "notes", "remotes"], "chunk": ["remote"],
  ]

  /// Empties them in a copy that nobody goes on with: an auditor needs no name of a session, and which of them work
  /// without a credential only their servers know. No leaf of the log is made of these columns; where a receipt says
  /// that its object is, is the destination and the key, never a session.
  /// The triggers, which forbid this, are put back as they were; what was there is overwritten, not only unlinked.
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

  /// Different names stay different: two open sessions of one name would look like a fault.
  private static let clearing = [
    "UPDATE session SET remote_id = 'hidden:' || id WHERE remote_id IS NOT NULL",
    "UPDATE session SET notes = '{}' WHERE notes <> '{}'", "UPDATE session SET remotes = '[]' WHERE remotes <> '[]'",
    "UPDATE chunk SET remote = NULL WHERE remote IS NOT NULL",
    // Who knows the URL of a receiver may tell it anything.
    "UPDATE callback SET target = 'hidden:' || id WHERE kind = 'webhook' OR kind = 'ping'",
  ]
}
