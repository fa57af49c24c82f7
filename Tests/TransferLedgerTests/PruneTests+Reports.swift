import Testing
import TransferLog
import TransferModel

@testable import TransferLedger

/// What reports say after a prune.
extension PruneTests {
  /// Random histories: reports on everything, on each batch and on each run are the same before and after a prune.
  @Test(arguments: 1...6 as ClosedRange<UInt64>) func reportsSayTheSame(_ seed: UInt64) throws {
    var random = Xorshift(seed: seed)
    var history = RandomHistory(f)
    for _ in 0..<12 { try history.live(&random) }
    let filters = [RowFilter()] + history.batches.map { .batch($0) } + [Self.window(f.clock.wallMs - 9 * Self.day, nil)]
    let before = try filters.map { try PrunedFigures(f, $0) }
    #expect(try f.findings() == [])
    var attempts: Int64 = 0
    for days in [11, 7, 7, 4, 1] as [Int64] {
      attempts += try prune(days: days).pruned.attempts
      #expect(try f.findings() == [])
      for (filter, figures) in zip(filters, before) {
        // An attempt may cross the edge of a window; then it is reported as left out.
        let left = try f.ledger.read { try $0.prunedHistory(filter, isSummed: true) }.attempts
        #expect(left == 0 || filter.sinceMs != nil)
        #expect(try left > 0 || PrunedFigures(f, filter) == figures, "\(filter) after \(days) days")
      }
    }
    #expect(attempts > 50)
    #expect(try f.ledger.read { try $0.prunedHistory(RowFilter(), isSummed: true) }.attempts == 0)
    #expect(try f.ledger.read { try $0.prunedHistory(RowFilter(), isSummed: false) }.attempts == attempts)
  }

  private static func window(_ since: Int64?, _ until: Int64?) -> RowFilter {
    var filter = RowFilter()
    (filter.sinceMs, filter.untilMs) = (since.map { $0 / 900_000 * 900_000 }, until)
    return filter
  }

  /// With a window that splits a quarter of an hour, or a selection that sums cannot distinguish, the ledger reports
  /// how many attempts may be missing.
  @Test func whatSumsDoNotTellIsSaid() throws {
    try LogTests.send(f, 9)
    let middleMs = f.clock.wallMs - 45
    f.clock.advance(ms: 2 * Self.day)
    _ = try prune()
    let cut = try f.ledger.read { reader in
      var filter = RowFilter()
      filter.sinceMs = middleMs
      return (try reader.attemptTotals(filter).attempts, try reader.prunedHistory(filter, isSummed: true))
    }
    #expect(cut.0 == 0 && cut.1.attempts == 10)
    var done = RowFilter()
    done.states = [.done]
    #expect(try f.ledger.read { try $0.prunedHistory(done, isSummed: true) }.attempts == 10)
    #expect(try f.ledger.read { try $0.totals(done) }.bytesAcked == 90)
    var early = RowFilter()
    early.untilMs = 5
    #expect(try f.ledger.read { try $0.prunedHistory(early, isSummed: false) }.attempts == 0)
  }

  @Test func aFileStillSaysWhatItTook() throws {
    try LogTests.send(f, 3)
    f.clock.advance(ms: 2 * Self.day)
    let before = try f.ledger.read { try $0.files(RowFilter(), after: 0, limit: 9) }
    _ = try prune()
    let after = try f.ledger.read { try $0.files(RowFilter(), after: 0, limit: 9) }
    #expect(after.map(\.prunedMs) == Array(repeating: f.clock.wallMs, count: 3))
    #expect(
      before
        == after.map { row in
          var row = row
          row.prunedMs = nil
          return row
        })
    var twice = RowFilter()
    twice.attemptCount = 2...2
    #expect(try f.ledger.read { try $0.countFiles(twice) } == 1)
  }
}

/// Report values that are computed from attempts.
struct PrunedFigures: Equatable {
  var totals: FileTotals
  var attempts: AttemptTotals
  var costs: CostSums
  var hosts: [HostRow]
  var periods: [[PeriodRow]]
  var batches: [BatchHistory]
  var failures: [String]
  var runs: [String]

  init(_ f: LedgerFixture, _ filter: RowFilter) throws {
    self = try f.ledger.read { try PrunedFigures($0, filter) }
  }

  private init(_ reader: LedgerReader, _ filter: RowFilter) throws {
    totals = try reader.totals(filter)
    attempts = try reader.attemptTotals(filter)
    costs = try reader.costs(filter)
    hosts = try reader.hosts(filter)
    periods = try [CalendarPeriod.day, .week, .month].map { try reader.periods($0, filter) }
    batches = try reader.batchHistories(filter)
    // The example of an error is an attempt that may have been pruned.
    failures = try reader.failures(filter).map {
      "\($0.code) \($0.files) \($0.attempts) \($0.firstMs ?? 0) \($0.lastMs ?? 0)"
    }
    runs = try reader.runs(filter).rows.map { "\($0.run.id) \($0.attempts) \($0.recovered) \($0.bytesTransferred)" }
  }
}

/// Lives of files, about a day apart.
private struct RandomHistory {
  let f: LedgerFixture
  private(set) var batches: [BatchID] = []
  private var version: Int64 = 1

  init(_ f: LedgerFixture) { self.f = f }

  mutating func live(_ random: inout Xorshift) throws {
    let place = ["put:one", "put:two", "https://three.example:8443/x"].randomElement(using: &random)!
    let batch = try f.makeBatch(place)
    batches.append(batch)
    for n in 0..<Int.random(in: 1...7, using: &random) {
      version += Int64.random(in: 0...1, using: &random)
      _ = try f.admit("f\(n)", size: Int64.random(in: 0...60, using: &random), version: version, to: batch)
    }
    let run = try f.startRun()
    while try f.ledger.read({ try $0.hasReadyFiles(without: []) }), Int.random(in: 0..<15, using: &random) > 0 {
      f.clock.advance(ms: Int64.random(in: 0...1_000_000, using: &random))
      try send(run, &random)
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    f.ledger.close()
    try f.restart()
    f.clock.advance(ms: Int64.random(in: 40_000_000...120_000_000, using: &random))
  }

  private func send(_ run: RunID, _ random: inout Xorshift) throws {
    let file = try f.ledger.write { try $0.claimAndPlan(run) }
    let failures = Int.random(in: 0...2, using: &random)
    for _ in 0..<failures {
      let fate = try f.ledger.write { tx in try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true).first }
      guard let fate else { break }
      f.clock.advance(ms: Int64.random(in: 0...50_000, using: &random))
      var lost = result(.retry)
      (lost.bytesTransferred, lost.backoffMs) = (fate.facts.range.length, Int64.random(in: 0...9, using: &random))
      lost.timing.connectMs = Int64.random(in: 0...9, using: &random)
      try f.ledger.write { [lost] tx in
        _ = try tx.closeAttempt(fate.attempt, run, lost)
        _ = try tx.releaseChunk(fate.id, fate.attempt)
      }
    }
    while true {
      let chunk = try f.ledger.write { try $0.beginChunks(file.id, run, limit: 1, isRepeatable: true).first }
      guard let chunk else { break }
      f.clock.advance(ms: Int64.random(in: 1...400_000, using: &random))
      var sent = acked(chunk.facts.range.length)
      (sent.timing.totalMs, sent.timing.firstByteMs) = (Int64.random(in: 1...99, using: &random), 3)
      sent.httpVersion = "1.1"
      try f.ledger.write { [sent] tx in
        _ = try tx.closeAttempt(chunk.attempt, run, sent)
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      }
    }
    try f.ledger.write { _ = try $0.completeFile(file.id, run, proof) }
  }
}
