import Testing
import TransferModel

@testable import TransferLedger

/// What selections find in a ledger with three batches of three files each.
@Suite struct RowFilterTests {
  let f: LedgerFixture

  init() throws {
    f = try LedgerFixture()
    for batch in 1...3 {
      let id = try f.makeBatch("put:there", name: "n\(batch)")
      for name in ["a", "b", "c"] { _ = try f.add("\(batch)/\(name)", to: id) }
      f.clock.advance(ms: 1000)
    }
  }

  private func found(_ change: (inout RowFilter) -> Void) throws -> [Int64] {
    var filter = RowFilter()
    change(&filter)
    let rows = try f.ledger.read { try $0.files(filter, after: 0, limit: 100) }.map(\.id.rawValue)
    #expect(try f.ledger.read { try $0.countFiles(filter) } == rows.count)
    #expect(try f.ledger.read { try $0.totals(filter) }.files == rows.count)
    return rows
  }

  private func batches(_ change: (inout RowFilter) -> Void) throws -> [Int64] {
    var filter = RowFilter()
    change(&filter)
    let rows = try f.ledger.read { try $0.batches(filter, after: 0, limit: 100) }.map(\.id.rawValue)
    #expect(try f.ledger.read { try $0.countBatches(filter) } == rows.count)
    return rows
  }

  @Test func nothingSaidMeansEverything() throws {
    #expect(try found { _ in } == Array(1...9))
    #expect(try batches { _ in } == [1, 2, 3])
  }

  @Test func idsOfOneKindAddUp() throws {
    #expect(try found { $0.files = [2...2, 5...6, 2...2] } == [2, 5, 6])
    #expect(try found { $0.batches = [2...2] } == [4, 5, 6])
    #expect(try found { ($0.files, $0.batches) = ([1...1], [3...3]) } == [1, 7, 8, 9])
    #expect(try found { $0.files = [3...90_000] } == Array(3...9))
    #expect(try found { ($0.files, $0.batches) = ([9...90_000], [1...1]) } == [1, 2, 3, 9])
    #expect(try batches { $0.files = [2...2, 9...90_000] } == [1, 3])
    #expect(try batches { ($0.files, $0.batches) = ([2...2], [2...3]) } == [1, 2, 3])
  }

  @Test func kindsNarrowEachOther() throws {
    #expect(try found { ($0.files, $0.withinBatches) = ([2...5], [2]) } == [4, 5])
    #expect(try found { ($0.batches, $0.withinBatches) = ([1...2], [2, 3]) } == [4, 5, 6])
    #expect(try found { $0.withinBatches = [] }.isEmpty)
    #expect(try batches { ($0.batches, $0.withinBatches) = ([1...2], [2, 3]) } == [2])
    #expect(try batches { $0.withinBatches = [] }.isEmpty)
  }

  /// The endpoint of an S3 batch that has one, otherwise the bucket.
  @Test func hostsAreThoseThatAreTalkedTo() throws {
    let options: [[String: OptionValue]] = [["endpoint-url": "https://up.example:9000"], [:]]
    let made = try options.map { options in
      let settings = BatchSettings(destination: "s3://bucket/x/", options: options)
      return try f.ledger.write {
        try $0.createBatch(NewBatch(settings: settings, protocolName: "s3", destination: settings.destination))
      }
    }
    func batches(_ host: String) throws -> [Int64] {
      var terms = BatchTerms()
      terms.hosts = [host]
      return try f.ledger.read { try $0.batches(terms) }
    }
    for host in ["up.example", "up.example:9000", "up.*"] { #expect(try batches(host) == [made[0].rawValue]) }
    #expect(try batches("bucket") == [made[1].rawValue])
  }

  @Test func statesAndBackoff() throws {
    try f.shell("UPDATE file SET not_before = 9 WHERE id = 4; UPDATE file SET state = 'paused' WHERE id = 5")
    #expect(try found { $0.states = [.paused] } == [5])
    #expect(try found { $0.isBackingOff = true } == [4])
    #expect(try found { ($0.states, $0.isBackingOff) = ([.paused], true) } == [4, 5])
    #expect(try batches { $0.isBackingOff = true } == [2])
  }

  @Test func pathsAreBytes() throws {
    let odd = NewFile(
      path: NameBytes(Array("/src/".utf8) + [0xFF, 0x22, 0x5C, 0x0A, 0x2A]), key: NameBytes("odd"),
      identity: SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1))
    _ = try f.ledger.write { try $0.admit(odd, to: BatchID(rawValue: 1)) }
    #expect(try found { $0.paths = [NameBytes("*/b")] } == [2, 5, 8])
    #expect(try found { $0.paths = [NameBytes("/src/1/?"), NameBytes("*/2/c")] } == [1, 2, 3, 6])
    #expect(try found { $0.paths = [NameBytes([0x2A, 0xFF, 0x22, 0x5C, 0x0A, 0x5B, 0x2A, 0x5D])] } == [10])
    #expect(try found { $0.paths = [NameBytes("*[\"]*")] } == [10])
    #expect(try batches { $0.paths = [NameBytes("*/3/a")] } == [3])
  }

  @Test func aWindowHoldsItsBeginningAndNotItsEnd() throws {
    let first: Int64 = 1_700_000_000_000
    #expect(try found { $0.sinceMs = first + 1000 } == Array(4...9))
    #expect(try found { $0.untilMs = first + 1000 } == [1, 2, 3])
    #expect(try found { ($0.sinceMs, $0.untilMs) = (first + 1, first + 1001) } == [4, 5, 6])
    #expect(try batches { $0.untilMs = first + 1000 } == [1])
    try f.shell("UPDATE file SET state = 'cancelled', live = NULL, finished_at = \(first + 5000) WHERE id = 1")
    #expect(try found { $0.sinceMs = first + 5000 } == [1])
    #expect(try batches { $0.sinceMs = first + 5000 } == [1])
  }

  @Test func errorsOfFilesAreTheirCause() throws {
    try f.shell(
      """
      UPDATE file SET state = 'failed', live = NULL, cause = 'http.413', finished_at = created_at WHERE id IN (2, 4);
      UPDATE file SET state = 'failed', live = NULL, cause = 'net.reset', finished_at = created_at WHERE id = 9
      """)
    #expect(try found { $0.errors = ["http.*"] } == [2, 4])
    #expect(try found { $0.errors = ["http.4??", "net.*"] } == [2, 4, 9])
    #expect(try found { ($0.errors, $0.withinBatches) = (["http.*"], [2]) } == [4])
    let failures = try f.ledger.read { reader in
      var filter = RowFilter()
      (filter.errors, filter.withinBatches) = (["*"], [2])
      return try reader.failures(filter)
    }
    #expect(failures.map(\.code) == ["http.413"])
    #expect(failures.first?.files == 1)
  }

  /// Sizes, directions, times, attempts and proofs, each compared with the values in the rows.
  @Test func figuresOfFilesSelectThem() throws {
    try f.shell(
      """
      DROP TRIGGER file_learned; DROP TRIGGER batch_fixed;
      UPDATE file SET size = id * 100 WHERE id < 9; UPDATE batch SET direction = 'download' WHERE id = 3;
      UPDATE file SET started_at = created_at + 10, finished_at = created_at + 10 + id * 1000, live = NULL,
        state = 'cancelled' WHERE id IN (1, 2, 3);
      """)
    #expect(try found { $0.direction = .download } == [7, 8, 9])
    #expect(try found { $0.direction = .upload } == [1, 2, 3, 4, 5, 6])
    #expect(try found { ($0.minSize, $0.maxSize) = (300, 500) } == [3, 4, 5])
    #expect(try found { ($0.minSize, $0.batches) = (500, [2...2]) } == [5, 6])
    #expect(try found { $0.slowerThanMs = 1999 } == [2, 3])
    #expect(try found { $0.slowerThanMs = 2000 } == [3])
    #expect(try batches { $0.maxSize = 400 }.prefix(2) == [1, 2])
    #expect(try batches { $0.slowerThanMs = 1 } == [1])
    #expect(try found { $0.attemptCount = 1...9 }.isEmpty)
    #expect(try found { ($0.attemptCount, $0.files) = (0...0, [4...5]) } == [4, 5])
  }

  @Test func aWindowIsAboutTheTimeThatWasAskedFor() throws {
    let first: Int64 = 1_700_000_000_000
    try f.shell("UPDATE file SET started_at = \(first + 5000) WHERE id = 2")
    try f.shell(
      """
      UPDATE file SET started_at = \(first + 1), finished_at = \(first + 7000), live = NULL, state = 'cancelled' WHERE id = 4
      """)
    #expect(try found { ($0.sinceMs, $0.placedBy) = (first + 5000, .started) } == [2])
    #expect(try found { ($0.untilMs, $0.placedBy) = (first + 5000, .started) } == [4])
    #expect(try found { ($0.sinceMs, $0.placedBy) = (first, .finished) } == [4])
    #expect(try found { ($0.untilMs, $0.placedBy) = (first + 1000, .created) } == [1, 2, 3])
    #expect(try batches { ($0.sinceMs, $0.placedBy) = (first + 5000, .started) } == [1])
    #expect(try batches { ($0.sinceMs, $0.placedBy) = (first, .finished) } == [2])
    #expect(try batches { ($0.untilMs, $0.placedBy) = (first + 1000, .created) } == [1])
  }

  @Test func attemptsHaveTheirOwnErrorsTimesAndNumbers() throws {
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run, chunkSize: 5)
      for chunk in try tx.beginChunks(file.id, run, limit: 2, isRepeatable: true) {
        _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
        _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: 0)
      }
      _ = try tx.claimAndPlan(run)
    }
    func attempts(_ change: (inout RowFilter) -> Void) throws -> [Int64] {
      var filter = RowFilter()
      change(&filter)
      return try f.ledger.read { try $0.attempts(filter, after: 0, limit: 9) }.map(\.id.rawValue)
    }
    #expect(try attempts { $0.errors = ["net.*"] } == [1, 2])
    #expect(try attempts { $0.errors = ["http.*"] }.isEmpty)
    #expect(try attempts { $0.attempts = [2...2] } == [2])
    #expect(try attempts { $0.chunks = [1...1] } == [1])
    #expect(try attempts { ($0.chunks, $0.attempts) = ([1...1], [2...9]) } == [1, 2])
    #expect(try attempts { $0.sinceMs = f.clock.wallMs + 1 }.isEmpty)
    #expect(try attempts { $0.untilMs = f.clock.wallMs }.isEmpty)
    #expect(try attempts { ($0.files, $0.untilMs) = ([1...1], f.clock.wallMs + 1) } == [1, 2])
    #expect(try attempts { $0.withinBatches = [2] }.isEmpty)
    try f.shell("DROP TRIGGER attempt_closed; UPDATE attempt SET error_code = 'http.503' WHERE id = 2")
    for change: (inout RowFilter) -> Void in [
      { $0.errors = ["http.*"] }, { $0.attempts = [2...2] }, { ($0.errors, $0.sinceMs) = (["http.*"], 0) },
      { ($0.errors, $0.batches) = (["http.*"], [1...1]) }, { ($0.chunks, $0.files) = ([2...2], [1...9]) },
    ] {
      var filter = RowFilter()
      change(&filter)
      #expect(try f.ledger.read { try $0.attemptTotals(filter) }.attempts == 1, "\(filter)")
      let repeated = try f.ledger.read { try $0.costs(filter) }.backoff.values.map(\.attempts)
      #expect(repeated == [1], "\(filter)")
    }
    #expect(try found { $0.attempts = [2...2] } == [1])
    #expect(try found { $0.chunks = [90...99] }.isEmpty)
    let counted: [(ClosedRange<Int64>, [Int64])] = [(0...1, []), (2...2, [1]), (0...2, [1]), (1...9, [1]), (3...9, [])]
    for (count, files) in counted {
      #expect(try found { ($0.attemptCount, $0.files) = (count, [1...1]) } == files, "\(count)")
    }
    let chunks = try f.ledger.read { reader in
      var filter = RowFilter()
      filter.chunks = [2...3]
      return try reader.chunks(filter, after: 0, limit: 9).map(\.id.rawValue)
    }
    #expect(chunks == [2, 3])
  }

  /// The most frequent selections use an index, so that the size of the ledger does not matter.
  @Test(arguments: [
    (RowFilter.files([FileID(rawValue: 1), FileID(rawValue: 5)]), "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)"),
    (RowFilter.batch(BatchID(rawValue: 2)), "SEARCH f USING INDEX file_batch (batch_id=? AND rowid>?)"),
    (RowFilter(), "SEARCH f USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
  ])
  func hotSelectionsUseTheirIndex(_ filter: RowFilter, _ step: String) throws {
    let statement = filter.statement("SELECT f.id FROM file f WHERE f.id > ?1 AND {files} ORDER BY f.id LIMIT ?2")
    let connection = try Connection(path: f.path, access: .readOnly)
    let plan = try connection.rowsOnce("EXPLAIN QUERY PLAN \(statement.text)") { $0.text(3) }
    #expect(plan.first == step, "\(plan)")
    #expect(!plan.contains { $0.contains("B-TREE") }, "\(plan)")
  }
}
