import CSQLite
import Glibc
import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// Changes by somebody with write access to the ledger's file are found: from the rows and their leaves alone, or with
/// a seal that was kept elsewhere. A tenth of each by default; all with TRANSFERS_TEST_LONG.
@Suite struct TamperTests {
  private static let share = getenv("TRANSFERS_TEST_LONG") == nil ? 10 : 1
  private let f: LedgerFixture
  /// With the schema's own defences disabled.
  private let db: Connection
  private let seal: Checkpoint
  private let entries: [LogEntry]

  init() throws {
    f = try LedgerFixture()
    // Attempt 1 has two leaves: bytes were credited to it.
    try LogTests.sendCredited(f)
    try LogTests.send(f, 12)
    _ = try f.ledger.control(.remove, RowFilter())
    entries = try LogTests.entries(f)
    let note = try #require(SignedNote(try f.ledger.logProver(withReceipts: false).seal.note))
    seal = try #require(Checkpoint(note.text))
    f.ledger.close()
    db = try Connection(path: f.path, access: .readWrite)
    try db.execute("PRAGMA ignore_check_constraints=ON; PRAGMA foreign_keys=OFF")
    for name in try db.rowsOnce("SELECT name FROM sqlite_schema WHERE type = 'trigger'", row: { $0.text(0) }) {
      try db.execute("DROP TRIGGER \(name)")
    }
    #expect(try findings() == ([], []) && entries.count > 28)
  }

  /// The findings without and with the seal.
  private func findings() throws -> (plain: [String], sealed: [Finding]) {
    let reader = LedgerReader(db: db)
    return (try reader.logFindings(), try reader.findings(of: seal))
  }

  private func undone<T>(_ body: () throws -> T) throws -> T {
    try db.execute("BEGIN")
    defer { try? db.execute("ROLLBACK") }
    return try body()
  }

  /// Rewrites the log from these rows as they are now.
  private func rewriteLog(_ entries: some Sequence<LogEntry>) throws {
    try db.execute("DELETE FROM log_group")
    let all = Array(entries)
    for (place, entry) in all.enumerated() {
      guard case .credited(let id, let transferred, let acked) = entry else { continue }
      let now = try db.rowsOnce("SELECT bytes_transferred, bytes_acked FROM attempt WHERE id = \(id)") {
        ($0.int64(0), $0.int64(1))
      }
      // Entries that ended before the credit are logged with their counts of that time.
      try setCounts(of: id, transferred, acked)
      try append(all[..<place])
      try setCounts(of: id, now[0].0, now[0].1)
      return try append(all[place...])
    }
    try append(all[...])
  }

  private func append(_ entries: ArraySlice<LogEntry>) throws {
    let transaction = LedgerTransaction(db: db, wallMs: 0)
    transaction.notes.ended = Array(entries)
    try transaction.appendLog(TreeHasher())
  }

  private func setCounts(of attempt: Int64, _ transferred: Int64, _ acked: Int64) throws {
    try db.execute(
      "UPDATE attempt SET bytes_transferred = \(transferred), bytes_acked = \(acked) WHERE id = \(attempt)")
  }

  // MARK: - Flipped bits

  /// The columns that are in leaves, and those of the log itself.
  private static let content: [(table: String, columns: [String])] = [
    (
      "receipt",
      [
        "file_id", "n", "finding", "size", "attempt_id", "confirmation", "digest", "remote_digest", "sha256",
        "etag",
        "version_id",
        "request_id", "server_date", "location", "note", "recorded_at",
      ]
    ), ("file", ["id", "uid", "batch_id", "generation", "is_download", "path", "key", "mtime_ns"]),
    (
      "attempt",
      [
        "id", "uid", "file_id", "chunk_id", "session_id", "run_id", "operation", "n", "is_repeatable", "started_at",
        "outcome", "ended_at", "error_code", "message", "http_status", "bytes_transferred", "bytes_acked", "total_ms",
        "curl_code", "errno", "dns_ms", "connect_ms", "tls_ms", "sent_ms", "first_byte_ms", "held_ms", "remote_ip",
        "http_version", "request_id", "retry_after_ms", "backoff_ms", "reply_excerpt", "may_have_arrived",
        "mirror",
      ]
    ), ("event", ["id", "at", "verb", "batch_id", "detail", "part_of", "origin_id", "origin_event"]),
    ("event_range", ["event_id", "first_file", "last_file"]),
    ("log_group", ["first_leaf", "leaves", "entries", "hashes"]),
  ]

  /// Flips one bit; nil if there is none, or if a unique index refuses the change.
  private func flip(_ generator: inout some RandomNumberGenerator) throws -> String? {
    let (table, columns) = Self.content.randomElement(using: &generator)!
    let column = columns.randomElement(using: &generator)!
    let key =
      table == "receipt" ? "file_id" : table == "event_range" ? "event_id" : table == "log_group" ? "first_leaf" : "id"
    let rows = try db.rowsOnce("SELECT \(key), typeof(\(column)), hex(\(column)), \(column) FROM \(table)") {
      (key: $0.int64(0), type: $0.text(1), bytes: bytesFromHex($0.text(2)) ?? [], number: $0.int64(3))
    }
    guard let row = rows.randomElement(using: &generator), row.type != "null" else { return nil }
    var (value, bytes) = ("\(row.number ^ 1 << Int64.random(in: 0..<62, using: &generator))", row.bytes)
    if row.type != "integer" {
      guard !bytes.isEmpty else { return nil }
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      value = row.type == "text" ? "CAST(x'\(hexText(bytes))' AS TEXT)" : "x'\(hexText(bytes))'"
    }
    let sql = "UPDATE \(table) SET \(column) = \(value) WHERE \(key) = \(row.key)"
    do { try db.execute(sql) } catch { return nil }
    return sql
  }

  @Test func everyFlippedBitIsFound() throws {
    var generator = Xorshift(seed: 7)
    var flipped = 0
    while flipped < 10_000 / Self.share {
      try undone {
        guard let sql = try flip(&generator) else { return }
        flipped += 1
        #expect(try findings().plain != [], "\(sql)")
      }
    }
  }

  /// Including columns that are empty in these rows and columns that will be added: leaves must cover all of them.
  @Test(arguments: [("receipt", "file_id = 3"), ("attempt", "id = 4"), ("event", "id = 2")])
  func everyColumnIsLogged(_ table: String, _ row: String) throws {
    let columns = try db.rowsOnce("SELECT name, type FROM pragma_table_info('\(table)')") { ($0.text(0), $0.text(1)) }
    #expect(columns.count > 7)
    for (column, type) in columns {
      let changed =
        switch type {
        case "INTEGER": "coalesce(\(column), 0) + 1000"
        case "TEXT": "coalesce(\(column), '') || 'x'"
        default: "x'00'"
        }
      try undone {
        try db.execute("UPDATE \(table) SET \(column) = \(changed) WHERE \(row)")
        #expect(try findings().plain != [], "\(table).\(column)")
      }
    }
  }

  // MARK: - Truncation and invented history

  private func delete(_ entry: LogEntry) throws {
    switch entry {
    case .receipt(let file, let n): try db.execute("DELETE FROM receipt WHERE file_id = \(file) AND n = \(n)")
    case .attempt(let id): try db.execute("DELETE FROM attempt WHERE id = \(id)")
    case .credited(let id, let transferred, let acked): try setCounts(of: id, transferred, acked)
    case .event(let id):
      try db.execute("DELETE FROM event_range WHERE event_id = \(id); DELETE FROM event WHERE id = \(id)")
    case .prune(let id): try db.execute("DELETE FROM prune WHERE id = \(id)")
    }
  }

  @Test func everyTruncationIsFound() throws {
    var generator = Xorshift(seed: 8)
    for n in 0..<(1_000 / Self.share) {
      let left = n % entries.count
      try undone {
        for entry in Set(entries[left...]).subtracting(entries[..<left]) { try delete(entry) }
        #expect(try findings().plain != [], "rows alone, \(left)")
        try rewriteLog(entries[..<left])
        // Rows and log are consistent again, and only the seal reveals the truncation.
        #expect(try findings().plain == [], "\(left)")
        #expect(try findings().sealed.count == 1, "\(left)")
      }
      try undone {
        try rewriteLog(entries[..<Int.random(in: 0..<entries.count, using: &generator)])
        #expect(try findings().plain != [], "leaves alone")
      }
    }
  }

  private static let inventions = [
    "UPDATE receipt SET recorded_at = recorded_at + 1 WHERE file_id = ?",
    "UPDATE receipt SET digest = 'crc32c:00000008', remote_digest = 'crc32c:00000008' WHERE file_id = ?",
    "UPDATE receipt SET location = location || 'x' WHERE file_id = ?", "UPDATE file SET path = x'2F62' WHERE id = ?",
    "UPDATE attempt SET ended_at = ended_at + 1 WHERE file_id = ?", "UPDATE event SET at = at + 1 WHERE ? > 0",
  ]

  @Test func everyRewrittenHistoryIsFound() throws {
    var generator = Xorshift(seed: 9)
    for n in 0..<(1_000 / Self.share) {
      let file = Int64.random(in: 1...12, using: &generator)
      try undone {
        let sql = Self.inventions[n % Self.inventions.count].replacing("?", with: "\(file)")
        try db.execute(sql)
        #expect(try findings().plain != [], "\(sql)")
        try rewriteLog(entries)
        #expect(try findings().plain == [], "\(sql)")
        #expect(
          try findings().sealed.map(\.detail) == ["the first \(entries.count) leaves are not those that were sealed"])
      }
      try undone {
        var shuffled = entries
        shuffled.swapAt(n % entries.count, (n + 1) % entries.count)
        try rewriteLog(shuffled)
        #expect(try findings().sealed.count == 1)
      }
    }
  }

  /// Leaves are only appended, so the log still begins with what was sealed.
  @Test(arguments: [
    ("UPDATE attempt SET message = 'invented' WHERE id = 1", LogEntry.attempt(1)),
    ("UPDATE attempt SET message = 'invented' WHERE id = 1", .credited(attempt: 1, transferred: 10, acked: 10)),
    ("UPDATE attempt SET bytes_acked = 7 WHERE id = 1", .attempt(1)),
    ("UPDATE attempt SET outcome = 'retry', error_code = 'net.reset' WHERE id = 3", .attempt(3)),
    ("UPDATE attempt SET bytes_acked = 3 WHERE id = 3", .credited(attempt: 3, transferred: 10, acked: 10)),
    ("UPDATE receipt SET location = 'x' WHERE file_id = 1", .receipt(file: 1, n: 1)),
    ("UPDATE event SET at = 0 WHERE id = 1", .event(1)), ("SELECT 1", .event(1)),
  ])
  func aFurtherLeafDoesNotJustifyAChangedRow(_ sql: String, _ entry: LogEntry) throws {
    try undone {
      try db.execute(sql)
      try append([entry])
      #expect(try findings().plain != [], "\(sql)")
      #expect(try findings().sealed == [])
    }
  }

  @Test func aRowThatIsInNoLeafIsFound() throws {
    try undone {
      try db.execute(
        """
        INSERT INTO event (at, verb, detail) VALUES (0, 'invented', '');
        INSERT INTO receipt (file_id, n, finding, confirmation, etag, version_id, request_id, server_date, location, recorded_at)
        VALUES (1, 2, 'intact', 'none', '', '', '', '', '', 0)
        """)
      let ids = try db.rowsOnce("SELECT max(id) FROM event") { $0.int64(0) }
      #expect(try findings().plain == ["event \(ids[0]) is not in the log", "receipt 2 of f1 is not in the log"])
    }
  }
}

/// A reproducible random number generator.
struct Xorshift: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
