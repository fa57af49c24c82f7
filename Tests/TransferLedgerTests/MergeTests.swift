import CSQLite
import Glibc
import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// Ledgers merged into one: its content, that merging again adds nothing, and what is refused.
@Suite struct MergeTests {
  let home: LedgerFixture
  let shards: [LedgerFixture]
  var merged: String { home.folder + "/merged.db" }

  init() throws {
    home = try LedgerFixture()
    shards = try (0..<2).map { _ in try Self.shard() }
  }

  /// Fixtures start as copies of one file; here each becomes a separate ledger.
  private static func shard() throws -> LedgerFixture {
    let shard = try LedgerFixture()
    let connection = try Connection(path: shard.path, access: .readWrite)
    try connection.configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    try connection.execute("UPDATE store_meta SET uid = randomblob(16)")
    return shard
  }

  @discardableResult
  func merge(_ paths: [String]) throws(TransferError) -> [ShardMerge] {
    try Ledger.merge(paths, into: merged, clock: home.clock, isCancelled: { false })
  }

  @discardableResult
  func mergeAll() throws(TransferError) -> [ShardMerge] { try merge(shards.map(\.path)) }

  private func opened<T>(_ body: (Ledger) throws -> T) throws -> T {
    let ledger = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { ledger.close() }
    return try body(ledger)
  }

  func findings() throws -> [String] {
    try opened { try $0.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } }
  }

  func texts(_ sql: String, in path: String? = nil) throws -> [String] {
    try Connection(path: path ?? merged, access: .readOnly).rowsOnce(sql) { row in
      (0..<sqlite3_column_count(row.statement)).map { row.textOrNil($0) ?? "-" }.joined(separator: " ")
    }
  }

  func refusal(_ body: () throws(TransferError) -> Void) -> TransferError? {
    do throws(TransferError) { try body() } catch { return error }
    return nil
  }

  func copy(_ kind: LedgerCopy, of f: LedgerFixture, to name: String) throws -> String {
    let target = f.folder + "/" + name
    _ = try Ledger.copy(f.path, as: kind, to: target, replacing: true, isCancelled: { false })
    return target
  }

  /// The rows of a shard as they are in the merged ledger, with the shard's own numbers.
  private func rows(of number: Int64, _ table: ShardTable) throws -> [String] {
    let columns = try texts("SELECT name FROM pragma_table_info('\(table.name)')")
    let base = number * ShardNumber.stride
    let values = columns.map { column in
      table.numbers.contains(column)
        ? "quote(\(column) - \(base))" : table.others[column] == nil ? "quote(\(column))" : "0"
    }
    return try texts(
      """
      SELECT \(values.joined(separator: " || ',' || ")) FROM \(table.name)
      WHERE \(table.key) >= \(base) AND \(table.key) < \(base + ShardNumber.stride) ORDER BY 1
      """)
  }

  private func rows(in path: String, _ table: ShardTable) throws -> [String] {
    let columns = try texts("SELECT name FROM pragma_table_info('\(table.name)')", in: path)
    let values = columns.map { table.numbers.contains($0) || table.others[$0] == nil ? "quote(\($0))" : "0" }
    return try texts("SELECT \(values.joined(separator: " || ',' || ")) FROM \(table.name) ORDER BY 1", in: path)
  }

  private func requireAllRows() throws {
    for (number, shard) in zip(Int64(1)..., shards) {
      for table in ShardTable.all {
        let (found, expected) = (try rows(of: number, table), try rows(in: shard.path, table))
        #expect(found == expected, "\(table.name) of shard \(number)")
      }
    }
  }

  @Test func everyRowOfEachShardIsThereOnce() throws {
    try RulesTests.fill(shards[0])
    try LogTests.send(shards[1], 12)
    shards[1].clock.advance(ms: 2 * 86_400_000)
    _ = try shards[1].ledger.prune(before: shards[1].clock.wallMs - 86_400_000)
    try LogTests.send(shards[1], 70, as: "g")
    try shards[1].ledger.addUpHistory(until: { false })
    let told = try mergeAll()
    #expect(told.map(\.outcome) == [.merged, .merged] && told.map(\.number) == [1, 2])
    #expect(told.map(\.isUnfinished) == [true, false])
    try requireAllRows()
    #expect(try findings() == [])
    #expect(try texts("SELECT count(*) FROM chunk") != ["0"] && texts("SELECT count(*) FROM pruned_sum") != ["0"])
    #expect(try texts("SELECT count(*) FROM file_sum") != ["0"])
    #expect(try texts("SELECT verb FROM event WHERE id < 1000000000000") == ["merged", "merged"])
  }

  /// Every column that refers to numbered rows is renumbered with them.
  @Test func noReferenceIsForgotten() throws {
    let numbered = Set(ShardTable.all.map(\.name))
    for table in ShardTable.all {
      let references = try texts(
        """
        SELECT "from" FROM pragma_foreign_key_list('\(table.name)') WHERE "table" NOT IN ('error_code', 'origin_store')
        """, in: home.path)
      #expect(Set(references).subtracting(table.numbers) == [], "\(table.name)")
    }
    let left = try home.texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    let others: Set = [
      "store_meta", "error_code", "view_doc", "origin_store", "host_state", "job_state", "job_quota", "job_destination",
      "scan", "doubt", "callback", "outbox", "delivery", "callback_loss", "source_folder",
      "absent_source",
    ]
    #expect(Set(left) == numbered.union(others))
  }

  /// Even if no engine has started them: the report should show exactly those.
  @Test func filesThatWereOnlyAddedAreMergedToo() throws {
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 3)
    try mergeAll()
    _ = try shards[1].add("late", to: BatchID(rawValue: 1))
    #expect(try mergeAll().map(\.outcome) == [.unchanged, .merged])
    #expect(try texts("SELECT count(*) FROM file WHERE id >= 2000000000000") == ["4"])
  }

  /// The shard with the highest numbers is not the newest one: times decide.
  @Test func theNewestIsFoundByTimes() throws {
    shards[0].clock.advance(ms: 86_400_000)
    for shard in shards { try LogTests.send(shard, 3) }
    try mergeAll()
    try opened { ledger in
      try ledger.read { reader in
        #expect(try reader.newestBatch()?.rawValue == 1_000_000_000_001)
        #expect(try reader.newestRun()?.id.rawValue == 1_000_000_000_001)
        #expect(try reader.newestBatches(limit: 9).map(\.id.rawValue) == [1_000_000_000_001, 2_000_000_000_001])
        #expect(try reader.newestMs() == shards[0].clock.wallMs)
        let parts = try reader.newestNumbersOfParts()
        #expect(parts.map(\.part) == [0, 1, 2])
        #expect(parts.map(\.attempt) == [0, 1_000_000_000_004, 2_000_000_000_004])
        let first = try reader.endedAttempts(RowFilter(), after: parts[1].after, before: parts[1].before)
        #expect(first.count == 4 && first.allSatisfy { $0.attempt.id.rawValue < parts[2].after })
        let events = try reader.eventParts(RowFilter(), after: parts[1].after, before: parts[1].before, limit: 99)
        #expect(events.last?.id == parts[1].event)
      }
    }
  }

  /// A retry by `add` is an event of its ledger, so that the shard is merged again.
  @Test func whatAnAddTriesAgainIsMerged() throws {
    let batch = try shards[0].makeBatch()
    let file = try shards[0].add("a", to: batch)
    let run = try shards[0].startRun()
    try shards[0].ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(file, run, code: .http403, message: "no", keepsSession: false)
    }
    try mergeAll()
    #expect(try texts("SELECT state FROM file") == ["failed"])
    _ = try shards[0].ledger.write { [page = shards[0].page(["a"]), target = shards[0].target()] tx in
      try tx.admit(page, to: target)
    }
    #expect(try mergeAll().map(\.outcome) == [.merged, .unchanged])
    #expect(try texts("SELECT state FROM file") == ["pending"])
  }

  /// The times of attempts increase with their numbers within a shard, but not from one shard to the next.
  @Test func theAttemptsOfAShardAreFoundByTheirTimes() throws {
    shards[0].clock.advance(ms: 86_400_000)
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 3)
    try mergeAll()
    let reader = try Ledger.open(at: merged, mode: .readOnly, clock: home.clock)
    defer { reader.close() }
    for batch in [BatchID(rawValue: 1_000_000_000_001), BatchID(rawValue: 2_000_000_000_001)] {
      let found = try reader.read { reader in
        let row = try #require(try reader.whyRow(.batch(batch)))
        var count = 0
        try reader.attemptTraces(row, sortedFiles: 0) { _ in count += 1 }
        return count
      }
      #expect(
        try texts("SELECT count(*) FROM attempt a JOIN file f ON f.id = a.file_id WHERE f.batch_id = \(batch.rawValue)")
          == ["\(found)"])
      #expect(found > 0)
    }
  }

  @Test func mergingAgainWritesNothing() throws {
    try RulesTests.fill(shards[0])
    try LogTests.send(shards[1], 3)
    try mergeAll()
    let before = try fileBytes(merged) + fileBytes(merged + "-wal")
    #expect(try mergeAll().map(\.outcome) == [.unchanged, .unchanged])
    #expect(try merge([shards[1].path, shards[0].path]).map(\.number) == [2, 1])
    #expect(try fileBytes(merged) + fileBytes(merged + "-wal") == before)
    let twice = try merge([shards[0].path, shards[0].folder + "/../" + lastPart(shards[0].folder) + "/transfers.db"])
    #expect(twice.map(\.outcome) == [.unchanged, .repeated])
  }

  /// People copy a merged ledger as one file, and a merge may have been refused half-way.
  @Test func theFileAloneIsTheMergedLedger() throws {
    func filesOfACopy() throws -> [String] {
      let alone = home.folder + "/alone.db"
      try writeBytes(try fileBytes(merged), to: alone)
      defer { for suffix in Ledger.fileSuffixes { unlink(alone + suffix) } }
      return try texts("SELECT count(*) FROM file", in: alone)
    }
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 2)
    let diverged = try copy(.backup, of: shards[0], to: "diverged.db")
    let other = try Ledger.open(at: diverged, mode: .existing, clock: HandClock())
    _ = try other.write { try $0.recordEvent("looked at", batch: nil, file: nil, detail: "there") }
    other.close()
    try LogTests.send(shards[0], 1, as: "here")
    try merge([shards[0].path])
    #expect(try filesOfACopy() == ["4"])
    let refused = refusal { () throws(TransferError) in try merge([shards[1].path, diverged]) }
    #expect(refused?.kind == .storeUnsuitable)
    #expect(try filesOfACopy() == ["6"])
  }

  private func lastPart(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

  /// A shard continues after it was merged; its numbers stay, and nothing counts twice.
  @Test func aShardThatWentOnIsMergedFurther() throws {
    try LogTests.send(shards[0], 3)
    try LogTests.send(shards[1], 2)
    try mergeAll()
    try LogTests.send(shards[0], 4, as: "more")
    #expect(try mergeAll().map(\.outcome) == [.merged, .unchanged])
    try requireAllRows()
    #expect(try texts("SELECT count(*) FROM file") == ["9"])
    #expect(try findings() == [])
  }

  /// The newest run made no request, on a node whose clock is an hour behind that of the run before it.
  @Test func aRunOnANodeWhoseClockIsBehindIsMerged() throws {
    try LogTests.send(shards[0], 2)
    let connection = try Connection(path: shards[0].path, access: .readWrite)
    let columns = "argv, version, host, boot_id, pid, started_at, heartbeat_at"
    func run(_ hours: Int) throws {
      try connection.execute(
        "INSERT INTO engine_run (uid, \(columns)) VALUES (randomblob(16), '[]', '0', 'h', 'b', 1, "
          + "\(hours) * 3600000, \(hours) * 3600000 + 5000);"
          + "UPDATE engine_run SET ended_at = heartbeat_at + 4000, how = 'done' WHERE ended_at IS NULL")
    }
    try run(900_001)
    try mergeAll()
    try run(900_000)
    #expect(try mergeAll().map(\.outcome) == [.merged, .unchanged])
    #expect(try mergeAll().map(\.outcome) == [.unchanged, .unchanged])
    try requireAllRows()
  }

  /// A copy stands for its ledger: the newest state counts, in whatever order they are merged.
  @Test(arguments: LedgerCopy.allCases) func copiesOfALedgerAreOneShard(_ kind: LedgerCopy) throws {
    try LogTests.send(shards[0], 2)
    let early = try copy(kind, of: shards[0], to: "early.db")
    try LogTests.send(shards[0], 3, as: "more")
    let late = try copy(kind, of: shards[0], to: "late.db")
    #expect(try merge([late, early]).map(\.outcome) == [.merged, .older])
    #expect(try merge([early, late, shards[0].path]).map(\.outcome) == [.older, .unchanged, .unchanged])
    #expect(try texts("SELECT count(*) FROM file") == ["5"])
    #expect(try findings() == [])
  }

  /// A merge that was stopped before the first row, or between two shards, keeps what it has merged.
  @Test func aMergeThatIsStoppedLeavesWholeShards() throws {
    try LogTests.send(shards[0], 2)
    try LogTests.send(shards[1], 300)
    for limit in [0, 3, 30, 300] {
      for suffix in Ledger.fileSuffixes { unlink(merged + suffix) }
      var asked = 0
      let error = refusal { () throws(TransferError) in
        _ = try Ledger.merge(shards.map(\.path), into: merged, clock: home.clock) {
          asked += 1
          return asked > limit
        }
      }
      #expect(error == nil || error?.kind == .interrupted)
      try mergeAll()
      #expect(try texts("SELECT count(*) FROM file") == ["302"])
      #expect(try findings() == [])
    }
  }

  /// Two machines fetch into a folder of the same name and send to the same keys.
  @Test func equalPathsAndKeysOfTwoShardsStayApart() throws {
    for shard in shards {
      try LogTests.send(shard, 2)
      try shard.shell(RulesTests.download)
      try shard.logTheRest()
    }
    // The batch has the same UID in both shards, which two real ledgers never have.
    try shards[1].shell("DROP TRIGGER batch_fixed; UPDATE batch SET uid = randomblob(16) WHERE direction = 'download'")
    try mergeAll()
    #expect(try texts("SELECT count(*), count(DISTINCT path) FROM file WHERE is_download") == ["2 1"])
    #expect(try texts("SELECT count(*), count(DISTINCT place) FROM destination") == ["2 1"])
  }

  /// A seal of a shard is compared with the shard's log in the merged ledger, and proves its receipts.
  @Test func sealsOfAShardHoldInTheMergedLedger() throws {
    try LogTests.send(shards[0], 4)
    let seal = try shards[0].ledger.logProver(withReceipts: false).seal
    try LogTests.send(shards[0], 2, as: "later")
    try LogTests.send(shards[1], 3)
    try merge([shards[1].path, shards[0].path])
    try opened { ledger in
      let key = try #require(seal.publicKey)
      let comparison = try ledger.compare(seal: seal.note, key: key)
      #expect(comparison.findings == [] && comparison.signature == .valid && comparison.origin == seal.origin)
      let prover = try #require(try ledger.logProver(sealedAs: seal.note).prover)
      let proven = try ledger.read { try $0.provenReceipts(RowFilter(), after: 0, limit: 99, by: prover) }.receipts
      let ours = try shards[0].ledger.logProver(sealedAs: seal.note).prover
      let theirs = try shards[0].ledger.read {
        try $0.provenReceipts(RowFilter(), after: 0, limit: 99, by: try #require(ours))
      }.receipts
      #expect(proven.map(\.proof) == theirs.map(\.proof) && proven.map(\.leaf) == theirs.map(\.leaf))
      #expect(proven.count == 4)
      #expect(try ledger.logProver(withReceipts: false).seal.leaves == 2)
      let error = #expect(throws: TransferError.self) { _ = try ledger.logProver(withReceipts: true) }
      #expect(error?.kind == .usage)
    }
  }

  /// Changing or deleting a row of a shard in the merged ledger is detected by the shard's log.
  @Test(arguments: [
    "UPDATE receipt SET etag = 'x' WHERE file_id = 2000000000002",
    "DELETE FROM attempt WHERE id = 1000000000001", "UPDATE event SET detail = 'x' WHERE id = 1000000000001",
  ]) func aChangedRowOfAShardIsFound(_ sql: String) throws {
    try LogTests.send(shards[0], 2)
    try LogTests.send(shards[1], 2)
    try mergeAll()
    #expect(try findings() == [])
    let connection = try Connection(path: merged, access: .readWrite)
    try connection.configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    try connection.execute(sql)
    #expect(try findings().contains { $0.hasPrefix("I51") })
  }

  /// Totals over the merged ledger equal the sum over its shards.
  @Test func figuresAreTheSumOfTheShards() throws {
    try RulesTests.fill(shards[0])
    try LogTests.send(shards[1], 100)
    shards[1].clock.advance(ms: 2 * 86_400_000)
    _ = try shards[1].ledger.prune(before: shards[1].clock.wallMs - 86_400_000)
    try LogTests.send(shards[1], 300, as: "g")
    try shards[1].ledger.addUpHistory(until: { false })
    try mergeAll()
    func figures(_ ledger: Ledger) throws -> [Int64] {
      try ledger.read { reader in
        let filter = RowFilter()
        let sums = try reader.attemptSums(filter)
        return [
          Int64(try reader.doneTally(try reader.doneSums()).count), try reader.doneTally(try reader.doneSums()).sum,
          Int64(try reader.unverified(try reader.doneSums())), sums.bytesTransferred,
        ] + AttemptSumRow.outcomes.map { sums.outcomes[$0] ?? 0 }
      }
    }
    let apart = try shards.map { try figures($0.ledger) }
    #expect(try opened(figures) == zip(apart[0], apart[1]).map { $0 + $1 })
    #expect(apart[1][0] == 400)
  }
}
