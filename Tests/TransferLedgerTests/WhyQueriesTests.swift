import Testing
import TransferModel

@testable import TransferLedger

/// What `why` reads from a ledger that was filled by the transitions of engines.
@Suite struct WhyQueriesTests {
  /// An active file of three chunks, its run and its batch, one second after it was recorded.
  private struct Begun {
    let f: LedgerFixture
    let batch: BatchID
    let file: FileID
    let run: RunID
    let startMs: Int64

    init(_ place: String = "put:https://up.example/in/") throws {
      f = try LedgerFixture()
      batch = try f.makeBatch(place, name: "nightly")
      startMs = f.clock.wallMs
      file = try f.add("a", size: 30, to: batch)
      f.clock.advance(ms: 1_000)
      run = try f.startRun()
      let (ledger, run) = (f.ledger, run)
      _ = try ledger.write { try $0.claimAndPlan(run) }
    }

    func begin(_ count: Int = 1) throws -> [ClaimedChunk] {
      let (file, run) = (file, run)
      return try f.ledger.write { try $0.beginChunks(file, run, limit: count, isRepeatable: true) }
    }

    /// Half a second from now, the attempt ends with 503 and a requested wait.
    func refuse(_ chunk: ClaimedChunk, retryAfterMs: Int64 = 60_000) throws {
      f.clock.advance(ms: 500)
      var refused = AttemptResult(outcome: .retry, code: .http503, message: "busy")
      (refused.httpStatus, refused.retryAfterMs, refused.backoffMs) = (503, retryAfterMs, retryAfterMs + 1)
      (refused.timing.connectMs, refused.timing.dnsMs, refused.timing.totalMs) = (30, 10, 400)
      let (run, nowMs, result) = (run, f.clock.wallMs, refused)
      _ = try f.ledger.write { tx in
        _ = try tx.closeAttempt(chunk.attempt, run, result)
        return try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: nowMs)
      }
    }

    func store(_ chunk: ClaimedChunk) throws {
      f.clock.advance(ms: 500)
      var stored = acked(chunk.facts.range.length)
      (stored.timing.tlsMs, stored.timing.sentMs, stored.timing.heldMs, stored.timing.totalMs) = (50, 300, 100, 450)
      let (run, result) = (run, stored)
      _ = try f.ledger.write { tx in
        _ = try tx.closeAttempt(chunk.attempt, run, result)
        return try tx.storeChunk(chunk.id, chunk.attempt, part)
      }
    }

    func row(_ subject: WhySubject) throws -> WhyRow { try #require(try f.ledger.read { try $0.whyRow(subject) }) }

    func traces(_ row: WhyRow, sortedFiles: Int = 10_000) throws -> [AttemptTrace] {
      var traces: [AttemptTrace] = []
      try f.ledger.read { try $0.attemptTraces(row, sortedFiles: sortedFiles) { traces.append($0) } }
      return traces
    }
  }

  @Test func anAttemptKeepsItsTimes() throws {
    let b = try Begun()
    try b.refuse(try b.begin()[0])
    try b.store(try b.begin()[0])
    let traces = try b.traces(b.row(.file(b.file)))
    #expect(traces.count == 2)
    #expect(traces[0].startedMs == b.startMs + 1_000 && traces[0].endedMs == b.startMs + 1_500)
    #expect(traces[0].connectMs == 30 && traces[0].dialMs == 20 && traces[0].sentMs == nil && traces[0].heldMs == 0)
    #expect(traces[0].retryAfterMs == 60_000 && traces[0].backoffMs == 60_001 && traces[0].errorCode == "http.503")
    #expect(traces[1].connectMs == 50 && traces[1].sentMs == 300 && traces[1].heldMs == 100 && traces[1].totalMs == 450)
    #expect(traces[1].outcome == .ok && traces[1].operation == .part && traces[1].run == b.run && !traces[1].isDownload)
  }

  @Test func whatIsHeldIsHistoryToo() throws {
    let b = try Begun()
    try b.store(try b.begin()[0])
    for column in ["sent_ms", "held_ms"] {
      #expect(throws: SQLiteError.self) { try b.f.shell("UPDATE attempt SET \(column) = 7") }
    }
  }

  @Test func aWallTimeEndsWithItsFile() throws {
    let b = try Begun()
    #expect(
      try b.row(.file(b.file)).toMs == nil && b.row(.batch(b.batch)).toMs == nil && b.row(.run(b.run)).toMs == nil)
    for chunk in try b.begin(3) { try b.store(chunk) }
    let (file, run) = (b.file, b.run)
    _ = try b.f.ledger.write { tx in
      _ = try tx.startFinishing(file, run)
      _ = try tx.completeFile(file, run, proof)
      return try tx.endRun(run, how: "done", processorMs: 1_234)
    }
    let (found, endMs) = (try b.row(.file(b.file)), b.startMs + 2_500)
    #expect(found.fromMs == b.startMs && found.toMs == endMs && found.state == "done" && found.bytes == 30)
    #expect(found.name == NameBytes("/src/a") && found.batch == b.batch)
    let batch = try b.row(.batch(b.batch))
    #expect(batch.toMs == endMs && batch.files == 1 && batch.bytes == 30 && batch.name == NameBytes("nightly"))
    #expect(try b.row(.run(b.run)).toMs == endMs && b.row(.run(b.run)).state == "done")
    #expect(try b.f.ledger.read { try $0.runLives(TimeSpan(.min, .max)) }.first?.processorMs == 1_234)
    let empty = try b.row(.batch(try b.f.makeBatch("put:https://up.example/none/")))
    #expect(empty.toMs == empty.fromMs && empty.files == 0)
    for missing in [WhySubject.file(FileID(rawValue: 9)), .batch(BatchID(rawValue: 9)), .run(RunID(rawValue: 9))] {
      #expect(try b.f.ledger.read { try $0.whyRow(missing) } == nil)
    }
  }

  /// As in reports of batches.
  @Test func aBatchCountsTheNewestGenerations() throws {
    let b = try Begun()
    for version in 2...3 { _ = try b.f.admit("b", size: Int64(version), version: Int64(version), to: b.batch) }
    #expect(try b.f.texts("SELECT state FROM file WHERE size < 10 ORDER BY id") == ["superseded", "pending"])
    let found = try b.row(.batch(b.batch))
    #expect(found.files == 2 && found.bytes == 33)
  }

  /// The next run closes what a crashed run left open; that time does not count for the crashed run.
  @Test func aDeadRunLivedUntilItsLastRecord() throws {
    let b = try Begun()
    let chunks = try b.begin(2)
    try b.store(chunks[0])
    b.f.clock.advance(ms: 60_000)
    let next = try b.f.startRun()
    _ = try b.f.ledger.recover(next)
    let lives = try b.f.ledger.read { try $0.runLives(TimeSpan(.min, .max)) }
    #expect(lives.map(\.isCrashed) == [true, false] && lives.map(\.isOpen) == [false, true])
    #expect(lives[0].lastMs == b.startMs + 1_500)
    #expect(try b.traces(b.row(.file(b.file))).map(\.outcome) == [.ok, .crashed])
    #expect(try b.traces(b.row(.run(b.run))).count == 2 && b.traces(b.row(.run(next))).isEmpty)
    let early = try b.f.ledger.read { try $0.runLives(TimeSpan(b.startMs, b.startMs + 1_200)) }
    #expect(early.map(\.id) == [b.run])
  }

  @Test func aBatchIsReadTheSameInEitherWay() throws {
    let b = try Begun()
    let other = try b.f.makeBatch("put:https://up.example/else/")
    _ = try b.f.add("b", size: 20, to: other)
    _ = try b.f.add("c", size: 20, to: b.batch)
    let run = b.run
    for chunk in try b.begin(2) { try b.store(chunk) }
    for _ in 0..<2 {
      let file = try b.f.ledger.write { try $0.claimAndPlan(run) }
      b.f.clock.advance(ms: 10)
      _ = try b.f.ledger.write { try $0.sendAll(file.id, run) }
    }
    for chunk in try b.begin() { try b.store(chunk) }
    let row = try b.row(.batch(b.batch))
    let sorted = try b.traces(row)
    #expect(sorted.count == 5 && sorted.map(\.file.rawValue) == [1, 1, 3, 3, 1])
    #expect(try b.traces(row, sortedFiles: 0) == sorted)
  }

  @Test func decisionsAreThoseAboutTheFile() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["a", "b", "c", "d"].map { try f.add($0, to: batch) }
    func control(_ verb: ControlVerb, _ ids: [FileID]) throws {
      f.clock.advance(ms: 10)
      _ = try f.ledger.write { try $0.control(verb, .files(ids)) }
    }
    try control(.pause(now: false), [files[0], files[1], files[3]])
    try control(.resume, [files[1]])
    try control(.cancel, [files[2]])
    try control(.retry(startsOver: false), [files[2]])
    let startMs = f.clock.wallMs - 40
    let ofBatch = try f.ledger.read { try $0.decisions(.batch(batch)) }
    #expect(
      ofBatch == [
        FileDecision(.paused, atMs: startMs + 10, files: [1...2, 4...4]),
        FileDecision(.resumed, atMs: startMs + 20, files: [2...2]),
        FileDecision(.cancelled, atMs: startMs + 30, files: [3...3]),
        FileDecision(.retried, atMs: startMs + 40, files: [3...3]),
      ])
    #expect(try f.ledger.read { try $0.decisions(.file(files[1])) }.map(\.kind) == [.paused, .resumed])
    #expect(try f.ledger.read { try $0.decisions(.file(files[2])) }.map(\.kind) == [.cancelled, .retried])
  }

  @Test func aSleepIsFoundInItsTime() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    f.clock.advance(ms: 100_000)
    _ = try f.ledger.write { try $0.noteSleep(MachineSleep(lengthMs: 60_000), run) }
    let wokeMs = f.clock.wallMs
    func found(_ from: Int64, _ to: Int64) throws -> [TimeSpan] {
      try f.ledger.read { try $0.sleeps(TimeSpan(wokeMs + from, wokeMs + to)) }
    }
    #expect(try found(-100, 100) == [TimeSpan(wokeMs - 60_000, wokeMs)])
    #expect(try found(-90_000, -50_000).count == 1)
    #expect(try found(-90_000, -60_000).isEmpty && found(0, 10).isEmpty)
    #expect(try f.texts("SELECT verb, detail FROM v_events") == ["slept the machine slept for 60000 ms"])
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    #expect(throws: TransferError.self) {
      _ = try f.ledger.write { try $0.noteSleep(MachineSleep(lengthMs: 5_000), run) }
    }
  }

  /// A refused file at up.example, followed by a refused one of another batch there, and one at down.example.
  private func refusedElsewhere() throws -> (Begun, same: BatchID, elsewhere: BatchID) {
    let b = try Begun()
    let same = try b.f.makeBatch("put:https://up.example/else/")
    let elsewhere = try b.f.makeBatch("put:https://down.example/in/")
    _ = try b.f.add("b", size: 10, to: same)
    _ = try b.f.add("c", size: 10, to: elsewhere)
    let run = b.run
    try b.refuse(try b.begin()[0], retryAfterMs: 5_000)
    for _ in 0..<2 {
      let file = try b.f.ledger.write { try $0.claimAndPlan(run) }
      try b.refuse(try b.f.ledger.write { try $0.beginChunks(file.id, run, limit: 1, isRepeatable: true) }[0])
    }
    return (b, same, elsewhere)
  }

  /// A request to a mirror concerns the host of the mirror, whatever the host of its batch is.
  @Test func othersAtAMirrorAreCountedThere() throws {
    let (b, same, elsewhere) = try refusedElsewhere()
    try b.f.shell(
      """
      DROP TRIGGER attempt_closed; DROP TRIGGER attempt_fixed;
      UPDATE attempt SET mirror = 'down.example'
        WHERE file_id IN (SELECT id FROM file WHERE batch_id = \(same.rawValue));
      UPDATE attempt SET mirror = 'up.example'
        WHERE file_id IN (SELECT id FROM file WHERE batch_id = \(elsewhere.rawValue))
      """)
    let span = TimeSpan(b.startMs, b.f.clock.wallMs)
    let row = try b.row(.file(b.file))
    let activity = try #require(try b.f.ledger.read { try $0.hostActivity(row, span) })
    #expect(activity.others == 1 && activity.unavailable == 1)
    // The last answer was that of the mirror.
    #expect(activity.waits.map(\.toMs).max() == b.f.clock.wallMs + 60_000)
  }

  @Test func othersAtTheHostAreCounted() throws {
    let (b, same, elsewhere) = try refusedElsewhere()
    let run = b.run
    let nowMs = b.f.clock.wallMs
    let span = TimeSpan(b.startMs, nowMs)
    func activity(_ subject: WhySubject, _ span: TimeSpan) throws -> HostActivity? {
      let row = try b.row(subject)
      return try b.f.ledger.read { try $0.hostActivity(row, span) }
    }
    let ofFile = try #require(try activity(.file(b.file), span))
    #expect(ofFile.host == "up.example" && ofFile.others == 1 && ofFile.failed == 1 && ofFile.unavailable == 1)
    // Its own refusal and that of b, whose waits overlap.
    #expect(ofFile.waits == [TimeSpan(b.startMs + 1_500, b.startMs + 2_000 + 60_000)])
    #expect(try activity(.batch(same), span)?.others == 1)
    #expect(try activity(.batch(elsewhere), span)?.others == 0)
    #expect(try activity(.run(run), span) == nil)
    let before = try #require(try activity(.file(b.file), TimeSpan(0, b.startMs)))
    #expect(before.others == 0 && before.waits == [])
  }
}
