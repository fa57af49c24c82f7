import Testing
import TransferModel

@testable import TransferLedger

/// How much of its quota a job has sent, computed from its attempts.
@Suite struct QuotaTests {
  private let f: LedgerFixture

  init() throws { f = try LedgerFixture() }

  private func batch(job: String) throws -> BatchID {
    let settings = BatchSettings(destination: "put:\(job)")
    return try f.ledger.write {
      try $0.createBatch(
        NewBatch(settings: settings, protocolName: "put", destination: "put:\(job)", job: job))
    }
  }

  /// A run that sends one file of 10 bytes and ends.
  private func send(_ name: String, of job: String) throws {
    _ = try f.add(name, to: batch(job: job))
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      _ = try tx.completeFile(file.id, run, proof)
      _ = try tx.endRun(run, how: "done")
    }
  }

  private func sent(_ job: String, sinceMs: Int64) throws -> Int64 {
    try f.ledger.read { try $0.bytesSent(ofJob: job, sinceMs: sinceMs) }
  }

  @Test func attemptsCountFromTheirBeginOn() throws {
    try send("a", of: "nightly")
    let before = try sent("nightly", sinceMs: 0)
    #expect(before > 0)
    f.clock.advance(ms: 86_400_000)
    let noon = f.clock.wallMs
    #expect(try sent("nightly", sinceMs: noon) == 0)
    try send("b", of: "nightly")
    try send("c", of: "other")
    #expect(try sent("nightly", sinceMs: noon) == before)
    #expect(try sent("nightly", sinceMs: 0) == 2 * before)
    #expect(try sent("other", sinceMs: 0) == before)
  }

  /// After the clock was set back, attempts of a later day have lower numbers than those of today.
  @Test func theOrderOfNumbersDoesNotMatter() throws {
    f.clock.advance(ms: 86_400_000)
    try send("a", of: "nightly")
    f.clock.advance(ms: -86_400_000)
    try send("b", of: "nightly")
    #expect(try sent("nightly", sinceMs: f.clock.wallMs) == 2 * sent("nightly", sinceMs: f.clock.wallMs + 1))
  }

  @Test func whatACrashLeavesOpenCountsAtMost() throws {
    _ = try f.add("a", to: batch(job: "nightly"))
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)
    }
    #expect(try sent("nightly", sinceMs: 0) == 0, "an open attempt belongs to the engine that queries")
    try f.restart()
    _ = try f.ledger.recover(f.startRun())
    #expect(try sent("nightly", sinceMs: 0) == 10)
  }

  @Test func aQuotaIsOfAJobAndNotOfOthers() throws {
    let (ours, others) = (try batch(job: "nightly"), try f.makeBatch("put:manual"))
    let quota = JobQuota(bytes: 5, per: .week)
    try f.ledger.write { tx in try tx.setQuota(ofJob: "nightly", quota) }
    #expect(try f.ledger.read { try $0.quota(of: ours) } == QuotaRow(job: "nightly", quota: quota))
    #expect(try f.ledger.read { try $0.quota(of: others) } == nil)
    try f.ledger.write { tx in try tx.noteQuotaReached("nightly", quota) }
    #expect(try f.ledger.read { try $0.quota(ofJob: "nightly")?.reachedMs } == f.clock.wallMs)
    // A quota that was replaced meanwhile is not marked as reached.
    try f.ledger.write { tx in
      try tx.setQuota(ofJob: "nightly", JobQuota(bytes: 50, per: .week))
      try tx.noteQuotaReached("nightly", quota)
    }
    #expect(try f.ledger.read { try $0.quota(ofJob: "nightly")?.reachedMs } == .some(nil))
    try f.ledger.write { tx in try tx.setQuota(ofJob: "nightly", nil) }
    #expect(try f.ledger.read { try $0.quota(of: ours) } == nil)
  }
}
