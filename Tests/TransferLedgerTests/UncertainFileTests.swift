import TransferModel
import Testing

@testable import TransferLedger

/// A file that is cancelled when its outcome is unknown may have arrived: only a person repeats its request.
@Suite struct UncertainFileTests {
  private let f: LedgerFixture
  private let run: RunID
  private let batch: BatchID
  private let a: FileID

  init() throws {
    f = try LedgerFixture()
    (run, batch) = (try f.startRun(), try f.makeBatch())
    a = try f.add("a", to: batch)
    try f.ledger.write { [run, a] tx in
      _ = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(a, run, limit: 1, isRepeatable: false)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(a, run, code: .protoLostAnswer, message: "lost")
    }
  }

  private func standing() throws -> SyncStatus {
    let new = NewBatch(
      settings: BatchSettings(destination: "put:there"), protocolName: "put", destination: "put:there")
    let source = LedgerFixture.source("a")
    return try f.ledger.read {
      try $0.standing(
        place: "put:there", path: source.path, key: source.key, identity: source.identity, in: new, nowMs: 0)
    }.standing
  }

  @Test func itIsNotSentAgain() throws {
    #expect(try f.ledger.control(.cancel, RowFilter()).changed == [a])
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try standing() == .unknown)
    let (target, page) = (f.target(), f.page(["a"]))
    let admitted = try f.ledger.write { try $0.admit(page, to: target) }
    #expect(admitted.uncertain == [UncertainFile(index: 0, file: a)] && admitted.batch == nil)
    #expect(try f.texts("SELECT state FROM file") == ["cancelled"])
    #expect(try f.findings() == [])
  }

  /// Each of these decides, also after it was cancelled: it is neither sent nor reported again.
  @Test(arguments: [ControlVerb.remove, .clean(failed: false), .resolve(.cancel, reason: "no need")], [false, true])
  func aDecisionEndsTheDoubt(_ verb: ControlVerb, isCancelledFirst: Bool) throws {
    if isCancelledFirst || verb == .clean(failed: false) { _ = try f.ledger.control(.cancel, RowFilter()) }
    #expect(try f.ledger.control(verb, RowFilter()).changed == [a])
    #expect(try f.ledger.control(verb, .files([a])).changed == [], "it is decided")
    #expect(try f.admit("a", to: batch) == .unchanged(a))
    #expect(try standing() == .unchanged)
    #expect(try f.texts("SELECT state FROM file") == ["cancelled"])
    #expect(try f.findings() == [])
    // Other content is another matter.
    guard case .added = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
  }

  @Test(arguments: [ControlVerb.cancel, .remove, .resolve(.cancel, reason: "no need")])
  func aPersonFindsItOnTheServer(_ verb: ControlVerb) throws {
    _ = try f.ledger.control(verb, RowFilter())
    #expect(try f.ledger.control(.resolve(.done, reason: "seen"), .files([a])).changed == [a])
    #expect(
      try f.texts("SELECT state, cause, live, note FROM file JOIN receipt ON file_id = file.id") == ["done - 1 seen"])
    #expect(try f.admit("a", to: batch) == .unchanged(a))
    #expect(try f.findings() == [])
  }

  @Test func aPersonDecidesToSendIt() throws {
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(try f.ledger.control(.resolve(.retry, reason: "not there"), .files([a])).changed == [a])
    #expect(try f.texts("SELECT state, cause FROM file") == ["pending -"])
    #expect(try f.findings() == [])
  }

  /// A file that was cancelled before it was sent, and one with a newer generation.
  @Test func onlyWhatMayHaveArrivedIsResolved() throws {
    let b = try f.add("b", to: batch)
    _ = try f.ledger.control(.cancel, RowFilter())
    var undecided = RowFilter()
    undecided.isUndecided = true
    #expect(try f.ledger.read { try $0.outcome(of: .resolve(.done, reason: "seen"), RowFilter()) }.changed == [a])
    #expect(try f.ledger.read { try $0.outcome(of: .resolve(.done, reason: "seen"), undecided) }.selected == 1)
    #expect(throws: (any Error).self) {
      try f.shell("UPDATE file SET state = 'done', live = 1 WHERE id = \(b.rawValue)")
    }
    _ = try f.admit("a", version: 2, to: batch)
    #expect(try f.ledger.control(.resolve(.done, reason: "seen"), .files([a])).changed == [])
    _ = try f.ledger.control(.resolve(.cancel, reason: "no need"), undecided)
    #expect(try f.findings() == [])
  }

  @Test func aPersonSendsItAgain() throws {
    _ = try f.ledger.control(.remove, RowFilter())
    #expect(try f.ledger.control(.retry(startsOver: false), .files([a])).changed == [a])
    #expect(try f.texts("SELECT state, cause FROM file") == ["pending -"])
    #expect(try f.admit("a", to: batch) == .queued(a))
    // The request that may have delivered it is not forgotten.
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try f.findings() == [])
  }

  /// Unlike its ID, its state does not say that it may have arrived.
  @Test func aRetryOfAllThatWasCancelledLeavesItOut() throws {
    let b = try f.add("b", to: batch)
    _ = try f.ledger.control(.cancel, RowFilter())
    var cancelled = RowFilter.states([.cancelled])
    cancelled.sparesUncertain = true
    let planned = try f.ledger.read { [cancelled] in try $0.outcome(of: .retry(startsOver: false), cancelled) }
    #expect(planned.changed == [b] && planned.uncertain == [a] && planned.unaffected == [.cancelled: 1])
    #expect(try f.ledger.control(.retry(startsOver: false), cancelled) == planned)
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["cancelled", "pending"])
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try f.findings() == [])
  }

  @Test func otherContentIsSent() throws {
    _ = try f.ledger.control(.cancel, RowFilter())
    guard case .added = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["superseded", "pending"])
    #expect(try f.findings() == [])
  }

  /// A source that cannot be read for a while does not make the ledger forget what may have arrived.
  @Test func aFailureToReadChangesNothing() throws {
    _ = try f.ledger.control(.cancel, RowFilter())
    var denied = AdmissionPage()
    denied.append(path: NameBytes("/src/a"), key: NameBytes("a"), Failure(.sourceDenied, "permission denied"))
    let (target, page) = (f.target(), denied)
    #expect(try f.ledger.write { try $0.admit(page, to: target) }.failed == 1)
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try f.findings() == [])
  }

  // MARK: - Changed, and changed back

  /// Claims the file that is ready: the generation that may have delivered its version.
  private func claimed() throws -> EarlierDelivery? {
    try f.ledger.write { [run] in try $0.claimAndPlan(run) }.earlierDelivery
  }

  private var earlier: EarlierDelivery { EarlierDelivery(file: a, isFollowed: false) }

  @Test(arguments: [nil, ControlVerb.cancel]) func itsVersionIsInDoubtAgain(_ verb: ControlVerb?) throws {
    if let verb { _ = try f.ledger.control(verb, RowFilter()) }
    guard case .added = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
    guard case .added(let third, _) = try f.admit("a", to: batch) else { throw Surprise("not added") }
    #expect(try claimed() == earlier)
    _ = try f.ledger.write { [run] tx in
      try tx.markUnknown(third, run, code: .protoLostAnswer, message: "f1 may have delivered it")
    }
    #expect(try f.findings() == [])
    // A person decides, once.
    _ = try f.ledger.control(.resolve(.retry, reason: "it is not there"), .files([third]))
    #expect(try claimed() == nil)
    #expect(try f.findings() == [])
  }

  /// What was sent since is there now, or may be: whether it has replaced the first version depends on the protocol.
  @Test(arguments: [true, false]) func anotherVersionMayHaveFollowed(_ isStored: Bool) throws {
    guard case .added(let second, _) = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      if isStored {
        try tx.sendAll(second, run)
        _ = try tx.completeFile(second, run, proof)
      } else {
        let chunk = try tx.beginChunks(second, run, limit: 1, isRepeatable: true)[0]
        _ = try tx.closeAttempt(chunk.attempt, run, result(.retry, mayHaveArrived: true))
        _ = try tx.releaseChunk(chunk.id, chunk.attempt)
        _ = try tx.supersede(second, run, by: LedgerFixture.source("a").identity, notBeforeMs: nil)
      }
    }
    if isStored {
      guard case .added = try f.admit("a", to: batch) else { throw Surprise("not added") }
    }
    #expect(try claimed() == EarlierDelivery(file: a, isFollowed: true))
  }

  /// The engine found that the source is the first version again.
  @Test func aSourceThatChangedBackMeanwhile() throws {
    guard case .added(let second, _) = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.supersede(second, run, by: LedgerFixture.source("a").identity, notBeforeMs: nil)
    }
    #expect(try claimed() == earlier)
  }

  @Test func onlyWhatIsUnknownIsNotedAndItStaysSo() throws {
    #expect(try f.texts("SELECT may_have_arrived FROM file") == ["1"])
    _ = try f.add("b", to: batch)
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET may_have_arrived = 1 WHERE id = 2") }
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET may_have_arrived = NULL WHERE id = 1") }
    #expect(try f.texts("SELECT may_have_arrived FROM file") == ["1", "-"])
  }
}
