import TransferModel
import Testing

@testable import TransferLedger

/// A callback is queued in the transaction of the state that it reports, and is delivered at least once.
@Suite struct CallbackTests {
  let f: LedgerFixture
  let run: RunID

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  func batch(_ place: String, _ callbacks: [CallbackSetting]?) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    settings.callbacks = callbacks
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place))
    }
  }

  func finish() throws {
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
  }

  func begin(_ limit: Int = 9, resting: [Int64] = []) throws -> [DueCallback] {
    try f.ledger.write { try $0.beginDeliveries(limit: limit, resting: resting) }
  }

  func end(_ id: Int64, _ end: DeliveryEnd, waitMs: Int64 = 1_000) throws {
    try f.ledger.write { try $0.endDelivery(of: id, end, waitMs: waitMs) }
  }

  private func tell(_ event: CallbackEvent, _ callbacks: [CallbackSetting], _ uid: UInt64 = 1) throws {
    try f.ledger.write {
      try $0.tell(event, ofJob: "nightly", uid: UID(high: 7, low: uid), body: "{}", callbacks)
    }
  }

  private var states: [String] { get throws { try f.texts("SELECT state FROM outbox ORDER BY id") } }

  static let told = CallbackSetting(.done, .exec, "true")

  @Test func itIsQueuedWithTheStateAndNotBefore() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told, CallbackSetting(.failed, .exec, "false")]))
    _ = try f.add("b", to: batch("put:two", nil))
    #expect(try states == [])
    try finish()
    try finish()
    #expect(try f.texts("SELECT file_id, state FROM outbox") == ["1 waiting"])
    #expect(try f.findings() == [])
  }

  private static let ofBatch = [
    CallbackSetting(.batchDone, .exec, "true"), CallbackSetting(.batchFailed, .exec, "false"),
  ]

  private var ends: [String] {
    get throws {
      try f.texts("SELECT c.event, o.state FROM outbox o JOIN callback c ON c.id = o.callback_id ORDER BY o.id")
    }
  }

  @Test func theEndOfABatchIsToldOnce() throws {
    let one = try batch("put:one", Self.ofBatch)
    for name in ["a", "b"] { _ = try f.add(name, to: one) }
    _ = try f.add("c", to: batch("put:two", nil))
    try finish()
    #expect(try ends == [])
    try finish()
    #expect(try ends == ["batch_done waiting"])
    try finish()
    #expect(try ends == ["batch_done waiting"])
    let due = try #require(try begin().first)
    #expect(due.batch == one && due.file == nil && due.body == nil && due.key.hasSuffix("-batch_done-1"))
    #expect(try f.findings() == [])
  }

  /// A batch continues when a person retries one of its files, and then ends again.
  @Test func aBatchThatGoesOnEndsAgain() throws {
    let one = try batch("put:one", Self.ofBatch)
    for name in ["a", "b"] { _ = try f.add(name, to: one) }
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      #expect(try tx.failFile(file.id, run, code: .http403, message: "no", keepsSession: false).isApplied)
    }
    #expect(try ends == [])
    try finish()
    #expect(try ends == ["batch_failed waiting"])
    try f.ledger.write { tx in
      try tx.choose([FileID(rawValue: 1)])
      try tx.retryChosen(startsOver: false)
    }
    #expect(try ends == ["batch_failed waiting"])
    try finish()
    #expect(try ends == ["batch_failed cancelled", "batch_done waiting"])
    #expect(try f.findings() == [])
  }

  /// Files that back off, settle or are paused have not ended.
  @Test(arguments: ["state = 'pending', not_before = 9000000000000", "state = 'paused'"])
  func aBatchWithFilesThatWaitHasNotEnded(_ change: String) throws {
    let one = try batch("put:one", Self.ofBatch)
    for name in ["a", "b"] { _ = try f.add(name, to: one) }
    try f.shell("UPDATE file SET \(change) WHERE id = 2")
    try finish()
    #expect(try ends == [])
    try f.shell("UPDATE file SET state = 'cancelled', live = NULL, not_before = NULL, finished_at = 9e12 WHERE id = 2")
    #expect(try ends == ["batch_failed waiting"])
  }

  /// An engine may finish all recorded files while more are still being recorded.
  @Test func whatGrowsHasNotEnded() throws {
    let one = try batch("put:one", Self.ofBatch)
    _ = try f.add("a", to: one)
    try finish()
    #expect(try ends == ["batch_done waiting"])
    _ = try f.add("b", to: one)
    #expect(try ends == ["batch_done cancelled"])
    try finish()
    #expect(try ends == ["batch_done cancelled", "batch_done waiting"])
    // A delivered callback is not cancelled.
    try end(try #require(try begin().first).id, DeliveryEnd(.ok))
    _ = try f.add("c", to: one)
    #expect(try ends == ["batch_done cancelled", "batch_done delivered"])
  }

  @Test func aBatchOfUnreadableSourcesHasFailed() throws {
    let one = try batch("put:one", Self.ofBatch)
    try f.ledger.write { tx in
      for name in ["a", "b"] {
        _ = try tx.admitFailed(path: NameBytes(name), key: NameBytes(name), code: .sourceDenied, message: "no", to: one)
      }
    }
    #expect(try ends == ["batch_failed waiting"])
  }

  /// The settings of a batch are part of snapshots for auditors, who do not need a receiver that may be a secret.
  @Test func theSettingsOfABatchNameNoReceiver() throws {
    _ = try batch("put:one", [CallbackSetting(.done, .webhook, "https://host/hooks/SECRET")])
    #expect(try f.texts("SELECT settings FROM batch WHERE settings LIKE '%SECRET%'") == [])
    #expect(try f.texts("SELECT target FROM callback") == ["https://host/hooks/SECRET"])
  }

  /// A run that left the ledger to another engine: its `started` callback is withdrawn.
  @Test func aStartThatWasNoneIsTakenBack() throws {
    let started = CallbackSetting(.started, .ping, "https://host/x")
    try tell(.started, [started], 1)
    try tell(.started, [started], 2)
    #expect(try f.ledger.write { try $0.takeBack(.started, ofJob: "nightly", uid: UID(high: 7, low: 2)) })
    #expect(try states == ["waiting", "cancelled"])
    _ = try begin()
    #expect(try !f.ledger.write { try $0.takeBack(.started, ofJob: "nightly", uid: UID(high: 7, low: 1)) })
    #expect(try states == ["delivering", "cancelled"])
    #expect(try f.findings() == [])
  }

  /// The number of callbacks to a receiver that never answers is bounded.
  @Test func aJobKeepsTheNewestCallbacksOfAReceiver() throws {
    let receiver = [CallbackSetting(.succeeded, .ping, "https://host/x")]
    for run in 1...150 { try tell(.succeeded, receiver, UInt64(run)) }
    let counts = Dictionary(grouping: try states) { $0 }.mapValues(\.count)
    #expect(counts == ["waiting": LedgerTransaction.jobCallbacksKept, "gave_up": 1])
    #expect(try begin(1).first?.id == 51)
    #expect(try f.findings() == [])
  }

  /// The newest of 150 callbacks are kept; 49 were given up and deleted.
  @Test func whatWasGivenUpAndGoesIsCounted() throws {
    let mail = [CallbackSetting(.unsuccessful, .mail, "/usr/sbin/sendmail root")]
    func left(_ job: String?) throws -> CallbacksLeft {
      try f.ledger.read { try job.map($0.callbacksLeft) ?? $0.callbacksLeft() }
    }
    func told(_ event: CallbackEvent = .unsuccessful) throws {
      f.clock.advance(ms: 10)
      try tell(event, mail, UInt64(f.clock.wallMs))
    }
    let startMs = f.clock.wallMs
    for _ in 1...150 { try told() }
    let lost = CallbacksLeft(waiting: 100, givenUp: 1, forgotten: 49, unheard: 49)
    #expect(try left("nightly") == lost && left(nil) == lost)
    #expect(try left("other") == CallbacksLeft())
    let row = "1 nightly unsuccessful 49 \(startMs + 10) \(startMs + 490) 0"
    #expect(
      try f.texts(
        "SELECT receiver_id, job, event, callbacks, first_at, last_at, heard_since FROM v_forgotten_callbacks") == [row]
    )
    // A callback that a person retried and that was given up again and deleted is counted as well.
    #expect(try f.ledger.write { try $0.retryCallbacks(nil) } == 1)
    try told()
    #expect(try left(nil).forgotten == 49)
    try told()
    #expect(try left(nil) == CallbacksLeft(waiting: 100, givenUp: 1, forgotten: 51, unheard: 51))
    // A delivery ends the alarm, but does not reset the count.
    f.clock.advance(ms: 10)
    try end(try #require(try begin(1).first).id, DeliveryEnd(.ok))
    #expect(try left(nil) == CallbacksLeft(waiting: 99, givenUp: 1, forgotten: 51, unheard: 0))
    #expect(try f.findings() == [])
  }

  @Test func aTransactionThatIsUndoneTellsNobody() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    struct Cut: Error {}
    #expect(throws: (any Error).self) {
      try f.ledger.write { [run] tx in
        let file = try tx.claimAndPlan(run)
        try tx.sendAll(file.id, run)
        _ = try tx.completeFile(file.id, run, proof)
        throw Cut()
      }
    }
    #expect(try states == [] && f.texts("SELECT state FROM file") == ["pending"])
  }

  @Test func aFailureTellsThoseWhoAskedForIt() throws {
    let file = try f.add("a", to: batch("put:one", [Self.told, CallbackSetting(.failed, .exec, "false")]))
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(file, run, code: .http403, message: "no", keepsSession: false)
    }
    #expect(try begin().map(\.setting) == [CallbackSetting(.failed, .exec, "false")])
  }

  @Test func whatFailsWaitsAndIsGivenUp() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    let first = try #require(try begin().first)
    #expect(try begin().isEmpty, "one delivery at a time")
    try end(first.id, DeliveryEnd(.failed, exitCode: 1, message: "no"))
    #expect(try begin().isEmpty)
    for _ in 2...LedgerTransaction.deliveriesAtMost {
      f.clock.advance(ms: 1_000)
      let again = try #require(try begin().first)
      #expect(again.key == first.key)
      try end(again.id, DeliveryEnd(.failed, exitCode: 1))
    }
    #expect(try states == ["gave_up"])
    let left = try f.ledger.read { try $0.callbacksLeft() }
    #expect(left.waiting == 0 && left.givenUp == 1)
    #expect(try f.ledger.write { try $0.retryCallbacks(nil) } == 1)
    try end(try #require(try begin().first).id, DeliveryEnd(.ok))
    #expect(try states == ["delivered"])
    #expect(try f.findings() == [])
  }

  @Test func whatIsLeftIsCountedForAJobByItsRunsAndItsFiles() throws {
    func left(_ job: String) throws -> CallbacksLeft { try f.ledger.read { try $0.callbacksLeft(ofJob: job) } }
    var settings = BatchSettings(destination: "put:one")
    settings.callbacks = [Self.told]
    let made = try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: "put:one", job: "nightly"))
    }
    _ = try f.add("a", to: made)
    try finish()
    #expect(try left("nightly") == CallbacksLeft(waiting: 1))
    try tell(.succeeded, [CallbackSetting(.succeeded, .mail, "/usr/sbin/sendmail root")])
    #expect(try left("nightly") == CallbacksLeft(waiting: 2))
    var gone = DeliveryEnd(.failed)
    gone.isFinal = true
    try end(try #require(try begin(1).first).id, gone)
    _ = try begin(1)
    #expect(try left("nightly") == CallbacksLeft(waiting: 1, givenUp: 1))
    #expect(try left("other") == CallbacksLeft())
    #expect(try f.findings() == [])
  }

  @Test func whoWantsNoMoreIsGivenUpAtOnce() throws {
    try tell(.succeeded, [CallbackSetting(.succeeded, .webhook, "http://h/")])
    var gone = DeliveryEnd(.failed, httpStatus: 410)
    gone.isFinal = true
    try end(try #require(try begin().first).id, gone)
    #expect(try states == ["gave_up"])
  }

  @Test func whatACrashLeftIsDeliveredAgain() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    let first = try #require(try begin().first)
    try f.restart()
    #expect(try states == ["delivering"])
    let turn = try #require(try f.ledger.deliveryTurn())
    let other = try f.ledger.deliveryTurn()
    #expect(other == nil, "one process delivers")
    #expect(try begin().map(\.key) == [first.key])
    #expect(try f.texts("SELECT n, outcome FROM delivery ORDER BY n") == ["1 crashed", "2 open"])
    #expect(try f.findings() == [])
    withExtendedLifetime(turn) {}
  }

  @Test func anInterruptionIsNoFailure() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    try end(try #require(try begin().first).id, DeliveryEnd(.interrupted))
    #expect(try begin().map(\.failures) == [0])
  }

  @Test func aReceiverHearsOfAJobInOrder() throws {
    let hooks = [CallbackEvent.started, .succeeded].map { CallbackSetting($0, .webhook, "http://h/") }
    try tell(.started, hooks)
    try tell(.succeeded, hooks)
    let first = try begin()
    #expect(first.map(\.setting.event) == [.started])
    try end(first[0].id, DeliveryEnd(.failed), waitMs: 5)
    #expect(try begin().isEmpty)
    f.clock.advance(ms: 5)
    try end(try #require(try begin().first).id, DeliveryEnd(.ok))
    let last = try begin()
    #expect(last.map(\.setting.event) == [.succeeded])
    #expect(last.map(\.key) == ["00000000000000070000000000000001-succeeded"])
  }

  /// A dead man's switch that refuses starts, or was away at the start, learns of the end.
  @Test(arguments: [false, true]) func aPingOfAStartThatFailedHoldsBackNoEnd(failsBeforeTheEnd: Bool) throws {
    let pings = [CallbackEvent.started, .succeeded].map { CallbackSetting($0, .ping, "http://h/") }
    let others = [CallbackSetting(.started, .ping, "http://other/")]
    try tell(.started, pings + others)
    func end() throws {
      try f.ledger.write {
        try $0.tellEnd(.succeeded, ofJob: "nightly", uid: UID(high: 7, low: 1), result: "ok", pings) { _ in "{}" }
      }
    }
    func failStarts() throws {
      let starts = try begin()
      #expect(starts.map(\.setting.event) == [.started, .started])
      for start in starts { try self.end(start.id, DeliveryEnd(.failed), waitMs: 1_000) }
    }
    if failsBeforeTheEnd { try failStarts() }
    try end()
    if !failsBeforeTheEnd { try failStarts() }
    #expect(try begin().map(\.setting.event) == [.succeeded])
    #expect(try states == ["cancelled", "waiting", "delivering"], "what no end follows is tried again")
    #expect(try f.findings() == [])
  }

  @Test func aReceiverThatRestsGetsNothing() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    #expect(try begin(resting: [1]).isEmpty)
    let now = f.clock.wallMs
    let isDue = try f.ledger.read { try $0.hasDueCallback(nowMs: now, resting: [1]) }
    #expect(!isDue)
    #expect(try begin(resting: [2]).count == 1)
  }

  @Test func cancelledOnesAreNotDelivered() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    #expect(try f.ledger.write { try $0.cancelCallbacks([1, 2]) } == 1)
    #expect(try begin().isEmpty)
    #expect(try f.ledger.write { try $0.retryCallbacks([1]) } == 1)
    #expect(try begin().count == 1)
  }

  /// The queue of a job that reports every five minutes is bounded.
  @Test func ofAJobTheNewestAreKept() throws {
    let setting = CallbackSetting(.succeeded, .exec, "true")
    for n in 1...UInt64(LedgerTransaction.jobCallbacksKept + 5) {
      try tell(.succeeded, [setting], n)
      try end(try #require(try begin().first).id, DeliveryEnd(.ok))
    }
    #expect(try f.texts("SELECT count(*) FROM outbox") == ["\(LedgerTransaction.jobCallbacksKept)"])
    #expect(try f.findings() == [])
  }

  @Test func aPruneKeepsWhatWasNotDelivered() throws {
    _ = try f.add("a", to: batch("put:one", [Self.told]))
    try finish()
    f.clock.advance(ms: 10)
    let until = f.clock.wallMs
    #expect(try prune(until) == 0)
    #expect(try states == ["waiting"])
    try end(try #require(try begin().first).id, DeliveryEnd(.ok))
    #expect(try prune(until) == 1)
    #expect(try states == [])
    #expect(try f.findings() == [])
  }

  /// - Returns: the number of deleted callbacks, of which a dry run says the same.
  private func prune(_ beforeMs: Int64) throws -> Int64 {
    let planned = try f.ledger.pruneOutcome(before: beforeMs)
    let outcome = try f.ledger.prune(before: beforeMs)
    #expect(planned.pruned == outcome.pruned)
    return outcome.pruned.callbacks
  }

  /// Callbacks about batches go by the time at which they ended themselves.
  @Test func aPruneDeletesWhatItsBatchesHaveDelivered() throws {
    func endBatch(_ place: String, _ name: String) throws {
      _ = try f.add(name, to: batch(place, Self.ofBatch))
      try finish()
    }
    for (place, name) in [("put:one", "a"), ("put:two", "b")] { try endBatch(place, name) }
    try end(try #require(try begin(1).first).id, DeliveryEnd(.ok))
    f.clock.advance(ms: 10)
    let until = f.clock.wallMs
    try endBatch("put:three", "c")
    try end(try #require(try begin().last).id, DeliveryEnd(.ok))
    #expect(try states == ["delivered", "delivering", "delivered"])
    #expect(try prune(until) == 1)
    #expect(try f.texts("SELECT id, state FROM outbox ORDER BY id") == ["2 delivering", "3 delivered"])
    #expect(try f.texts("SELECT outbox_id FROM delivery ORDER BY outbox_id") == ["2", "3"])
    #expect(try f.findings() == [])
  }

  @Test func waitsGrowToAnHour() {
    var generator = SystemRandomNumberGenerator()
    for (failures, ceiling) in [(1, 5_000), (2, 10_000), (20, 3_600_000), (1_000, 3_600_000)] as [(Int, Int64)] {
      let wait = LedgerTransaction.deliveryWaitMs(failures: failures, retryAfterMs: nil, using: &generator)
      #expect((ceiling / 2...ceiling).contains(wait), "\(failures): \(wait)")
    }
    #expect(LedgerTransaction.deliveryWaitMs(failures: 1, retryAfterMs: 60_000, using: &generator) == 60_000)
    #expect(LedgerTransaction.deliveryWaitMs(failures: 1, retryAfterMs: .max, using: &generator) == 3_600_000)
  }
}
