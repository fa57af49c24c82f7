import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// The figures of a run.
@Suite struct RunTallyTests {
  private let run: RunFixture
  private let tally: RunTally
  private let machine: FileMachine

  init() throws {
    run = try RunFixture()
    try run.add("a")
    run.settle()
    machine = try #require(run.loop.files.all.values.first?.machine)
    tally = RunTally(run.engine)
  }

  private var result: RunResult { tally.end(nil) }
  private let mismatch = FileChange.fail(.integrityMismatch, "it differs", keepsSession: false)

  private func count(_ change: FileChange, _ requestedAction: RequestedAction? = nil) {
    tally.count(change, of: machine, requestedAction: requestedAction, held: 0)
  }

  private func told() -> (failed: Int, unknown: Int) {
    let notices = run.notices
    return (
      notices.count { if case .failed = $0 { true } else { false } },
      notices.count { if case .unknown = $0 { true } else { false } }
    )
  }

  @Test func eachEndCountsAndIsTold() {
    count(.fail(.http403, "no", keepsSession: false))
    count(mismatch)
    count(.unknown(.netReset, "lost"))
    #expect(result.failed == 2 && result.mismatched == 1 && result.unknown == 1 && result.done == 0)
    #expect(told() == (2, 1))
  }

  /// The ledger records it as cancelled.
  @Test(arguments: [RequestedAction.cancel, .remove]) func aCancelledFileIsNotUnknown(_ action: RequestedAction) {
    count(.unknown(.netReset, "lost"), action)
    #expect(result.unknown == 0 && told() == (0, 0))
  }

  @Test func aPausedFileMayBeUnknown() {
    count(.unknown(.netReset, "lost"), .pause)
    #expect(result.unknown == 1)
  }

  @Test func whatWasNotAppliedIsTakenBack() {
    count(mismatch)
    count(.unknown(.netReset, "lost"))
    var unit = FileUnit(file: machine.claimed.id, session: nil)
    unit.changes = [mismatch, .unknown(.netReset, "lost")]
    tally.takeBack(unit)
    #expect(result.failed == 0 && result.mismatched == 0 && result.unknown == 0)
  }

  @Test func aRefusedFileCountsAsTheLedgerHasIt() {
    tally.refused()
    tally.abandoned(nil, machine.claimed.id, reason: "no")
    #expect(result.failed == 1 && result.unknown == 0 && told() == (1, 0))
    tally.refused()
    let end = AbandonedFile(id: machine.claimed.id, isApplied: true, state: .unknown, path: nil)
    tally.abandoned(end, machine.claimed.id, reason: "no")
    #expect(result.failed == 1 && result.unknown == 1 && told() == (1, 1))
  }

  @Test func bytesAreCountedByWhatBecameOfThem() {
    tally.moved(bytes: 7)
    tally.acknowledged(bytes: 5)
    tally.acknowledged(bytes: -2)
    tally.reused(bytes: 4)
    #expect(result.bytesTransferred == 7 && result.bytesAcked == 3 && result.bytesReused == 4)
  }

  @Test func theFirstFailureOfABatchThatWaitsIsKept() {
    let first = Failure(.localDiskFull, "no space")
    tally.waits(machine, first)
    tally.waits(machine, Failure(.authNeedsURL, "no URL"))
    #expect(result.waiting == [machine.claimed.batch: first])
  }

  @Test func theResultSaysHowLongTheRunTookAndWhyItEnded() {
    run.clock.advance(ms: 70)
    tally.unreachable(["two", "one"])
    let result = tally.end(.limit)
    #expect(result.wallMs == 70 && result.stoppedBy == .limit && result.unreachable == ["one", "two"])
  }
}
