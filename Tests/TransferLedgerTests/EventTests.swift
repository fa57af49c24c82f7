import Testing
import TransferModel

@testable import TransferLedger

/// A verb on many files records one event for each of their batches; the event's ranges identify the files.
@Suite struct EventTests {
  /// Adds files to two batches: every seventh file to the second.
  private func twoBatches(_ f: LedgerFixture, _ count: Int) throws {
    let batches = [try f.makeBatch("put:a"), try f.makeBatch("put:b")]
    for i in 0..<count { _ = try f.add("f\(i)", size: 1, to: batches[i % 7 == 6 ? 1 : 0]) }
  }

  @Test func aVerbIsOneEventOfEachBatch() throws {
    let f = try LedgerFixture()
    try twoBatches(f, 15)
    _ = try f.ledger.control(.pause(now: false), RowFilter())
    #expect(try f.events(RowFilter()) == ["added 0 - -", "added 0 - -", "paused 13 f1 f15", "paused 2 f7 f14"])
    #expect(
      try f.texts(
        "SELECT e.batch_id, first_file, last_file FROM v_event_ranges JOIN v_events e ON e.id = event_id ORDER BY event_id, first_file"
      )
        == ["1 1 6", "1 8 13", "1 15 15", "2 7 7", "2 14 14"])
    // A file between the ends of an event that is in none of its ranges does not match that event.
    #expect(try f.events(.files([FileID(rawValue: 14)])) == ["paused 2 f7 f14"])
    #expect(try f.events(.files([FileID(rawValue: 9)])) == ["paused 13 f1 f15"])
    #expect(try f.events(.batch(BatchID(rawValue: 2))) == ["added 0 - -", "paused 2 f7 f14"])
    #expect(try f.events(.states([.failed])) == [])
    #expect(try f.events(.states([.paused])).count == 2)
    #expect(try f.findings() == [])
  }

  @Test func aRangeIsCutWhereItWouldBeTooLongToBeFound() throws {
    let f = try LedgerFixture()
    let target = f.target()
    let page = f.page((0..<4_500).map { "f\($0)" })
    _ = try f.ledger.write { try $0.admit(page, to: target) }
    _ = try f.ledger.write { try $0.control(.pause(now: false), RowFilter()) }
    #expect(try f.texts("SELECT first_file, last_file FROM v_event_ranges") == ["1 4096", "4097 4500"])
    for file in [1, 4_096, 4_097, 4_500] as [Int64] {
      #expect(try f.events(.files([FileID(rawValue: file)])) == ["paused 4500 f1 f4500"])
    }
  }

  /// A follower gets each transaction once, with an increasing number; a list has one line for all parts.
  @Test func thePartsOfAVerbAreToldOneByOneAndListedAsOne() throws {
    let f = try LedgerFixture()
    try twoBatches(f, 250)
    _ = try f.ledger.control(.resolve(.done, reason: "x"), RowFilter())
    _ = try f.ledger.control(.pause(now: false), RowFilter())
    let parts = try f.ledger.read { try $0.eventParts(RowFilter(), after: 2, limit: 100) }
    #expect(
      parts.map { "\($0.id) \($0.batch?.description ?? "") \($0.files)" } == [
        "3 b1 86", "4 b2 14", "5 b1 129", "6 b2 21",
      ])
    #expect(
      try f.texts("SELECT id, part_of, files FROM v_events WHERE id > 2") == ["3 - 86", "4 - 14", "5 3 129", "6 4 21"])
    #expect(try f.events(RowFilter()).dropFirst(2) == ["paused 215 f1 f250", "paused 35 f7 f245"])
    let page = try f.ledger.read { try $0.eventParts(.files([FileID(rawValue: 250)]), after: 0, limit: 100) }
    #expect(page.map(\.id) == [5])
  }

  @Test func theEventsOfAFileAreFoundThroughAnIndex() throws {
    let f = try LedgerFixture()
    let db = try Connection(path: f.path, access: .readOnly)
    for (statement, filter) in [LedgerReader.wholeEvents, LedgerReader.eventParts].map({
      ($0, RowFilter.files([FileID(rawValue: 7)]))
    }) {
      let text = filter.statement(statement).text
      let plan = try db.rowsOnce("EXPLAIN QUERY PLAN \(text)") { $0.text(3) }
      #expect(plan.contains { $0.contains("event_range_file") }, "\(plan)")
      let names = StatementPlanTests.names(in: text).union(["e", "p", "r", "f"])
      #expect(!plan.contains { StatementPlanTests.isScan($0, names) }, "\(plan)")
    }
  }

  @Test func filesWhoseDeadlinePassedAreInOneEvent() throws {
    let f = try LedgerFixture()
    let (target, page) = (f.target(), f.page((0..<1_200).map { "f\($0)" }))
    _ = try f.ledger.write { try $0.admit(page, to: target) }
    var part = OverduePart(BatchID(rawValue: 1))
    while !part.isLast { part = try f.ledger.write { [part] in try $0.markOverdue(part) } }
    #expect(part.marked == 1_200)
    #expect(try f.events(RowFilter()).dropFirst() == ["overdue 1200 f1 f1200"])
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'overdue'") == ["3"])
    #expect(try f.findings() == [])
  }
}
