import TransferModel
import Testing

@testable import TransferLedger

/// Control requests take effect immediately on files at rest, on active files when the engine releases them, and after
/// a crash in the next run.
@Suite struct ControlTests {
  /// State, then the result of pause, pause now, resume, cancel, retry, remove, clean, clean failed, resolve done,
  /// resolve retry and resolve cancel: the new state, `?action` if the engine is asked for it, `hidden`, or `-` for
  /// no change.
  static let golden = """
    settling    ?pause ?pause - cancelled - cancelled,hidden - - - - -
    pending     paused paused - cancelled - cancelled,hidden - - - - -
    waiting     paused paused - cancelled - cancelled,hidden - - - - -
    active      ?pause ?pause-now - ?cancel - ?remove - - - - -
    finishing   ?pause ?pause-now - ?cancel - ?remove - - - - -
    done        - - - - - hidden hidden hidden - - -
    paused      - - pending cancelled - cancelled,hidden - - - - -
    failed      - - - - pending hidden - hidden - - -
    cancelled   - - - - pending hidden hidden hidden - - -
    unknown     - - - cancelled pending cancelled,hidden - - done pending cancelled
    superseded  - - - - - hidden hidden hidden - - -
    """
  static let verbs: [ControlVerb] = [
    .pause(now: false), .pause(now: true), .resume, .cancel, .retry(startsOver: false), .remove, .clean(failed: false),
    .clean(failed: true), .resolve(.done, reason: "seen"), .resolve(.retry, reason: "not there"),
    .resolve(.cancel, reason: "obsolete"),
  ]

  @Test(arguments: golden.split(separator: "\n").map(String.init))
  func everyVerbInEveryState(line: String) throws {
    let f = try LedgerFixture()
    let state = String(line.prefix { $0 != " " })
    let (file, _) = try TransitionTests.file(in: state, f)
    let effects = try Self.verbs.map { verb in
      let told = try f.ledger.read { try $0.outcome(of: verb, .files([file])) }
      let probe: @Sendable (LedgerTransaction) throws -> String = { tx in
        let old = try Self.row(tx, file)
        #expect(try tx.control(verb, .files([file])) == told, "as predicted")
        let new = try Self.row(tx, file)
        let parts = [
          new.state == old.state ? nil : new.state, new.requestedAction.map { "?" + $0 }, new.hidden ? "hidden" : nil,
        ]
        let words = parts.compactMap(\.self).joined(separator: ",")
        throw Rollback(description: words.isEmpty ? "-" : words)
      }
      let error = try #require(throws: TransferError.self) { try f.ledger.write(probe) }
      return error.cause
    }
    let padding = String(repeating: " ", count: 12 - state.count)
    #expect(state + padding + effects.joined(separator: " ") == line)
  }

  @Test func whatAPersonSaysOfAnUnknownFileIsRecorded() throws {
    let f = try LedgerFixture()
    let (file, run) = try TransitionTests.file(in: "unknown", f)
    #expect(try f.ledger.write { try $0.control(.resolve(.done, reason: "seen"), .files([file])) }.changed == [file])
    #expect(
      try f.texts("SELECT state, cause, message, confirmed_by, proof_note, bytes_acked, etag FROM v_files") == [
        "done - - none seen 0 "
      ])
    #expect(try f.events(of: file, "resolved") == ["done: seen"])
    #expect(try f.texts("SELECT state FROM chunk") == ["unknown"], "no server acknowledged it")
    #expect(try f.ledger.read { try $0.receipt(of: file) }?.note == "seen")
    #expect(try f.findings() == [])
    #expect(try f.admit("a", to: BatchID(rawValue: 1)) == .unchanged(file))
    guard case .added(_, superseded: file) = try f.admit("a", version: 2, to: BatchID(rawValue: 1)) else {
      throw Surprise("a newer version")
    }
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    #expect(try f.findings() == [])
  }

  /// The answer to its first request was lost before there was a layout, and its session may have become the object.
  @Test func whatWasNeverLaidOutIsResolvedToo() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimFiles(run, limit: 1)
      let session = try tx.intendSession(file, run)
      let create = try tx.beginAttempt(file, run, .create, session: session, isRepeatable: false)
      _ = try tx.closeAttempt(create, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.markUnknown(file, run, code: .protoLostAnswer, message: "lost")
      #expect(try tx.control(.resolve(.done, reason: "it is there"), RowFilter()).changed == [file])
    }
    #expect(try f.texts("SELECT state, chunks FROM v_files") == ["done -"])
    #expect(try f.texts("SELECT state, abort_after FROM session") == ["gone -"])
    #expect(try f.findings() == [])
  }

  @Test func anUnknownFileMakesRoomForNewContentOnly() throws {
    let f = try LedgerFixture()
    let (file, _) = try TransitionTests.file(in: "unknown", f)
    let batch = BatchID(rawValue: 1)
    var moved = LedgerFixture.source("a")
    (moved.identity.inode, moved.identity.device, moved.identity.ctimeNs) = (77, 77, 77)
    let elsewhere = moved
    #expect(try f.ledger.write { try $0.admit(elsewhere, to: batch) } == .unknown(file))
    guard case .added(_, superseded: file) = try f.admit("a", size: 11, to: batch) else { throw Surprise("larger") }
    #expect(
      try f.texts("SELECT state, cause FROM v_files") == ["superseded proto.lost_answer", "pending -"])
    #expect(try f.events(of: file, "superseded").count == 1)
    #expect(try f.findings() == [])
  }

  @Test func whatIsToBeRemovedIsNotOnlyCancelledInstead() throws {
    let f = try LedgerFixture()
    let (file, _) = try TransitionTests.file(in: "active", f)
    for verb in [ControlVerb.remove, .cancel, .pause(now: true)] {
      _ = try f.ledger.write { try $0.control(verb, .files([file])) }
    }
    #expect(try f.texts("SELECT requested_action FROM file WHERE id = \(file.rawValue)") == ["remove"])
  }

  private struct Rollback: Error, CustomStringConvertible { let description: String }

  private static func row(_ tx: LedgerTransaction, _ file: FileID) throws -> (
    state: String, requestedAction: String?, hidden: Bool
  ) {
    try #require(
      try tx.db.first("SELECT state, requested_action, hidden FROM file WHERE id = ?", .id(file)) { row in
        (state: row.text(0), requestedAction: row.textOrNil(1), hidden: row.flag(2))
      })
  }

  @Test func whatIsAskedOfAnEngineHappensWhenItLetsGo() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["paused", "gone", "removed", "resumed", "done"].map { try f.add($0, size: 20, to: batch) }
    let run = try f.startRun()
    try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(run) }
      _ = try tx.openSession(try tx.intendSession(files[1], run), run, remoteID: "u", expiresAtMs: nil)
      #expect(try tx.pauseFiles(.files([files[0], files[3], files[4]]), now: false).asked.count == 3)
      #expect(try tx.cancelFiles(.files([files[1]])).asked == [files[1]])
      #expect(try tx.pauseFiles(.files([files[1]]), now: true).asked == [], "a requested cancellation stays")
      #expect(try tx.hideFiles(.files([files[2]])).asked == [files[2]])
      #expect(try tx.resumeFiles(.files([files[3]])).changed == [files[3]])
    }
    #expect(try f.ledger.read { try $0.check() } == [])
    try f.ledger.write { tx in
      for file in files.prefix(4) {
        #expect(try tx.releaseFile(file, run, notBeforeMs: 1 << 60, code: nil, isFailure: false).isApplied)
      }
      try tx.sendAll(files[4], run)
      #expect(try tx.completeFile(files[4], run, proof).isApplied)
      #expect(try tx.claimAborts(run, limit: 9).map(\.remoteID) == ["u"])
    }
    #expect(
      try f.texts("SELECT state, requested_action, cause, hidden FROM file ORDER BY id") == [
        "paused - - -", "cancelled - policy.cancelled -", "cancelled - policy.cancelled 1", "pending - - -",
        "done - - -",
      ])
    #expect(
      try f.texts(
        """
        SELECT r.first_file, e.verb, e.detail FROM event_range r JOIN event e ON e.id = r.event_id
        WHERE r.first_file IN (1, 3) ORDER BY e.id
        """) == [
          "1 asked pause", "3 asked remove", "1 paused ", "3 cancelled ", "3 removed ",
        ])
  }

  @Test func anUnknownFileThatWasCalledOffIsCancelledAndAChangedOneStaysPausedInItsNextGeneration() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["posted", "changed"].map { try f.add($0, to: batch) }
    let run = try f.startRun()
    try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(run) }
      let chunk = try tx.beginChunks(files[0], run, limit: 1, isRepeatable: false)[0]
      _ = try tx.cancelFiles(.files([files[0]]))
      _ = try tx.pauseFiles(.files([files[1]]), now: false)
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(files[0], run, code: .protoLostAnswer, message: "lost")
      _ = try tx.supersede(
        files[1], run, by: LedgerFixture.source("changed", version: 2).identity, notBeforeMs: 1 << 60)
    }
    #expect(
      try f.texts("SELECT state, cause, message FROM file ORDER BY id") == [
        "cancelled policy.cancelled a request whose answer was lost may have taken effect",
        "superseded source.changed -", "paused - -",
      ])
    #expect(try f.findings() == [])
  }

  @Test func theNextEngineHonoursWhatADeadOneWasAsked() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let files = try ["pause", "cancel", "posted", "on"].map { try f.add($0, size: 20, to: batch) }
    let dead = try f.startRun()
    try f.ledger.write { tx in
      for _ in files { _ = try tx.claimAndPlan(dead) }
      _ = try tx.beginChunks(files[0], dead, limit: 1, isRepeatable: true)
      _ = try tx.openSession(try tx.intendSession(files[1], dead), dead, remoteID: "u", expiresAtMs: nil)
      _ = try tx.beginChunks(files[2], dead, limit: 1, isRepeatable: false)
      _ = try tx.pauseFiles(.files([files[0]]), now: true)
      _ = try tx.cancelFiles(.files([files[1], files[2]]))
    }
    #expect(try f.ledger.recoverIfIdle(Self.person) == nil, "the engine is alive: it is this ledger")
    try f.restart()
    let recovery = try f.ledger.recoverIfIdle(Self.person)
    #expect(
      recovery
        == Recovery(crashedAttempts: 2, requeuedFiles: 1, unknownFiles: 0, pausedFiles: 1, cancelledFiles: 2))
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["paused", "cancelled", "cancelled", "pending"])
    #expect(try f.texts("SELECT how FROM v_runs ORDER BY id") == ["crashed", "recovered"])
    #expect(try f.texts("SELECT abort_after IS NOT NULL FROM session") == ["1"])
    #expect(try f.findings() == [])
    #expect(try f.ledger.recoverIfIdle(Self.person) == nil, "nothing is left to do")
    _ = try f.startRun()
  }

  private static let person = NewRun(argv: ["transfers", "cancel"], version: "0.1", host: "here", bootID: "b", pid: 8)

  @Test func aRetriedFileDoesNotTrustASessionThatWasGivenUp() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 30, to: f.makeBatch())
    let run = try f.startRun()
    let begin: @Sendable (LedgerTransaction) throws -> Void = { tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.openSession(try tx.intendSession(file, run), run, remoteID: "u\(tx.wallMs)", expiresAtMs: nil)
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
    }
    try f.ledger.write(begin)
    try f.ledger.write { tx in
      _ = try tx.failFile(file, run, code: .http503, message: "m", keepsSession: true)
      _ = try tx.retryFiles(RowFilter(), startsOver: false)
    }
    #expect(try f.texts("SELECT state FROM chunk ORDER BY seq") == ["done", "pending", "pending"])
    try f.ledger.write { _ = try $0.cancelFiles(RowFilter()) }
    #expect(try f.texts("SELECT state FROM chunk ORDER BY seq") == ["done", "pending", "pending"])
    try f.ledger.write { _ = try $0.retryFiles(RowFilter(), startsOver: false) }
    #expect(try f.texts("SELECT state, losses FROM chunk ORDER BY seq") == ["pending 1", "pending 0", "pending 0"])
    f.clock.advance(ms: 1)
    try f.ledger.write(begin)
    try f.ledger.write { tx in
      _ = try tx.failFile(file, run, code: .http503, message: "m", keepsSession: true)
      _ = try tx.retryFiles(RowFilter(), startsOver: true)
      #expect(try tx.claimFiles(run, limit: 1).map(\.session) == [nil])
    }
    #expect(try f.texts("SELECT state, losses FROM chunk ORDER BY seq") == ["pending 2", "pending 0", "pending 0"])
    #expect(try f.texts("SELECT count(*) FROM session WHERE abort_after IS NOT NULL") == ["2"])
    #expect(try f.findings() == [])
  }

  @Test func resumedFilesDoNotWaitForTheirBackoff() throws {
    let f = try LedgerFixture()
    let file = try f.add("a", size: 20, to: f.makeBatch())
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.retry))
      _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: 1 << 60)
      _ = try tx.releaseFile(file, run, notBeforeMs: 1 << 60, code: .netReset, isFailure: true)
      #expect(try tx.pauseFiles(RowFilter(), now: false).changed == [file])
    }
    #expect(try f.texts("SELECT state, not_before, cause FROM file") == ["paused - net.reset"])
    #expect(try f.ledger.write { try $0.resumeFiles(RowFilter()) }.changed == [file])
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 1) }.map(\.id) == [file])
    #expect(try f.ledger.write { try $0.beginChunks(file, run, limit: 9, isRepeatable: true) }.count == 2)
  }

  @Test func aBatchIsHiddenWithItsLastFileAndSeenAgainWithARetry() throws {
    let f = try LedgerFixture()
    let (batch, empty) = (try f.makeBatch(name: "nightly"), try f.makeBatch())
    let files = try ["a", "b"].map { try f.add($0, to: batch) }
    _ = try f.ledger.write { try $0.cancelFiles(.files([files[0]])) }
    #expect(try f.ledger.write { try $0.hideFinished(RowFilter(), failed: false) }.changed == [files[0]])
    #expect(try f.texts("SELECT id FROM v_batches WHERE hidden") == [], "one is pending, the other may still get files")
    f.clock.advance(ms: 3_600_001)
    #expect(try f.ledger.write { try $0.hideFiles(.states([.pending])) }.changed == [files[1]])
    #expect(try f.texts("SELECT id FROM v_batches WHERE hidden") == ["1"])
    _ = try f.ledger.write { try $0.hideFinished(RowFilter(), failed: false) }
    #expect(try f.texts("SELECT id FROM v_batches WHERE hidden") == ["1", "2"])
    #expect(try f.ledger.write { try $0.hideFiles(RowFilter()) }.unaffected == [.cancelled: 2])
    #expect(try f.ledger.write { try $0.retryFiles(.files([files[0]]), startsOver: false) }.changed == [files[0]])
    #expect(try f.texts("SELECT id FROM v_batches WHERE hidden") == ["2"])
    #expect(try f.texts("SELECT id, hidden FROM v_files") == ["1 -", "2 1"])
    _ = try f.ledger.write { try $0.hideFiles(RowFilter()) }
    #expect(try f.makeBatch(name: "nightly") == batch)
    #expect(try f.texts("SELECT id FROM v_batches WHERE hidden") == ["\(empty.rawValue)"])
    #expect(try f.findings() == [])
  }

  @Test func aClaimPassesOverWholeBatchesAndKeepsTheOrderOfWork() throws {
    let f = try LedgerFixture()
    let batches = try (0..<4).map { try f.makeBatch("put:\($0)", priority: $0 == 3 ? 5 : 0) }
    for name in ["a", "b", "c"] { for batch in batches { _ = try f.add(name, to: batch) } }
    try f.shell("UPDATE file SET priority = 1 WHERE id = 6")
    let run = try f.startRun()
    #expect(try f.ledger.read { try $0.hasReadyFiles(without: Set(batches.dropLast())) })
    #expect(try !f.ledger.read { try $0.hasReadyFiles(without: Set(batches)) })
    let claims = try f.ledger.write { tx in
      try [4, 9].map { limit in try tx.claimFiles(run, limit: limit, without: [batches[0]]).map(\.id.rawValue) }
    }
    #expect(claims == [[4, 8, 12, 6], [2, 3, 7, 10, 11]])
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9, without: [batches[0]]) }.isEmpty)
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 2) }.map(\.id.rawValue) == [1, 5])
  }

  @Test func veryManyFilesAreChangedAPartAtATime() throws {
    let f = try LedgerFixture()
    let target = f.target()
    let pages = [f.page((0..<4_500).map { "f\($0)" })]
    for page in pages { _ = try f.ledger.write { try $0.admit(page, to: target) } }
    let other = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    defer { other.close() }
    var seen: [Int] = []
    let outcome = try f.ledger.control(.pause(now: false), RowFilter()) {
      seen.append((try? other.read { try $0.stateTotals(RowFilter()) }.count(.paused)) ?? -1)
      _ = try? other.write { try $0.control(.cancel, .files([FileID(rawValue: 4_500)])) }
    }
    #expect(seen == [100, 300, 700, 1_500, 3_100, 4_499])
    #expect((outcome.changed.count, outcome.unaffected) == (4_499, [.cancelled: 1]))
    #expect(
      try f.texts("SELECT verb, sum(files), count(*) FROM v_events WHERE files > 0 GROUP BY 1")
        == ["cancelled 1 1", "paused 4499 6"])
    #expect(try f.events(RowFilter()) == ["added 0 - -", "paused 4499 f1 f4499", "cancelled 1 f4500 f4500"])
    #expect(try f.events(.files([FileID(rawValue: 4_000)])) == ["paused 4499 f1 f4499"], "recorded by its sixth part")
    // A process crashed after its first part, and the same command is repeated.
    var first = RowFilter()
    first.files = [1...2_000]
    _ = try f.ledger.control(.remove, first)
    #expect(try f.texts("SELECT hidden FROM batch") == ["-"])
    let rest = try f.ledger.control(.remove, .batch(BatchID(rawValue: 1)))
    #expect((rest.changed.count, rest.unaffected) == (2_500, [.cancelled: 2_000]))
    #expect(try f.texts("SELECT hidden FROM batch") == ["1"])
    #expect(
      try f.events(RowFilter()).filter { $0.hasPrefix("removed") } == [
        "removed 2000 f1 f2000", "removed 2500 f2001 f4500",
      ])
    #expect(try f.findings() == [])
  }

  @Test func aPriorityReachesTheFilesAlsoWhenTheFirstCommandDiedBefore() throws {
    let f = try LedgerFixture()
    let target = f.target()
    let page = f.page((0..<2_500).map { "f\($0)" })
    _ = try f.ledger.write { try $0.admit(page, to: target) }
    let change = Self.change { $0.priority = 5 }
    _ = try f.ledger.write { try $0.changeBatches([BatchID(rawValue: 1)], change) }
    #expect(try f.texts("SELECT DISTINCT priority FROM file") == ["0"])
    var parts = 0
    #expect(try f.ledger.changeBatches(RowFilter(), change) { parts += 1 }.unaffected.count == 1)
    #expect(try f.texts("SELECT DISTINCT priority FROM file") == ["5"])
    #expect(parts == 5)
  }

  @Test func whatIsRemovedWhileAnEngineHasItTakesItsBatchAlong() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    let ends: [@Sendable (LedgerTransaction, FileID) throws -> Void] = [
      { tx, file in
        try tx.sendAll(file, run)
        #expect(try tx.completeFile(file, run, proof).isApplied)
      },
      { tx, file in _ = try tx.failFile(file, run, code: .http413, message: "m", keepsSession: false) },
      { tx, file in _ = try tx.releaseFile(file, run, notBeforeMs: nil, code: nil, isFailure: false) },
      { tx, file in
        _ = try tx.supersede(file, run, by: LedgerFixture.source("f3", version: 2).identity, notBeforeMs: nil)
      },
    ]
    for (number, end) in ends.enumerated() {
      let file = try f.add("f\(number)", to: f.makeBatch())
      try f.ledger.write { tx in
        _ = try tx.claimAndPlan(run)
        #expect(try tx.control(.remove, .files([file])).asked == [file])
        try end(tx, file)
      }
    }
    #expect(try f.texts("SELECT hidden FROM batch") == ["1", "1", "1", "1"])
    #expect(
      try f.texts(
        """
        SELECT f.id, f.state FROM file f JOIN event_range r ON r.first_file = f.id JOIN event e ON e.id = r.event_id
        WHERE e.verb = 'removed' ORDER BY 1
        """)
        == ["1 done", "2 failed", "3 cancelled", "4 superseded", "5 cancelled"])
    #expect(try f.findings() == [])
  }
}
