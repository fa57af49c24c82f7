import TransferModel
import Testing

@testable import TransferLedger

/// What is asked for a whole batch: limits, deadlines, priority, clean.
extension ControlTests {
  @Test func aCleanedBatchIsSeenAgainWithAFileThatCouldNotBeRead() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", to: f.makeBatch(name: "nightly"))
    _ = try f.ledger.write { try $0.control(.remove, .files([file])) }
    #expect(try f.texts("SELECT hidden FROM batch") == ["1"])
    let target = f.target(name: "nightly")
    var page = AdmissionPage()
    page.append(path: NameBytes("/src/secret"), key: NameBytes("secret"), Failure(.sourceDenied, "no"))
    for hidden in ["-", "1"] {
      let once = page
      _ = try f.ledger.write { try $0.admit(once, to: target) }
      #expect(try f.texts("SELECT hidden FROM batch") == [hidden])
      _ = try f.ledger.write { try $0.control(.remove, RowFilter()) }
    }
  }

  @Test func theCauseOfADeadlineGoesWithIt() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["a", "b", "c"].map { try f.add($0, to: batch) }
    let late = Self.change { $0.deadlineMs = .to(5) }
    _ = try f.ledger.changeBatches(RowFilter(), late)
    _ = try f.markOverdue(batch)
    _ = try f.ledger.write { try $0.control(.pause(now: false), .files([files[0]])) }
    #expect(try f.texts("SELECT cause FROM file") == ["-", "policy.deadline", "policy.deadline"])
    try f.shell("UPDATE batch SET deadline_at = NULL")
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.claimFiles(run, limit: 1) }
    #expect(try f.texts("SELECT cause FROM file") == ["-", "-", "policy.deadline"])
    let lifted = Self.change { $0.deadlineMs = .lifted }
    _ = try f.ledger.changeBatches(RowFilter(), lifted)
    #expect(try f.texts("SELECT cause FROM file") == ["-", "-", "-"])
  }

  @Test func aBatchTakesNewLimitsLabelsAndPriority() throws {
    let f = try LedgerFixture()
    let (low, high) = (try f.makeBatch(), try f.makeBatch())
    let files = try [f.add("a", to: low), f.add("b", to: high), f.add("c", to: high)]
    _ = try f.ledger.write { try $0.cancelFiles(.files([files[2]])) }
    let change = Self.change { change in
      (change.priority, change.rate, change.workers, change.deadlineMs) = (7, .to(1024), .to(2), .to(5))
      change.labels = ["run": "42"]
    }
    #expect(try f.ledger.read { try $0.outcome(of: change, .files([files[1]])) }.changed == [high])
    #expect(try f.ledger.changeBatches(.files([files[1]]), change).changed == [high])
    #expect(
      try f.texts("SELECT priority, rate, workers, deadline_at, labels FROM v_batches") == [
        "0 - - - {}", "7 1024 2 5 {\"run\":\"42\"}",
      ])
    #expect(try f.texts("SELECT priority FROM file ORDER BY id") == ["0", "7", "0"])
    let again = try f.ledger.changeBatches(.batch(high), change)
    #expect(again.changed == [] && again.unaffected == [high])
    let run = try f.startRun()
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 1) }.map(\.id) == [files[1]])
    let lifted = Self.change { change in
      (change.rate, change.workers, change.deadlineMs) = (.lifted, .lifted, .lifted)
      change.labels = ["run": nil]
    }
    _ = try f.ledger.changeBatches(RowFilter(), lifted)
    #expect(try f.texts("SELECT rate, workers, deadline_at, labels FROM v_batches WHERE id = 2") == ["- - - {}"])
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'set'") == [
        "priority 7, rate 1024 bytes/s, workers 2, deadline 1970-01-01T00:00:00Z, label run=42",
        "rate none, workers none, deadline none, label run=",
      ])
  }

  @Test func aFileIsClaimedWithTheTimesOfItsChunksThatBackOff() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      for chunk in try tx.beginChunks(file, run, limit: 2, isRepeatable: true) {
        _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
        _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: 1 << 60)
      }
      _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false)
    }
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 1) }.map(\.waitingUntil) == [[1 << 60, 1 << 60]])
  }

  @Test func aBatchAfterItsDeadlineSaysSoAndIsNoReasonToWait() throws {
    let f = try LedgerFixture()
    let (late, free) = (try f.makeBatch(), try f.makeBatch())
    _ = try [f.add("a", to: late), f.add("b", to: late), f.add("c", to: free)]
    let passed = Self.change { $0.deadlineMs = .to(5) }
    _ = try f.ledger.changeBatches(.batch(late), passed)
    #expect(try f.markOverdue(late) == 2)
    #expect(try f.markOverdue(late) == 0)
    #expect(
      try f.texts("SELECT state, cause FROM file") == [
        "pending policy.deadline", "pending policy.deadline", "pending -",
      ])
    #expect(try f.ledger.read { try $0.overdueBatches(RowFilter(), nowMs: 4) } == [])
    #expect(
      try f.ledger.read { try $0.overdueBatches(RowFilter(), nowMs: 5) } == [
        OverdueBatch(id: late, deadlineMs: 5, files: 2)
      ])
    #expect(try f.ledger.read { try $0.overdueBatches(.batch(free), nowMs: 5) } == [])
    let state = try f.ledger.read { try $0.controlState(nowMs: 0) }
    #expect(state.limits == [late: BatchLimits(deadlineMs: 5)] && state.requestedActions.isEmpty && !state.hasDueAborts)
    #expect(try f.ledger.read { try $0.hasReadyFiles(without: [late]) })
    #expect(try !f.ledger.read { try $0.hasReadyFiles(without: [late, free]) })
    try f.shell("UPDATE file SET not_before = 7 WHERE batch_id = 1; UPDATE file SET not_before = 9 WHERE batch_id = 2")
    #expect(try f.ledger.read { try $0.nextDueMs() } == 7)
    #expect(try f.ledger.read { try $0.nextDueMs(without: [late]) } == 9)
    #expect(try f.ledger.read { try $0.nextDueMs(without: [late, free]) } == nil)
  }

  static func change(_ fill: (inout BatchChange) -> Void) -> BatchChange {
    var change = BatchChange()
    fill(&change)
    return change
  }
}
