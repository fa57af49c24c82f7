import Testing
import TransferLedger
import TransferModel
import Transfers

@testable import TransfersCLI

/// Waiting and following: the ledger changes during the pauses, by the same transitions as elsewhere.
@Suite struct WaitTests {
  let folder: TemporaryFolder
  let path: String
  let clock = StillClock(1_763_632_900_000)

  init() throws {
    folder = try TemporaryFolder()
    path = try FilledLedger(in: folder).path
  }

  /// Waits for the files of `filter`; the n-th step runs in the n-th pause.
  private func wait(
    _ goal: WaitGoal, _ filter: RowFilter, timeoutMs: Int64? = 60_000,
    _ steps: [(LedgerTransaction) throws -> Void] = []
  ) throws -> (WaitOutput, pauses: [Int64]) {
    let ledger = try OpenStore(at: path, .readOnly, clock: clock)
    let writer = try Ledger.open(at: path, mode: .existing, clock: clock)
    defer {
      writer.close()
      ledger.close()
    }
    let steps = Lock(steps.map(Step.init))
    let pauses = Lock<[Int64]>([])
    let watch = LedgerWatch(ledger: ledger, clock: clock) { [clock] ms in
      clock.advance(ms: ms)
      pauses.withLock { $0.append(ms) }
      guard let step = steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
      #expect(throws: Never.self) { try writer.write { try step.body($0) } }
    }
    let files = try ledger.read { try AwaitedFiles(filter, $0) }
    let end = try LedgerWaiter(watch: watch).wait(for: goal, files, timeoutMs: timeoutMs)
    return (WaitOutput(end), pauses.withLock { $0 })
  }

  private struct Step: @unchecked Sendable { let body: (LedgerTransaction) throws -> Void }

  private static let second = RowFilter.batch(BatchID(rawValue: 2))
  private static let file = RowFilter.files([FileID(rawValue: 5)])

  @Test func whatIsAtRestIsNotWaitedFor() throws {
    let (first, pauses) = try wait(.settled, .batch(BatchID(rawValue: 1)))
    #expect(pauses.isEmpty)
    #expect(
      (first.status, first.totals.count(.done), first.failed, first.totals.count(.unknown)) == (.partial, 1, 2, 1))
    #expect(try wait(.settled, .files([FileID(rawValue: 1)])).0.status == .ok)
    #expect(try wait(.settled, .files([FileID(rawValue: 2)])).0.status == .allFailed)
    #expect(first.text(.plain) == "partial: 1 done, 2 failed, 1 unknown · 10.0 MiB acked · waited 0 ms\n")
  }

  @Test func aChangeIsSeenAtTheNextLook() throws {
    let (end, pauses) = try wait(.settled, Self.second, [{ _ in }, { _ = try $0.control(.cancel, Self.file) }])
    #expect(pauses == [200, 200])
    #expect((end.status, end.totals.count(.cancelled)) == (.allFailed, 1))
  }

  @Test func theTimeIsOver() throws {
    let (end, pauses) = try wait(.done, Self.second, timeoutMs: 500)
    #expect(pauses == [200, 200, 100])
    #expect((end.status, end.timedOut, end.totals.left) == (.timeout, true, 1))
    #expect(try wait(.done, Self.second, timeoutMs: 0).pauses.isEmpty)
  }

  @Test func pausedFilesAreSettledAndNotDone() throws {
    let pause: (LedgerTransaction) throws -> Void = { _ = try $0.control(.pause(now: false), Self.file) }
    let settled = try wait(.settled, Self.second, [pause]).0
    #expect((settled.status, settled.totals.count(.paused)) == (.workLeft, 1))
    let (done, pauses) = try wait(.done, Self.second, [{ _ in }, { _ = try $0.control(.cancel, Self.file) }])
    #expect(pauses.count == 2)
    #expect(done.status == .allFailed)
  }

  @Test func filesPastTheDeadlineOfTheirBatchAreSettledAndNotDone() throws {
    var change = BatchChange()
    change.deadlineMs = .to(clock.wallMs + 4_000)
    let ledger = try Ledger.open(at: path, mode: .existing, clock: clock)
    _ = try ledger.changeBatches(Self.second, change)
    ledger.close()
    let (end, pauses) = try wait(.settled, Self.second)
    #expect(pauses.reduce(0, +) >= 4_000, "a deadline passes without a change of the ledger")
    #expect((end.status, end.overdue, end.totals.left) == (.workLeft, 1, 1))
    #expect(end.reason == "1 past the deadline")
    #expect(try wait(.settled, Self.file).0.status == .workLeft)
    #expect(try wait(.settled, .batch(BatchID(rawValue: 1))).0.overdue == 0)
    #expect(try wait(.done, Self.second, timeoutMs: 500).0.timedOut)
    let program = try BuiltProgram()
    let outcome = try program.run("wait", "f5", "--store", path)
    #expect(outcome.code == 5)
    #expect(outcome.err.hasSuffix("1 past the deadline. Try: transfers set --deadline none b2\n"), "\(outcome.err)")
  }

  @Test func whatDoesNotMatchYetIsToldWhenItDoes() throws {
    let ledger = try Ledger.open(at: path, mode: .existing, clock: clock)
    defer { ledger.close() }
    let run = try ledger.startRun(NewRun(argv: [], version: "", host: "h", bootID: "b", pid: 1))
    var errors = RowFilter()
    errors.errors = ["http.*"]
    let reading = try OpenStore(at: path, .readOnly, clock: clock)
    defer { reading.close() }
    var follower = try LedgerFollower(reading, errors)
    let attempts = try ledger.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      _ = try tx.plan(FileID(rawValue: 5), run, ChunkLayout(size: 1 << 30, chunkSize: 1 << 29))
      return try tx.beginChunks(FileID(rawValue: 5), run, limit: 2, isRepeatable: true).map(\.attempt)
    }
    var told: [AttemptID] = []
    try follower.advance { told += $0.compactMap(\.attempt?.id) }
    for (attempt, code) in zip(attempts, [ErrorCode.http503, .netReset]) {
      _ = try ledger.write { try $0.closeAttempt(attempt, run, AttemptResult(outcome: .retry, code: code)) }
    }
    try follower.advance { told += $0.compactMap(\.attempt?.id) }
    #expect(told == [attempts[0]])
  }

  @Test func doneEndsWithTheFirstThatCannotBe() throws {
    let (end, pauses) = try wait(.done, RowFilter())
    #expect(pauses.isEmpty)
    #expect((end.status, end.totals.left) == (.partial, 1))
  }

  @Test func whatIsFollowedIsToldOnce() throws {
    let ledger = try OpenStore(at: path, .readOnly, clock: clock)
    let writer = try Ledger.open(at: path, mode: .existing, clock: clock)
    defer {
      writer.close()
      ledger.close()
    }
    func told(_ follower: inout LedgerFollower) throws -> [String] {
      var texts: [String] = []
      try follower.advance { rows in
        texts += rows.map { row in
          row.event?.verb ?? "\(row.attempt?.id.description ?? "") \(row.attempt?.outcome ?? "")"
        }
      }
      return texts
    }
    var follower = try LedgerFollower(ledger, RowFilter())
    #expect(try told(&follower).isEmpty)
    let run = try writer.startRun(NewRun(argv: [], version: "", host: "h", bootID: "b", pid: 1))
    let attempts = try writer.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      _ = try tx.plan(FileID(rawValue: 5), run, ChunkLayout(size: 1 << 30, chunkSize: 1 << 29))
      return try tx.beginChunks(FileID(rawValue: 5), run, limit: 2, isRepeatable: true).map(\.attempt)
    }
    #expect(try told(&follower).isEmpty)
    var late = try LedgerFollower(ledger, RowFilter())
    _ = try writer.write { try $0.closeAttempt(attempts[1], run, AttemptResult(outcome: .ok)) }
    #expect(try told(&follower) == ["\(attempts[1]) ok"])
    clock.advance(ms: 5)
    _ = try writer.write { try $0.closeAttempt(attempts[0], run, AttemptResult(outcome: .interrupted)) }
    clock.advance(ms: 5)
    _ = try writer.write { try $0.recordEvent("hello", batch: nil, file: nil, detail: "") }
    #expect(try told(&follower) == ["\(attempts[0]) interrupted", "hello"])
    #expect(try told(&follower).isEmpty)
    #expect(try told(&late) == ["\(attempts[1]) ok", "\(attempts[0]) interrupted", "hello"])
    var since = RowFilter()
    since.sinceMs = 1_763_632_900_000
    var again = try LedgerFollower(ledger, since)
    #expect(try told(&again) == ["\(attempts[1]) ok", "\(attempts[0]) interrupted", "hello"])
  }
}
