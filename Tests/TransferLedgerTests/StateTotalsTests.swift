import Testing
import TransferModel

@testable import TransferLedger

/// The fast totals from indexes equal the plain totals from rows.
@Suite struct StateTotalsTests {
  let f: LedgerFixture
  /// Selects everything, but in a form for which the fast queries are not used.
  let slow: RowFilter = {
    var filter = RowFilter()
    filter.untilMs = .max
    return filter
  }()

  /// Two batches with files in every state that a file can be in now, and one that was interrupted after its first
  /// chunk.
  init() throws {
    f = try LedgerFixture()
    try RulesTests.fill(f)
    let second = try f.makeBatch("put:elsewhere")
    for name in ["p", "q", "r", "s"] { _ = try f.add(name, size: 25, to: second) }
    let run = RunID(rawValue: 2)
    try f.ledger.write { tx in
      for _ in 0..<2 {
        let file = try tx.claimAndPlan(run, chunkSize: 10)
        guard let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true).first else { return }
        _ = try tx.closeAttempt(chunk.attempt, run, acked(chunk.facts.range.length))
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
        _ = try tx.releaseFile(file.id, run, notBeforeMs: 1 << 50, code: .netReset, isFailure: true)
      }
    }
    try f.shell(
      """
      UPDATE file SET state = 'paused' WHERE id = (SELECT max(id) FROM file);
      UPDATE file SET state = 'cancelled', live = NULL, finished_at = 1 << 50 WHERE id = (SELECT max(id) - 1 FROM file);
      UPDATE file SET hidden = 1 WHERE state = 'cancelled'
      """)
  }

  @Test func overEverything() throws {
    let (quick, plain) = try f.ledger.read { (try $0.stateTotals(RowFilter()), StateTotals(try $0.totals(slow))) }
    #expect(quick == plain)
    #expect(quick.byState.count >= 7, "\(quick.byState)")
    #expect(quick.bytesAcked > 0 && quick.bytesAcked < quick.bytes)
  }

  @Test func withoutWhatWasTidiedAway() throws {
    var shown = RowFilter()
    shown.leavesOutHidden = true
    var plain = slow
    plain.leavesOutHidden = true
    try f.shell("UPDATE file SET hidden = 1 WHERE state = 'done'")
    let pair = try f.ledger.read { (try $0.stateTotals(shown), StateTotals(try $0.totals(plain))) }
    #expect(pair.0 == pair.1)
    #expect(pair.0.count(.done) == 0 && pair.0.count(.cancelled) == 0)
    #expect(try f.ledger.read { try $0.stateTotals(RowFilter()) }.count(.done) == 1)
  }

  @Test func overWholeBatches() throws {
    let all = try f.texts("SELECT id FROM batch ORDER BY id").compactMap(Int64.init)
    #expect(all.count >= 2)
    var both = RowFilter()
    both.batches = [all[0]...all[all.count - 1]]
    for filter in all.map({ RowFilter.batch(BatchID(rawValue: $0)) }) + [both] {
      #expect(filter.wholeBatches != nil)
      var plain = filter
      plain.untilMs = .max
      #expect(plain.wholeBatches == nil)
      let pair = try f.ledger.read { (try $0.stateTotals(filter), StateTotals(try $0.totals(plain))) }
      #expect(pair.0 == pair.1)
    }
  }

  @Test func theOtherFiguresOverEverything() throws {
    let (quick, plain) = try f.ledger.read { (try $0.totals(RowFilter()), try $0.totals(slow)) }
    #expect(quick == plain)
    let attempts = try f.ledger.read { (try $0.attemptTotals(RowFilter()), try $0.attemptTotals(slow)) }
    #expect(attempts.0 == attempts.1)
    #expect(attempts.0.attempts > 3)
    let failures = try f.ledger.read { (try $0.failures(RowFilter()), try $0.failures(slow)) }
    #expect(failures.0 == failures.1)
    #expect(failures.0.count >= 2)
  }

  @Test func listsOfBatchesAgree() throws {
    let rows = try f.ledger.read { try $0.batches(RowFilter(), after: 0, limit: 9) }
    for row in rows {
      var plain = try f.ledger.read { reader in
        var filter = RowFilter.batch(row.id)
        filter.untilMs = .max
        return try reader.totals(filter)
      }
      plain.unverified = 0
      #expect(row.totals == plain)
    }
    let light = try f.ledger.read { try $0.batches(RowFilter(), after: 0, limit: 9, withAttempts: false) }
    #expect(light.map(\.totals.byState) == rows.map(\.totals.byState))
    #expect(light.allSatisfy { $0.totals.bytesTransferred == 0 && $0.startedMs == nil })
  }

  @Test func whatIsInWork() throws {
    let running = try f.ledger.read { try $0.runningFiles(RowFilter(), limit: 20) }
    var states = RowFilter()
    states.states = [.active, .finishing]
    let plain = try f.ledger.read { try $0.files(states, after: 0, limit: 20) }
    #expect(running == plain)
    #expect(!running.isEmpty)
  }

  /// Each total is computed from an index: the tables of files and attempts are not scanned.
  @Test(
    arguments: [
      (LedgerReader.readyTally, ["SCAN file USING COVERING INDEX file_ready_batch"]),
      (LedgerReader.waitingTally, ["SEARCH file USING COVERING INDEX file_waiting (not_before>?)"]),
      (LedgerReader.batchesTally, ["SEARCH file USING COVERING INDEX file_done (batch_id>? AND batch_id<?)"]),
      (LedgerReader.stretchTally, ["SEARCH file USING COVERING INDEX file_done (batch_id=? AND id>? AND id<?)"]),
      (LedgerReader.restTallies, ["SCAN file USING COVERING INDEX file_rest"]),
      (
        LedgerReader.partialAcked,
        ["SCAN f USING INDEX file_partial", "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (file_id=?)"]
      ),
      (
        LedgerReader.runningAcked,
        ["SCAN f USING INDEX file_running", "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (file_id=?)"]
      ),
      (LedgerReader.batchReady, ["SEARCH file USING COVERING INDEX file_ready_batch (batch_id=?)"]),
      (LedgerReader.batchRest, ["SEARCH file USING COVERING INDEX file_rest (state=? AND batch_id=?)"]),
    ] as [(StaticString, [String])])
  func sumsAreReadFromIndexes(sql: StaticString, plan: [String]) throws {
    let connection = try Connection(path: f.path, access: .readOnly)
    let found = try connection.rowsOnce("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }
    #expect(found.filter { !$0.contains("json_each") && !$0.hasPrefix("LIST SUBQUERY") } == plan)
  }

  @Test func failuresAreFoundInTheirIndexes() throws {
    let connection = try Connection(path: f.path, access: .readOnly)
    let all = try connection.rowsOnce("EXPLAIN QUERY PLAN \(LedgerReader.allEnded)") { $0.text(3) }.first
    #expect(all == "SEARCH file USING COVERING INDEX file_rest (state=?)")
    let ended = try connection.rowsOnce("EXPLAIN QUERY PLAN \(LedgerReader.batchEnded)") { $0.text(3) }
    #expect(ended.first == "SEARCH file USING COVERING INDEX file_rest (state=? AND batch_id=?)")
    #expect(ended.allSatisfy { !$0.contains("TEMP B-TREE") })
  }

  @Test func whatEndedFilesIsTheSameFromTheIndex() throws {
    for (quick, plain) in [(RowFilter(), slow), (.batch(BatchID(rawValue: 1)), slowBatch)] {
      let pair = try f.ledger.read { (try $0.endings(quick), try $0.failures(plain).filter { $0.files > 0 }) }
      #expect(!pair.0.isEmpty)
      #expect(pair.0.map(\.code) == pair.1.map(\.code) && pair.0.map(\.files) == pair.1.map(\.files))
      #expect(pair.0.map(\.examplePath) == pair.1.map(\.examplePath))
    }
  }

  private var slowBatch: RowFilter {
    var filter = RowFilter.batch(BatchID(rawValue: 1))
    filter.untilMs = .max
    return filter
  }
}
