import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

/// Changes of files on their way to the ledger.
@Suite struct CommitsTests {
  private let run: RunFixture
  private let commits: Commits
  private let unit: FileUnit

  /// One claimed file is to be released.
  init() throws {
    run = try RunFixture { $0.claimsFiles = false }
    try run.add("a")
    let file = try #require(try run.claim().first)
    var unit = FileUnit(file: file.id, session: nil)
    unit.changes = [.release(notBeforeMs: nil, nil, isFailure: false)]
    (self.unit, commits) = (unit, run.loop.commits)
  }

  @Test func resultsWaitForOthersForSomeMilliseconds() throws {
    #expect(commits.isIdle && commits.isEmpty && !commits.isWriting && commits.dueMs == nil)
    commits.append(unit)
    #expect(!commits.isDue && commits.dueMs == run.engine.bootMs + CommitQueue.gatheringMs && !commits.isIdle)
    run.clock.advance(ms: CommitQueue.gatheringMs)
    #expect(commits.isDue)
  }

  @Test func aWriteIsUnderWayUntilTheLedgerHasConfirmedIt() throws {
    commits.append(unit)
    commits.writeGathered()
    #expect(commits.isEmpty && commits.isWriting && !commits.isIdle && commits.dueMs == nil)
    run.handleArrived()
    #expect(commits.isIdle && !commits.isWriting)
    #expect(try run.states() == ["pending"])
  }

  /// Nobody else may claim the file before: it is released only after the work.
  @Test func aUnitWaitsForItsLocalWork() throws {
    let isDone = Lock(false)
    commits.append(unit, after: { isDone.withLock { $0 = true } })
    #expect(commits.isWriting && !commits.isEmpty && !commits.isIdle && commits.dueMs == nil)
    commits.writeGathered()
    #expect(try run.states() == ["active"])
    for event in try #require(run.loop.mailbox.take(timeoutMs: nil)) { run.loop.handle(event) }
    #expect(isDone.withLock { $0 } && !commits.isWriting && commits.dueMs != nil)
    commits.writeGathered()
    run.handleArrived()
    #expect(try run.states() == ["pending"])
  }
}
