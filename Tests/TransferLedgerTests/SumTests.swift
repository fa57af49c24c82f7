import Testing
import TransferModel

@testable import TransferLedger

/// Stored sums give the same values as the individual rows, whatever rows are added later.
@Suite struct SumTests {
  let f: LedgerFixture

  /// Selects the same rows in a form for which sums are not used.
  static func plain(_ filter: RowFilter) -> RowFilter {
    var filter = filter
    filter.untilMs = .max
    return filter
  }

  /// Three batches with interleaved files and attempts: some 6,000 done files and 14,000 attempts, some of them open.
  init() throws {
    f = try LedgerFixture()
    for place in ["put:a", "put:b", "put:c"] { _ = try f.makeBatch(place) }
    let run = try f.startRun()
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    _ = try f.startRun()
    try fill(files: 1...7_000)
  }

  /// Inserts files in their final state, with the triggers dropped meanwhile. Every 500th is still active.
  private func fill(files: ClosedRange<Int>) throws {
    let shell = try Connection(path: f.path, access: .readWrite)
    let guards = try shell.rowsOnce("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'") {
      ($0.text(0), $0.text(1))
    }
    try shell.execute("BEGIN")
    for (name, _) in guards { try shell.execute("DROP TRIGGER \(name)") }
    for sql in [Self.files, Self.attempts, Self.chunks, Self.receipts] {
      try shell.execute(
        sql.replacing("{first}", with: "\(files.lowerBound)").replacing("{last}", with: "\(files.upperBound)"))
    }
    for (_, sql) in guards { try shell.execute(sql) }
    try shell.execute("COMMIT")
  }

  private static let files = """
    WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}),
    f AS (SELECT i, CASE WHEN i % 500 = 0 THEN 'active' WHEN i % 9 = 4 THEN 'failed' ELSE 'done' END s FROM n)
    INSERT INTO file (id, uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode, device,
      mode, state, cause, run_id, priority, chunk_size, chunk_count, created_at, started_at, finished_at)
    SELECT i, zeroblob(16), 1 + i % 11 / 4, 1 + i % 11 / 4, 1, iif(s = 'failed', NULL, 1), x'2F66', CAST('k' || i AS BLOB),
      100 + i * 7919 % 1000, 1, 1, 1, 1, 0, s, iif(s = 'failed', 'http.413', NULL), iif(s = 'active', 2, NULL), 0, 2000, 1, 0,
      i * 50, iif(s = 'active', NULL, i * 50 + i * 104729 % 5003) FROM f
    """
  private static let attempts = """
    INSERT INTO attempt (uid, file_id, chunk_id, run_id, operation, n, is_repeatable, started_at, outcome, ended_at,
      error_code, bytes_transferred, bytes_acked, total_ms, connect_ms, sent_ms, backoff_ms, mirror)
    SELECT randomblob(16), f.id, f.id, 1 + (f.state = 'active'), 'part', t.n, 1, f.started_at + t.n * 40 - f.id * 7 % 300, o,
      iif(o = 'open', NULL, f.started_at + t.n * 40 + f.id * 31 % 977), CASE o WHEN 'retry' THEN 'http.503' WHEN 'fatal' THEN 'http.413' END,
      iif(o = 'open', 0, f.size), iif(o = 'ok', f.size, 0), iif(o = 'open', NULL, f.id * 31 % 977),
      iif(f.id % 5, NULL, 3), iif(o = 'open', NULL, f.id % 400), iif(o = 'retry', f.id % 60, NULL),
      iif(o <> 'open' AND f.id % 13 = 6, 'mirror:' || (f.id % 2), NULL)
    FROM (SELECT * FROM file WHERE id BETWEEN {first} AND {last}) f JOIN (SELECT 1 n UNION ALL SELECT 2) t
    JOIN (SELECT 'retry' o UNION ALL SELECT 'fatal' UNION ALL SELECT 'ok' UNION ALL SELECT 'open') k
      ON k.o = CASE WHEN t.n = 1 THEN 'retry' WHEN f.state = 'done' THEN 'ok' WHEN f.state = 'active' THEN 'open' ELSE 'fatal' END
    ORDER BY f.id, t.n
    """
  private static let chunks = """
    INSERT INTO chunk (id, file_id, seq, offset, length, state, etag, confirmation, done_attempt)
    SELECT id, id, 0, 0, size, CASE state WHEN 'active' THEN 'in_flight' ELSE state END, iif(state = 'done', '', NULL),
      iif(state = 'done', 'none', NULL),
      iif(state = 'done', (SELECT a.id FROM attempt a WHERE a.file_id = file.id AND a.outcome = 'ok'), NULL)
    FROM file WHERE id BETWEEN {first} AND {last}
    """
  private static let receipts = """
    INSERT INTO receipt (file_id, size, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
      recorded_at)
    SELECT id, size, (SELECT a.id FROM attempt a WHERE a.file_id = file.id AND a.outcome = 'ok'),
      iif(id % 3, 'size', 'none'), '', '', '', '', '', 0 FROM file WHERE state = 'done' AND id BETWEEN {first} AND {last}
    """

  private var filters: [RowFilter] {
    var two = RowFilter()
    two.batches = [1...2]
    return [RowFilter(), .batch(BatchID(rawValue: 1)), .batch(BatchID(rawValue: 3)), two]
  }

  private func expectTheSame(_ comment: Comment) throws {
    for filter in filters {
      let plain = Self.plain(filter)
      let totals = try f.ledger.read { (try $0.totals(filter), try $0.totals(plain)) }
      #expect(totals.0 == totals.1, comment)
      #expect(totals.0.unverified > 0 && totals.0.bytesAcked > 0)
      let attempts = try f.ledger.read { (try $0.attemptTotals(filter), try $0.attemptTotals(plain)) }
      #expect(attempts.0 == attempts.1, comment)
      #expect(attempts.0.latency.p95 != nil && attempts.0.byOutcome["open"] != nil)
      let failures = try f.ledger.read { (try $0.failures(filter), try $0.failures(plain)) }
      #expect(failures.0 == failures.1, comment)
      #expect(failures.0.count == 2)
      let costs = try f.ledger.read { (try $0.costs(filter), try $0.costs(plain)) }
      #expect(costs.0 == costs.1, comment)
      #expect(costs.0.hosts.values.contains { $0.bytesUnacked > 0 && $0.serverMs > 0 } && !costs.0.backoff.isEmpty)
      let slowest = try f.ledger.read { (try $0.slowestFiles(filter, limit: 3), try $0.slowestFiles(plain, limit: 3)) }
      #expect(slowest.0.map(\.id) == slowest.1.map(\.id), comment)
    }
    try expectTheSameLists(comment)
  }

  private func expectTheSameLists(_ comment: Comment) throws {
    for row in try f.ledger.read({ try $0.batches(RowFilter(), after: 0, limit: 9) }) {
      let plain = Self.plain(.batch(row.id))
      var (totals, attempts) = try f.ledger.read { (try $0.totals(plain), try $0.attemptTotals(plain)) }
      totals.unverified = 0
      #expect(row.totals == totals, comment)
      #expect(row.startedMs == attempts.firstMs && row.finishedMs == attempts.lastMs, comment)
    }
    var shown = RowFilter()
    shown.leavesOutHidden = true
    let pair = try f.ledger.read { (try $0.stateTotals(shown), StateTotals(try $0.totals(Self.plain(shown)))) }
    #expect(pair.0 == pair.1, comment)
  }

  @Test func whatWasAddedUpSaysWhatTheRowsSay() throws {
    try expectTheSame("no sums yet")
    try f.ledger.addUpHistory(until: { false })
    // Of four blocks of attempts, the last is not full, and each of the others has an open attempt: no sum.
    #expect(try f.texts("SELECT count(*) FROM attempt_sum") == ["0"])
    #expect(try f.texts("SELECT count(*) FROM file_sum") == ["6"])
    try expectTheSame("files were summed")
    try close()
    try f.ledger.addUpHistory(until: { false })
    #expect(try f.texts("SELECT block, count(*) FROM attempt_sum GROUP BY block") == ["0 3", "1 3", "2 3"])
    try reopen()
    try expectTheSame("everything was summed")
    #expect(try f.findings().filter { $0.hasPrefix("I37") || $0.hasPrefix("I38") } == [])
  }

  /// Looking for them reads all files that have no sum.
  @Test func runsThatCompleteAFewFilesAddThemUpInTurn() throws {
    let isToAdd = { (run: Int64, done: Int) in f.ledger.shouldAddUpFiles(RunID(rawValue: run), done: done) }
    #expect(isToAdd(7, 64) && !isToAdd(7, 63))
    #expect((1...640).count { isToAdd($0, 0) } == 10)
    try f.ledger.addUpHistory(withFiles: false, until: { false })
    #expect(try f.texts("SELECT count(*) FROM file_sum") == ["0"])
  }

  /// Closes the attempts of active files, except the newest.
  private func close() throws {
    try f.shell(
      """
      UPDATE attempt SET outcome = 'interrupted', ended_at = started_at + 7
      WHERE outcome = 'open' AND id < (SELECT max(id) FROM attempt) - 20
      """)
  }

  /// Adds files so that each batch has open attempts.
  private func reopen() throws { try fill(files: 8_200...10_300) }

  @Test func whatComesToASumOrIsHiddenIsCounted() throws {
    try f.ledger.addUpHistory(until: { false })
    try f.shell("UPDATE file SET hidden = 1 WHERE state = 'done' AND id BETWEEN 10 AND 60")
    #expect(try f.texts("SELECT count(*) FROM file_sum WHERE block = 0") == ["0"])
    try expectTheSame("some are hidden")
    try f.ledger.addUpHistory(until: { false })
    #expect(try f.texts("SELECT sum(hidden_files > 0), count(*) FROM file_sum WHERE block = 0") == ["3 3"])
    try expectTheSame("and summed")
    try f.shell(
      """
      UPDATE attempt SET outcome = 'ok', ended_at = started_at WHERE outcome = 'open' AND file_id = 5000;
      UPDATE chunk SET state = 'done', etag = '', confirmation = 'none', done_attempt =
        (SELECT id FROM attempt WHERE file_id = 5000 AND outcome = 'ok') WHERE file_id = 5000;
      INSERT INTO receipt (file_id, attempt_id, confirmation, etag, version_id, request_id, server_date, location,
        recorded_at)
      VALUES (5000, (SELECT id FROM attempt WHERE file_id = 5000 AND outcome = 'ok'), 'none', '', '', '', '', '', 0);
      UPDATE file SET state = 'done', run_id = NULL, finished_at = 1 << 40 WHERE id = 5000
      """)
    try expectTheSame("one more is done")
    #expect(try f.ledger.read { try $0.slowestFiles(RowFilter(), limit: 1) }.map(\.id.rawValue) == [5000])
  }

  /// Unused attempt numbers count as nothing, and do not prevent sums.
  @Test func holesInTheNumbersAreSteppedOver() throws {
    try f.shell("DROP TRIGGER attempt_fixed; DROP TRIGGER attempt_closed; PRAGMA defer_foreign_keys = ON")
    try f.shell("UPDATE attempt SET id = id + 10 * 4096 WHERE outcome <> 'open' AND id >= 4096")
    try close()
    try f.ledger.addUpHistory(until: { false })
    let blocks = try f.texts("SELECT DISTINCT block FROM attempt_sum ORDER BY block")
    #expect(blocks == ["0", "1", "2", "3", "11", "12"])
    let pair = try f.ledger.read {
      (try $0.attemptTotals(RowFilter()), try $0.attemptTotals(Self.plain(RowFilter())))
    }
    #expect(pair.0 == pair.1)
  }

  /// A sum is read instead of its rows; otherwise it would be useless.
  @Test func whatWasAddedUpIsNotReadAgain() throws {
    try close()
    try f.ledger.addUpHistory(until: { false })
    try f.shell("DROP TRIGGER attempt_closed; DROP TRIGGER attempt_sum_late")
    try f.shell("UPDATE attempt SET bytes_transferred = bytes_transferred + 1 WHERE id < 4096")
    let pair = try f.ledger.read { (try $0.totals(RowFilter()), try $0.totals(Self.plain(RowFilter()))) }
    #expect(pair.0.bytesTransferred == pair.1.bytesTransferred - 4095)
    #expect(try f.findings().filter { $0.hasPrefix("I38") }.count == 1)
  }

  @Test func anAttemptIsFoundByItsUidInItsTimeOnly() throws {
    let uid = UID.make(wallMs: 123_456)
    try close()
    try f.shell(
      "DROP TRIGGER attempt_closed; DROP TRIGGER attempt_fixed; UPDATE attempt SET uid = x'\(Self.hex(uid))', started_at = 123456, ended_at = 123456 WHERE id = 4096"
    )
    try f.ledger.addUpHistory(until: { false })
    let prefix = try #require(UIDPrefix(text: String(uid.description.prefix(18))))
    #expect(try f.ledger.read { try $0.rows(withUID: prefix, limit: 5, findsAttempts: true) } == ["a4096"])
    let other = try #require(UIDPrefix(text: "0199999999990000"))
    #expect(try f.ledger.read { try $0.rows(withUID: other, limit: 5, findsAttempts: true) } == [])
  }

  private static func hex(_ uid: UID) -> String { uid.description.filter { $0 != "-" } }
}

/// How sums store lists.
@Suite struct SumListTests {
  @Test func numbersSurviveTheirPacking() {
    let numbers: [Int64] = [0, 1, 127, 128, 16_383, 16_384, .max, 0, 5]
    #expect(PackedNumbers.unpack(PackedNumbers.pack(numbers)) == numbers)
    #expect(PackedNumbers.pack([0, 127, 128]) == [0, 127, 0x80, 1])
  }

  @Test func theTimeInWhichAnythingWasInFlightIsTheUnion() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var (time, busy) = (ActiveTime(), Set<Int64>())
      for _ in 0..<40 {
        let start = Int64.random(in: 0..<1_000, using: &random)
        let end = start + Int64.random(in: 0..<30, using: &random)
        time.add(startMs: start, endMs: end)
        busy.formUnion(start..<end)
      }
      #expect(time.totalMs == Int64(busy.count))
      var again = ActiveTime()
      again.add(packed: time.packed(from: -5), from: -5)
      #expect(again.totalMs == time.totalMs)
    }
  }

  /// More disjoint intervals than are kept one by one are packed, and later intervals of the same time still count:
  /// merged shards cover the same time one after the other.
  @Test func manyIntervalsArePackedAndCountInAnyOrder() {
    var time = ActiveTime()
    for i in 0..<Int64(700_000) { time.add(startMs: i * 10, endMs: i * 10 + 3) }
    #expect(time.totalMs == 2_100_000)
    #expect(time.kept <= 600_000)
    for i in (0..<Int64(200_000)).reversed() { time.add(startMs: i * 10 + 5, endMs: i * 10 + 7) }
    for i in 0..<Int64(200_000) { time.add(startMs: i * 10, endMs: i * 10 + 3) }
    #expect(time.totalMs == 2_500_000)
    time.add(startMs: 0, endMs: 7_000_000)
    #expect(time.totalMs == 7_000_000)
  }
}
