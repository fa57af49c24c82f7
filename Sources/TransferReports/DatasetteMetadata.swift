import TransferModel

/// Metadata with which Datasette displays a ledger, in YAML: titles, the meaning and unit of each column, facets, and
/// typical queries of auditors. Source: docs.datasette.io, "Metadata" and "Canned queries", version 0.65.
package struct DatasetteMetadata: Sendable {
  private let database: String
  private let views: [ViewColumnRow]
  private let tables: [String]

  /// - Parameter database: the name of its file. Datasette uses it without the last suffix as the name of the database.
  package init(database: String, views: [ViewColumnRow], tables: [String]) {
    let dot = database.lastIndex(of: ".").flatMap { $0 > database.startIndex ? $0 : nil }
    self.database = dot.map { String(database[..<$0]) } ?? database
    (self.views, self.tables) = (views, tables)
  }

  package struct Query: Sendable {
    package let name, title, description, sql: String
  }

  /// Each reads the public views only.
  package static let queries = [
    Query(
      name: "did_it_arrive", title: "Did it arrive?",
      description:
        "Files whose path matches a pattern (* is any text), with how they were confirmed and checked since.",
      sql: """
        SELECT f.id, CAST(f.path AS TEXT) AS path, f.state, f.size, f.confirmed_by, f.digest,
          datetime(f.finished_at / 1000, 'unixepoch') AS finished_utc,
          (SELECT r.finding FROM v_receipts r WHERE r.file_id = f.id ORDER BY r.n DESC LIMIT 1) AS last_check
        FROM v_files f WHERE CAST(f.path AS TEXT) GLOB :path ORDER BY f.id LIMIT 1000
        """),
    Query(
      name: "not_done", title: "What did not arrive?",
      description: "Files that were added since a day (2026-10-01) and are not done, with the reason.",
      sql: """
        SELECT f.id, CAST(f.path AS TEXT) AS path, f.state, f.cause, f.message, e.hint,
          datetime(f.created_at / 1000, 'unixepoch') AS added_utc
        FROM v_files f LEFT JOIN v_errors e ON e.code = f.cause
        WHERE f.state NOT IN ('done', 'superseded') AND f.created_at >= unixepoch(:since) * 1000 ORDER BY f.id LIMIT 1000
        """),
    Query(
      name: "contradicted", title: "What was later found missing or different?",
      description: "Done files that a later check found missing or different.",
      sql: """
        SELECT r.file_id, CAST(f.path AS TEXT) AS path, r.finding, r.size, r.remote_digest,
          datetime(r.recorded_at / 1000, 'unixepoch') AS found_utc
        FROM v_receipts r JOIN v_files f ON f.id = r.file_id
        WHERE r.finding IN ('lost', 'differs', 'changed', 'missing')
          AND r.n = (SELECT max(n) FROM v_receipts x WHERE x.file_id = r.file_id) ORDER BY r.recorded_at DESC LIMIT 1000
        """),
    Query(
      name: "history_of_file", title: "What happened to a file?",
      description: "Every request for the file with this number.",
      sql: """
        SELECT id, operation, n, outcome, error_code, http_status, bytes_transferred, bytes_acked, total_ms, remote_ip,
          datetime(started_at / 1000, 'unixepoch') AS started_utc, message
        FROM v_attempts WHERE file_id = :file ORDER BY id LIMIT 1000
        """),
    Query(
      name: "errors", title: "Why did requests fail?",
      description: "Error codes of requests that began since a day, most frequent first, with remedies.",
      sql: """
        SELECT a.error_code, count(*) AS requests, count(DISTINCT a.file_id) AS files, e.category, e.hint
        FROM v_attempts a LEFT JOIN v_errors e ON e.code = a.error_code
        WHERE a.error_code IS NOT NULL AND a.started_at >= unixepoch(:since) * 1000
        GROUP BY a.error_code ORDER BY requests DESC
        """),
  ]

  private static let titles = [
    "v_attempts": "Requests", "v_batches": "Batches", "v_chunks": "Chunks", "v_cut_off": "Unfinished bodies",
    "v_errors": "Error codes", "v_event_ranges": "Files of events", "v_events": "History", "v_files": "Files",
    "v_meta": "This ledger", "v_receipts": "Receipts", "v_removals": "Sources to delete or move",
    "v_runs": "Runs of the engine",
    "v_scans": "Last scans of sources",
  ]
  private static let facets = [
    "v_attempts": ["operation", "outcome", "error_code", "http_status"], "v_batches": ["protocol", "direction"],
    "v_events": ["verb"], "v_files": ["state", "confirmed_by", "batch_id"],
    "v_receipts": ["finding", "confirmed_by"], "v_removals": ["state", "cause"],
  ]

  package var yaml: String {
    var lines = [
      "title: A ledger of transfers",
      "description: Every file, request and receipt. Times ending in _at are milliseconds since 1970 UTC.",
      "databases:",
      "  \(Self.quoted(database)):", "    tables:",
    ]
    // Datasette describes and facets views like tables.
    let names = views.map(\.view).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    for view in names { lines += described(view) }
    for table in tables { lines += ["      \(Self.quoted(table)):", "        hidden: true"] }
    lines.append("    queries:")
    for query in Self.queries {
      lines += [
        "      \(query.name):", "        title: \(Self.quoted(query.title))",
        "        description: \(Self.quoted(query.description))", "        sql: |-",
      ]
      lines += query.sql.split(separator: "\n").map { "          \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func described(_ view: String) -> [String] {
    var lines = ["      \(view):", "        title: \(Self.quoted(Self.titles[view] ?? view))"]
    if let facets = Self.facets[view] { lines.append("        facets: [\(facets.joined(separator: ", "))]") }
    lines.append("        columns:")
    for column in views where column.view == view {
      let unit = column.unit.isEmpty ? "" : " (\(column.unit))"
      lines.append("          \(column.column): \(Self.quoted(column.text + unit))")
    }
    return lines
  }

  /// A double-quoted scalar; what JSON escapes, YAML reads the same way.
  private static func quoted(_ text: String) -> String { JSONWriter.text(.text(text)) }
}
