import Testing
import TransferModel

@testable import TransferLedger

/// No statement that writes, or that an engine waits for, scans a whole table: its cost does not depend on the length
/// of the history. The plans are those of a ledger without `sqlite_stat1`, as every ledger is.
@Suite struct StatementPlanTests {
  static let tables: Set<String> = ["file", "chunk", "attempt", "session", "event", "event_range", "look"]

  /// Indexes of rows that are active or waiting: they are as short as the remaining work. The claim stops at its limit,
  /// and what a run counts at its end is what is left.
  static let short: Set<String> = [
    "file_running", "file_ready", "file_ready_batch", "file_settling", "file_requested_action", "attempt_open",
    "chunk_waiting",
    "session_live",
    "session_abort", "file_partial",
  ]

  /// Statements that only people wait for: reports, lists, `store check`, `status`, `doctor`. They use separate
  /// connections and block nothing.
  static let forPeople = [
    "Queries/AttemptIntervals.swift", "Queries/AttemptQueries.swift", "Queries/AttemptSpans.swift",
    "Queries/BatchQueries.swift", "Queries/BatchStates.swift", "Queries/BatchTotalsQueries.swift",
    "Queries/ChunkQueries.swift", "Queries/CostQueries.swift",
    "Queries/EventQueries.swift", "Queries/FailureGroups.swift", "Queries/FailureQueries.swift",
    "Queries/FileQueries.swift",
    "Queries/FlowQueries.swift", "Queries/HostAcceptance.swift", "Queries/IdleTimes.swift",
    "Queries/LatencyQueries.swift",
    "Queries/PeriodQueries.swift", "Queries/RetryQueries.swift",
    "Queries/RunQueries.swift",
    "Queries/StateTotals.swift", "Queries/StoreNumbers.swift",
    "Queries/TotalsQueries.swift", "Queries/WasteQueries.swift",
    "Log/LogCheck.swift", "Log/LogProver.swift", "Check/RowRules.swift",
    "Check/AttemptRules.swift", "Check/SessionRules.swift", "Check/HistoryRules.swift",
    "Sums/AttemptSumQueries.swift",
  ]

  /// Statements that write into a copy which is not in use yet.
  static let forCopies = ["Copies/CopyMark.swift", "Store/CapabilityColumns.swift"]

  @Test func nothingThatAnEngineWaitsForReadsAWholeTable() throws {
    let f = try LedgerFixture()
    let db = try Connection(path: f.path, access: .readWrite)
    try db.execute("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY)")
    let shard = try LedgerFixture()
    try db.execute("ATTACH '\(shard.path)' AS shard")
    let statements = try SourceStatement.all()
    #expect(statements.count > 200, "the sources are not read correctly")
    #expect(statements.count { $0.writes } > 60)
    for statement in statements
    where (statement.writes || !Self.forPeople.contains(statement.file)) && !Self.forCopies.contains(statement.file) {
      for text in statement.variants {
        let plan = try db.rowsOnce("EXPLAIN QUERY PLAN \(text)") { $0.text(3) }
        let scans = plan.filter { Self.isScan($0, Self.names(in: text)) }
        #expect(scans == [], "\(statement)")
      }
    }
  }

  /// Every file on the lists exists and has a statement: an outdated name would go unnoticed otherwise.
  @Test func theListOfWhatPeopleWaitForIsTrue() throws {
    let files = Set(try SourceStatement.all().map(\.file))
    for name in Self.forPeople + Self.forCopies { #expect(files.contains(name), "\(name)") }
  }

  /// The first attempt of a chunk is found without reading the other attempts of its file, which may have thousands.
  @Test func theFirstAttemptOfAChunkIsFoundByIndex() throws {
    let f = try LedgerFixture()
    let db = try Connection(path: f.path, access: .readWrite)
    var searches: [String] = []
    for statement in try SourceStatement.all() where statement.file == "Queries/LatencyQueries.swift" {
      for text in statement.variants {
        let plan = try db.rowsOnce("EXPLAIN QUERY PLAN \(text)") { $0.text(3) }
        searches += plan.filter { $0.hasPrefix("SEARCH p ") }
      }
    }
    #expect(searches.count >= 4, "the statements are not read correctly")
    for search in searches { #expect(search.contains("chunk_id=?"), "\(search)") }
  }

  @Test(arguments: [
    ("SELECT f.id FROM temp.chosen c JOIN file f ON f.id = c.id WHERE f.state = 'done'", true),
    ("SELECT f.id FROM temp.chosen c CROSS JOIN file f ON f.id = c.id WHERE f.state = 'done'", false),
    ("UPDATE session SET ended_at = 1 WHERE opened_at = 7", true),
    ("SELECT 1 FROM session AS s WHERE s.opened_at = 7", true),
    ("SELECT count(*) FROM attempt", true), ("SELECT id FROM attempt WHERE outcome = 'open'", false),
  ])
  func aScanIsRecognised(sql: String, isScan: Bool) throws {
    let f = try LedgerFixture()
    let db = try Connection(path: f.path, access: .readWrite)
    try db.execute("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY)")
    let plan = try db.rowsOnce("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }
    #expect(plan.contains { Self.isScan($0, Self.names(in: sql)) } == isScan, "\(plan)")
  }

  /// The tables and the aliases that the statement gives them.
  static func names(in sql: String) -> Set<String> {
    let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }.map(String.init)
    var names = tables
    for (i, word) in words.enumerated() where tables.contains(word) {
      let next = words.dropFirst(i + 1).first { $0 != "AS" } ?? ""
      if !next.isEmpty, next.allSatisfy({ $0.isLowercase }) { names.insert(next) }
    }
    return names
  }

  static func isScan(_ line: String, _ names: Set<String>) -> Bool {
    let words = line.split(separator: " ").map(String.init)
    guard words.count >= 2, words[0] == "SCAN", names.contains(words[1]), !words.contains("VIRTUAL") else {
      return false
    }
    guard let index = words.firstIndex(of: "INDEX"), index + 1 < words.count else { return true }
    return !short.contains(words[index + 1])
  }
}
