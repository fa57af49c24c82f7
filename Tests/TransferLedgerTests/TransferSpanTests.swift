import Testing
import TransferModel

@testable import TransferLedger

/// The wall time and the active time of a transfer end with the attempt that ended its files: queries about done files
/// and aborts are no part of it, and a batch does not wait between its end and a retry.
@Suite struct TransferSpanTests {
  let f: LedgerFixture

  init() throws { f = try LedgerFixture() }

  /// Asks about a done file a day later, as `prove --remote` does.
  private func ask(_ file: Int64) throws {
    f.clock.advance(ms: 86_400_000)
    let run = try f.startRun()
    let attempt = try f.ledger.write { try $0.beginQuestion(FileID(rawValue: file), run, .verify) }
    f.clock.advance(ms: 5)
    _ = try f.ledger.write { try $0.endQuestion(attempt, of: FileID(rawValue: file), run, ok, nil) }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
  }

  private struct Spans: Equatable {
    var totals, batch: [Int64?]
    var active, longest: Int64?
    var throughput: [Int64?]
    var waiting: [TimeSpan]
  }

  private func spans(_ filter: RowFilter) throws -> Spans {
    try f.ledger.read { reader in
      let attempts = try reader.attemptTotals(filter)
      let rows = try reader.batchHistories(filter)
      return Spans(
        totals: [attempts.firstMs, attempts.lastMs],
        batch: rows.flatMap { [$0.batch.startedMs, $0.batch.finishedMs, $0.flow.firstMs, $0.flow.lastMs] },
        active: attempts.activeMs, longest: try reader.periods(.day, filter).compactMap(\.longestBatchMs).max(),
        throughput: try reader.attemptSpan(filter, nowMs: 0).map { [$0.fromMs, $0.toMs] } ?? [],
        waiting: try reader.costs(filter).waiting)
    }
  }

  private func expectNoChange(_ filters: [RowFilter], _ change: () throws -> Void) throws {
    let before = try filters.map(spans)
    try change()
    #expect(try filters.map(spans) == before)
  }

  private var filters: [RowFilter] {
    var windowed = RowFilter()
    windowed.untilMs = .max
    return [RowFilter(), .batch(BatchID(rawValue: 1)), .files([FileID(rawValue: 1)]), windowed]
  }

  @Test func aLaterProofIsNoPartOfATransfer() throws {
    try LogTests.send(f, 3)
    let sent = try f.ledger.read { try $0.attemptTotals(RowFilter()) }.attempts
    try expectNoChange(filters) { try ask(1) }
    #expect(try f.ledger.read { try $0.attemptTotals(RowFilter()) }.attempts == sent && sent >= 3)
  }

  /// The same when the attempts were added up, and when they were pruned.
  @Test func sumsSayTheSame() throws {
    try LogTests.send(f, 3)
    try ask(2)
    let before = try filters.prefix(2).map(spans)
    f.clock.advance(ms: 10)
    _ = try f.ledger.prune(before: f.clock.wallMs - 1)
    #expect(try f.texts("SELECT count(*) FROM attempt") == ["0"])
    let after = try filters.prefix(2).map(spans)
    // Throughput is computed from the attempts only.
    var expected = before
    for n in expected.indices { expected[n].throughput = [] }
    #expect(after == expected)
    #expect(try f.findings() == [])
  }

  private func fail(_ file: FileID, _ run: RunID) throws {
    let chunk = try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      return try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
    }
    f.clock.advance(ms: 10)
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      _ = try tx.releaseChunk(chunk.id, chunk.attempt)
      _ = try tx.failFile(file, run, code: .http403, message: "no", keepsSession: false)
    }
  }

  @Test func aBatchDoesNotWaitBetweenItsEndAndARetry() throws {
    let file = try f.add("a", to: f.makeBatch())
    let recordedMs = f.clock.wallMs
    try fail(file, f.startRun())
    let failedMs = f.clock.wallMs
    f.clock.advance(ms: 86_400_000)
    let retriedMs = f.clock.wallMs
    _ = try f.ledger.control(.retry(startsOver: false), RowFilter())
    let expected = [TimeSpan(recordedMs, failedMs), TimeSpan(retriedMs, .max)]
    #expect(try filters.map { try spans($0).waiting } == Array(repeating: expected, count: 4))
  }

  /// The other file had been waiting all the time.
  @Test func aBatchWaitsWhileAnotherFileIsLeft() throws {
    let batch = try f.makeBatch()
    let file = try f.add("a", to: batch)
    _ = try f.add("b", to: batch)
    let recordedMs = f.clock.wallMs
    try fail(file, f.startRun())
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.control(.retry(startsOver: false), .files([file]))
    #expect(try spans(RowFilter()).waiting == [TimeSpan(recordedMs, .max)])
  }

  /// Somebody found later that the other file had arrived: nothing was queued again by that.
  @Test func aResolutionAsDoneEndsNoIdleTime() throws {
    let (lost, run) = try TransitionTests.file(in: "unknown", f)
    let file = try f.add("b", to: BatchID(rawValue: 1))
    let recordedMs = f.clock.wallMs
    try fail(file, run)
    let failedMs = f.clock.wallMs
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.write { try $0.control(.resolve(.done, reason: "seen"), .files([lost])) }
    f.clock.advance(ms: 86_400_000)
    let retriedMs = f.clock.wallMs
    _ = try f.ledger.control(.retry(startsOver: false), .files([file]))
    let expected = [TimeSpan(recordedMs, failedMs), TimeSpan(retriedMs, .max)]
    #expect(try filters.prefix(2).map { try spans($0).waiting } == [expected, expected])
  }

  /// The first retry was withdrawn before anything was sent.
  @Test func retriesWithoutAnAttemptEndOneIdleTime() throws {
    let batch = try f.makeBatch()
    let (first, second) = (try f.add("a", to: batch), try f.add("b", to: batch))
    let recordedMs = f.clock.wallMs
    let run = try f.startRun()
    try fail(first, run)
    try fail(second, run)
    let failedMs = f.clock.wallMs
    f.clock.advance(ms: 86_400_000)
    _ = try f.ledger.control(.retry(startsOver: false), .files([first]))
    f.clock.advance(ms: 10)
    _ = try f.ledger.control(.cancel, .files([first]))
    f.clock.advance(ms: 86_400_000)
    let retriedMs = f.clock.wallMs
    _ = try f.ledger.control(.retry(startsOver: false), .files([second]))
    #expect(try spans(RowFilter()).waiting == [TimeSpan(recordedMs, failedMs), TimeSpan(retriedMs, .max)])
  }

  /// The same as a search through all later retries for each file, in histories of all kinds.
  @Test func unfinishedFilesAreThoseOfASearch() {
    var seed: UInt64 = 7
    func some(_ range: ClosedRange<Int64>) -> Int64 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return range.lowerBound + Int64(seed >> 33) % Int64(range.count)
    }
    for _ in 0..<200 {
      let decisions = (0..<some(1...8)).map { number in
        let files = (0..<some(1...3)).map { _ in some(1...10) }.map { $0...$0 + some(0...4) }
        return FileDecision(.retried, atMs: number * 10, files: files)
      }
      let retries = RetriesOfBatch(decisions)
      var work = UnfinishedWork(at: retries)
      var expected = Array(repeating: false, count: decisions.count)
      for file in Int64(0)...16 {
        let last = decisions.lastIndex { $0.files.contains { $0.contains(file) } }
        #expect(retries.last(of: file) == last)
        guard some(0...3) == 0 else { continue }
        let createdMs = some(0...80)
        let finishedMs = some(0...2) == 0 ? nil : createdMs + some(0...60)
        work.add(file, createdMs: createdMs, finishedMs: finishedMs)
        for (i, retry) in decisions.enumerated()
        where i > last ?? -1 && createdMs <= retry.atMs && retry.atMs < finishedMs ?? .max { expected[i] = true }
      }
      #expect(work.isBusy == expected)
    }
  }
}
