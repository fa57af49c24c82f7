import Testing
import TransferModel

@testable import TransferLedger

@Suite struct HostStateTests {
  @Test func theNextRunKnowsWhatTheLastOneLearned() throws {
    let f = try LedgerFixture()
    let first = try f.startRun()
    #expect(try f.ledger.read { try $0.requestsAtOnce(host: "http://h:80") } == nil)
    try f.ledger.write { try $0.noteHost("http://h:80", requestsAtOnce: 32, first) }
    try f.ledger.write { try $0.noteHost("http://h:80", requestsAtOnce: 48, first) }
    _ = try f.ledger.write { try $0.endRun(first, how: "done") }
    let second = try f.startRun()
    #expect(try f.ledger.read { try $0.requestsAtOnce(host: "http://h:80") } == 48)
    try f.ledger.write { try $0.noteHost("http://h:80", requestsAtOnce: 2, second) }
    #expect(try f.texts("SELECT host, requests_at_once, run_id FROM host_state") == ["http://h:80 2 2"])
  }

  /// A run that lost its lease overwrites nothing.
  @Test func onlyTheRunThatOwnsTheLedgerWrites() throws {
    let f = try LedgerFixture()
    let first = try f.startRun()
    _ = try f.ledger.write { try $0.endRun(first, how: "done") }
    _ = try f.startRun()
    let error = #expect(throws: TransferError.self) {
      try f.ledger.write { try $0.noteHost("http://h:80", requestsAtOnce: 8, first) }
    }
    #expect(error?.kind == .leaseLost)
    #expect(try f.texts("SELECT host FROM host_state") == [])
  }

  @Test func readyBatchesComeInTurn() throws {
    let f = try LedgerFixture()
    let batches = try (0..<5).map { n in
      let batch = try f.makeBatch()
      _ = try f.add("a\(n)", size: 1, to: batch)
      return batch
    }
    let first = try f.ledger.read { try $0.readyBatches(after: BatchID(rawValue: 0), limit: 3) }
    let second = try f.ledger.read { try $0.readyBatches(after: batches[2], limit: 3) }
    #expect(first == Array(batches[0..<3]))
    #expect(second == Array(batches[3...]))
  }
}
