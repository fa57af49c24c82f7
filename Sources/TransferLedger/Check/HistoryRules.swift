/// Rules that detect rows changed or deleted by other means than the program, as far as the remaining rows show it.
extension LedgerReader {
  static let historyRules: [(name: String, sql: String)] = [
    (
      "I39 the destination and time of a batch are those of its first event, and its settings have the destination",
      """
      SELECT id FROM batch WHERE iif(json_valid(settings), settings ->> 'destination', NULL) IS NOT destination
        OR id NOT IN (SELECT e.batch_id FROM event e JOIN batch b ON b.id = e.batch_id
          WHERE e.verb = 'added' AND e.detail = b.destination AND e.at = b.created_at)
      """
    ),
    (
      "I40 a file has the destination of its batch",
      "SELECT f.id FROM file f JOIN batch b ON b.id = f.batch_id WHERE f.destination_id <> b.destination_id"
    ),
    (
      "I41 rows are numbered without gaps",
      """
      SELECT name, rows, highest FROM (
        -- In a merged ledger, separately for each shard.
        SELECT name, sum(rows) rows, max(highest) % 1000000000000 highest FROM (
          SELECT 'batch' name, count(*) rows, max(id) highest FROM batch GROUP BY id / 1000000000000
          UNION ALL SELECT 'destination', count(*), max(id) FROM destination GROUP BY id / 1000000000000
          UNION ALL SELECT 'run', count(*), max(id) FROM engine_run GROUP BY id / 1000000000000
          UNION ALL SELECT 'file', count(*), max(id) FROM file GROUP BY id / 1000000000000
          UNION ALL SELECT 'session', count(*), max(id) FROM session GROUP BY id / 1000000000000
          UNION ALL SELECT 'chunk', count(*), max(id) FROM chunk GROUP BY id / 1000000000000
          UNION ALL SELECT 'attempt', count(*), max(id) FROM attempt GROUP BY id / 1000000000000
          UNION ALL SELECT kind, sum(last_id - first_id + 1), max(last_id) FROM pruned_range WHERE kind <> 'history'
            GROUP BY kind, last_id / 1000000000000
          UNION ALL SELECT 'prune', count(*), max(id) FROM prune GROUP BY id / 1000000000000
          UNION ALL SELECT 'pruned_sum', count(*), max(id) FROM pruned_sum GROUP BY id / 1000000000000
          UNION ALL SELECT 'event', count(*), max(id) FROM event GROUP BY id / 1000000000000)
        GROUP BY name, highest / 1000000000000)
      WHERE rows <> highest
      """
    ),
    (
      "I42 the time in a uid is that of its row",
      """
      SELECT 'file', id FROM file WHERE substr(hex(uid), 1, 12) <> printf('%012X', created_at)
      UNION ALL SELECT 'attempt', id FROM attempt WHERE substr(hex(uid), 1, 12) <> printf('%012X', started_at)
      UNION ALL SELECT 'run', id FROM engine_run WHERE substr(hex(uid), 1, 12) <> printf('%012X', started_at)
      UNION ALL SELECT 'ledger', id FROM store_meta
        WHERE copied_at IS NULL AND substr(hex(uid), 1, 12) <> printf('%012X', created_at)
      """
    ),
    (
      "I64 a run ends with its last heartbeat, or when the run after its crash begins",
      """
      SELECT r.id FROM engine_run r LEFT JOIN engine_run n ON n.id = r.id + 1
      WHERE r.how <> 'crashed' AND r.ended_at <> r.heartbeat_at
        OR r.how = 'crashed' AND r.ended_at <> max(r.started_at, n.started_at)
      """
    ),
    (
      "I43 attempts are in the order of their runs",
      """
      WITH r AS (SELECT run_id, min(id) low, max(id) high FROM attempt GROUP BY run_id),
        -- Not each run with each other: a year of cron has a hundred thousand.
        s AS (SELECT run_id, low, max(high) OVER (ORDER BY run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) past
          FROM r)
      SELECT (SELECT e.run_id FROM r e WHERE e.high = s.past), s.run_id FROM s WHERE s.low < s.past
      """
    ),
    (
      "I44 a request uses a session of its file",
      "SELECT a.id FROM attempt a JOIN session s ON s.id = a.session_id WHERE s.file_id <> a.file_id"
    ),
    (
      "I45 the digest of a single chunk is that of its file",
      """
      SELECT r.file_id FROM receipt r JOIN file f ON f.id = r.file_id JOIN chunk c ON c.file_id = f.id
      WHERE r.n = 1 AND f.chunk_count = 1 AND c.digest <> r.digest AND length(c.digest) = length(r.digest)
        AND substr(c.digest, 1, instr(c.digest, ':')) = substr(r.digest, 1, instr(r.digest, ':'))
      """
    ),
    (
      "I47 a receipt names a successful attempt and the size of its file",
      """
      SELECT r.file_id, r.n FROM receipt r JOIN file f ON f.id = r.file_id LEFT JOIN attempt a ON a.id = r.attempt_id
      WHERE r.n = 1 AND r.size IS NOT f.size OR (r.attempt_id IS NULL)
          <> (r.note IS NOT NULL OR coalesce(r.finding IN ('intact', 'changed', 'missing'), 0))
        OR r.attempt_id IS NOT NULL AND (a.file_id IS NOT r.file_id OR a.outcome <> 'ok')
          AND NOT (a.id IS NULL AND coalesce((SELECT last_id FROM pruned_range
            WHERE kind = 'attempt' AND first_id <= r.attempt_id ORDER BY first_id DESC LIMIT 1) >= r.attempt_id, 0))
      """
    ),
    (
      "I48 receipts are numbered without gaps",
      "SELECT file_id FROM receipt GROUP BY file_id HAVING min(n) <> 1 OR count(*) <> max(n)"
    ),
    (
      "I49 a file has the direction of its batch",
      """
      SELECT f.id FROM file f JOIN batch b ON b.id = f.batch_id
      WHERE (f.is_download IS NOT NULL) <> (b.direction = 'download')
      """
    ),
    (
      "I50 an event is about files of its batch, each once, and continues an equal first event",
      """
      SELECT r.event_id, r.first_file FROM event_range r JOIN event e ON e.id = r.event_id
      WHERE (SELECT count(*) FROM file f WHERE f.id BETWEEN r.first_file AND r.last_file AND +f.batch_id IS e.batch_id)
        + (SELECT coalesce(sum(min(p.last_id, r.last_file) - max(p.first_id, r.first_file) + 1), 0) FROM pruned_range p
          WHERE p.kind = 'file' AND p.first_id <= r.last_file AND p.last_id >= r.first_file)
        <> r.last_file - r.first_file + 1
      UNION ALL SELECT event_id, last_file FROM (
        SELECT event_id, last_file, lead(first_file) OVER (PARTITION BY event_id ORDER BY first_file) AS next FROM event_range)
      WHERE next <= last_file
      UNION ALL SELECT p.id, p.part_of FROM event p JOIN event e ON e.id = p.part_of
      WHERE e.part_of IS NOT NULL OR e.id >= p.id OR e.verb <> p.verb OR e.batch_id IS NOT p.batch_id OR e.detail <> p.detail
      """
    ),
  ]

  /// Not a statement: the program compares the schema with its own.
  public static let schemaRule = "I46 the rules of the schema are in force"

  /// Tables, indexes, triggers, views, error codes and descriptions of columns that are missing or differ from those of
  /// the program; and foreign triggers. Other additions by users do no harm.
  func changedSchema() throws -> [String] {
    let (wanted, found) = (try Self.wantedSchema.get(), try Self.schema(of: db))
    let sqlByName = Dictionary(found.map { ("\($0.type) \($0.name)", $0.sql) }, uniquingKeysWith: { first, _ in first })
    let known = Set(wanted.map { "\($0.type) \($0.name)" })
    let changed = wanted.compactMap { item -> String? in
      guard let sql = sqlByName["\(item.type) \(item.name)"] else { return "\(item.type) \(item.name) is missing" }
      return sql == item.sql ? nil : "\(item.type) \(item.name) was changed"
    }
    let foreign = found.filter { $0.type == "trigger" && !known.contains("trigger \($0.name)") }
    return changed + foreign.map { "trigger \($0.name) is not part of this program" }
  }

  private struct SchemaItem: Sendable {
    var name: String
    var type: String
    var sql: String
  }

  /// The schema that all migrations create; they run once per process for it.
  private static let wantedSchema = Result {
    let memory = try Connection(path: ":memory:", access: .readWrite)
    for migration in Migrations.embedded.steps { try memory.execute(migration.sql) }
    return try schema(of: memory)
  }

  private static func schema(of db: Connection) throws -> [SchemaItem] {
    try db.rowsOnce(
      """
      SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL
      UNION ALL SELECT code, 'error code', category || ': ' || hint FROM error_code
      UNION ALL SELECT view || '.' || "column", 'description of', json_array(type, unit, text) FROM view_doc
      ORDER BY 2, 1
      """
    ) { row in
      SchemaItem(name: row.text(0), type: row.text(1), sql: row.text(2))
    }
  }
}
