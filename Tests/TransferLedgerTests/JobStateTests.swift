import TransferModel
import Testing

@testable import TransferLedger

/// How the last run of a job ended.
@Suite struct JobStateTests {
  private let f: LedgerFixture

  init() throws { f = try LedgerFixture() }

  private func record(_ result: String, from startMs: Int64, to endMs: Int64) throws {
    let row = JobRow(
      job: "nightly", startedMs: startMs, endedMs: endMs, result: result, message: result == "ok" ? nil : "why")
    try f.ledger.write { try $0.recordJob(row) }
  }

  private func last() throws -> JobRow? { try f.ledger.read { try $0.jobs().first } }

  /// A process may be suspended between its end and the recording of it.
  @Test func anOlderEndDoesNotReplaceANewerOne() throws {
    let nowMs = f.clock.wallMs
    try record("ok", from: nowMs - 100, to: nowMs - 50)
    try record("partial", from: nowMs - 5_000, to: nowMs - 4_000)
    #expect(try last()?.result == "ok")
    try record("partial", from: nowMs - 40, to: nowMs - 30)
    #expect(try last()?.result == "partial")
    #expect(try last()?.succeededMs == nowMs - 50)
  }

  @Test func anEndInTheFutureGivesWayOnceTheClockIsSetBack() throws {
    let nowMs = f.clock.wallMs
    f.clock.advance(ms: 86_400_000)
    try record("ok", from: nowMs + 86_000_000, to: nowMs + 86_400_000)
    f.clock.advance(ms: -86_400_000)
    try record("partial", from: nowMs - 100, to: nowMs)
    #expect(try last()?.result == "partial")
    #expect(try last()?.endedMs == nowMs)
  }
}
