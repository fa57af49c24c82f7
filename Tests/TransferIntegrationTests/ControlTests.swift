import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

/// Users change their mind while an engine works, and their requests take effect at once. The server holds the requests
/// that must not end earlier: without the effect nothing would end at all.
@Suite struct ControlTests {
  /// Holds the first request only; a second one is received completely.
  private static let heldOnce = "match PUT */big times=1 : body-hold=100000,big\n"

  private static func scene(_ script: String, names: [String] = ["big"], size: Int = 2_000_000) throws -> Scene {
    let scene = try Scene(script: script)
    for name in names {
      try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes("\(scene.root)/source/\(name)"))
    }
    return scene
  }

  @Test func aPauseAtOnceInterruptsAndAResumeFinishes() throws {
    let scene = try Self.scene(Self.heldOnce)
    _ = try scene.add()
    let engine = try RunningEngine(scene)
    try scene.waitUntilHeld("big")
    #expect(try engine.control(.pause(now: true)).asked.count == 1)
    let result = try engine.end()
    #expect(result.stoppedBy == .paused && result.left == 1 && result.paused == 1)
    #expect(try engine.states() == ["paused"])
    #expect(try engine.attempts() == ["interrupted"])
    #expect(try scene.run().stoppedBy == .paused, "nothing to do until it is resumed")
    #expect(try engine.control(.resume).changed.count == 1)
    #expect(try scene.run().done == 1)
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  @Test func aPauseLetsFinishWhatRunsAndBeginsNothingMore() throws {
    let scene = try Self.scene("match PUT * : hold=put\n", names: ["a", "b", "c", "d"], size: 1_000)
    _ = try scene.add()
    let engine = try RunningEngine(scene, workers: 1)
    try scene.waitUntilHeld("put")
    let outcome = try engine.control(.pause(now: false))
    #expect(outcome.selected == 4)
    try engine.wait { $0.filesTotal == 1 }
    scene.release("put")
    let result = try engine.end()
    #expect(result.done == 1 && result.paused == 3 && result.stoppedBy == .paused)
    #expect(try engine.states() == ["done", "paused", "paused", "paused"])
    #expect(try scene.commits().count == 1)
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  /// Three chunks in parallel, one of which ends before the others: the others are allowed to end, too.
  @Test(arguments: ["pause", "drain"])
  func whatRunsIsFinishedAlthoughAnotherChunkOfTheFileEndedBefore(_ how: String) throws {
    let scene = try Self.scene(
      "match PATCH * nth=1 : hold=first\nmatch PATCH * : hold=others\nmatch PUT * : hold=put\n", size: 3 << 16)
    var settings = BatchSettings(destination: "tus+\(scene.url)/-/tus/", options: ["parallel": true])
    settings.options["part-size"] = .number(1 << 16)
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings),
      notice: { _ in })
    let stop = Scene.Stop()
    // The request for this batch is made last and takes effect at once: when it has, the engine has seen the other
    // request as well.
    let witness = try scene.add().batch!
    let engine = try RunningEngine(scene, workers: 8, stop: stop)
    try scene.waitUntilHeld("others", count: 2)
    for name in ["first", "put"] { try scene.waitUntilHeld(name) }
    if how == "pause" {
      _ = try engine.control(.pause(now: false), .files([FileID(rawValue: 1)]))
      _ = try engine.control(.pause(now: true), .batch(witness))
      try engine.wait { $0.filesTotal == 1 }
    } else {
      stop.drain()
      scene.release("put")
    }
    scene.release("first")
    try engine.wait { $0.bytesAcked >= 1 << 16 }
    scene.release("others")
    #expect(try engine.end().left == (how == "pause" ? 2 : 1))
    let parts = try engine.ledger.read { try $0.attempts(.files([FileID(rawValue: 1)]), after: 0, limit: 100) }
      .filter { $0.operation == "part" }
    #expect(parts.map(\.outcome) == ["ok", "ok", "ok"])
  }

  @Test func aResumeTakesBackAPauseThatTheEngineHasNotDoneYet() throws {
    let scene = try Self.scene("match PUT * times=1 : hold=put\n", size: 1_000)
    _ = try scene.add()
    let engine = try RunningEngine(scene)
    try scene.waitUntilHeld("put")
    #expect(try engine.control(.pause(now: false)).asked.count == 1)
    #expect(try engine.control(.resume).changed.count == 1)
    scene.release("put")
    let result = try engine.end()
    #expect(result.done == 1 && result.left == 0 && result.stoppedBy == nil)
  }

  @Test func aCancelledFileEndsAndTheOthersGoOn() throws {
    let scene = try Self.scene(Self.heldOnce, names: ["big", "small"])
    _ = try scene.add()
    let engine = try RunningEngine(scene)
    try scene.waitUntilHeld("big")
    try engine.wait { $0.filesDone == 1 }
    #expect(try engine.control(.cancel, .files([FileID(rawValue: 1)])).asked.count == 1)
    let result = try engine.end()
    #expect(result.done == 1 && result.left == 0 && result.failed == 0 && result.stoppedBy == nil)
    #expect(try engine.states() == ["cancelled policy.cancelled", "done"])
    #expect(try scene.commits().count == 1)
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  @Test func whatMustNotBeRepeatedIsCancelledWithItsDoubtAndNeverPausedInTheMiddle() throws {
    let scene = try Self.scene("match POST * : body-hold=100000,post\nmatch PUT * : hold=put\n")
    let post = try scene.add(scheme: "post+").batch!
    _ = try scene.add(to: "/witness/")
    let engine = try RunningEngine(scene)
    for name in ["post", "put"] { try scene.waitUntilHeld(name) }
    #expect(try engine.control(.pause(now: true)).asked.count == 2)
    // When one is paused, the engine has seen both requests.
    try engine.wait { $0.filesTotal == 1 }
    #expect(try engine.states() == ["active", "paused"])
    #expect(try engine.control(.remove, .batch(post)).asked.count == 1)
    let result = try engine.end()
    #expect(result.unknown == 0 && result.left == 1 && result.paused == 1)
    let row = try engine.ledger.read { try $0.files(.states([.cancelled]), after: 0, limit: 1) }
    #expect(row.map(\.message) == ["a request whose answer was lost may have taken effect"])
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  /// The body had arrived when the request was cut. `cancel` leaves the decision to a person; `rm` is one.
  @Test(arguments: [ControlVerb.cancel, .remove])
  func aCancelledPostIsSentAgainOnlyByAPerson(_ verb: ControlVerb) throws {
    let scene = try Self.scene("match POST * times=1 : hold=post\n", size: 1_000)
    _ = try scene.add(scheme: "post+")
    let engine = try RunningEngine(scene)
    try scene.waitUntilHeld("post")
    #expect(try engine.control(verb).asked.count == 1)
    #expect(try engine.end().done == 0)
    for _ in 0..<2 {
      let again = try scene.add(scheme: "post+")
      #expect((verb == .remove ? again.counts.unchanged : again.counts.unknown) == 1 && again.counts.added == 0)
      #expect(try scene.run().done == 0)
    }
    #expect(try engine.attempts().count == 1)
    #expect(try engine.control(.retry(startsOver: false), .states([.cancelled])).changed.count == 1)
    #expect(try scene.run().done == 1)
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  /// This test is about rates: at the old one the file would take three minutes.
  @Test func aNewRateOfABatchHoldsForTheRunningEngineAndForNobodyElse() throws {
    let scene = try Self.scene("", size: 20_000_000)
    let (slow, free) = (try scene.add(), try scene.add(to: "/other/"))
    let limit = Self.change { $0.rate = .to(100_000) }
    let engine = try RunningEngine(scene) { ledger in
      _ = try ledger.changeBatches(.batch(slow.batch!), limit)
    }
    let first = try engine.wait { $0.filesDone == 1 && $0.bytesInFlight > 0 }
    #expect(first.bytesInFlight < 10_000_000, "20 MB of the other batch have arrived meanwhile")
    #expect(first.rateLimit == 100_000)
    let lifted = Self.change { $0.rate = .lifted }
    _ = try engine.ledger.changeBatches(.batch(slow.batch!), lifted)
    #expect(try engine.end().done == 2)
    let rows = try engine.ledger.read { try $0.files(RowFilter(), after: 0, limit: 9) }
    let endOf = Dictionary(uniqueKeysWithValues: rows.map { ($0.batch, $0.finishedMs ?? 0) })
    #expect(endOf[free.batch!]! < endOf[slow.batch!]!)
  }

  @Test func aBatchKeepsToItsShareOfTheConnections() throws {
    let names = (0..<12).map { "f\($0)" }
    let scene = try Self.scene(
      "match PUT /one/* nth=1 : hold=one\nmatch PUT /all/* : hold=all\n", names: names, size: 100)
    let one = try scene.add(to: "/one/")
    _ = try scene.add(to: "/all/")
    let limit = Self.change { $0.workers = .to(1) }
    let engine = try RunningEngine(scene, workers: 8) { ledger in
      _ = try ledger.changeBatches(.batch(one.batch!), limit)
    }
    // Every request that may be sent has been sent: seven of the batch without a share.
    try scene.waitUntilHeld("one")
    try scene.waitUntilHeld("all", count: 7)
    scene.release("one", "all")
    #expect(try engine.end().done == 24)
    let attempts = try engine.ledger.read { try $0.attempts(.batch(one.batch!), after: 0, limit: 100) }
    #expect(attempts.count == 12 && attempts.allSatisfy { $0.outcome == "ok" })
    #expect(try scene.mostAtOnce("one") == 1)
    #expect(try scene.mostAtOnce("all") > 1)
  }

  @Test func aBatchWithAShareIsNeverIdleWhileItHasFiles() throws {
    let scene = try Self.scene("", names: (0..<300).map { "f\($0)" }, size: 1)
    let batch = try scene.add().batch!
    let limit = Self.change { $0.workers = .to(1) }
    let engine = try RunningEngine(scene) { ledger in _ = try ledger.changeBatches(.batch(batch), limit) }
    #expect(try engine.end().done == 300)
    let starts = try engine.ledger.read { try $0.attempts(RowFilter(), after: 0, limit: 400) }.map(\.startedMs)
    let pauses = zip(starts, starts.dropFirst()).filter { $1 - $0 > 350 }
    #expect(pauses.count <= 1, "one after each sixty-fourth file, when an empty claim is waited out")
  }

  @Test func afterTheDeadlineOfItsBatchWhatRunsIsFinishedAndNothingIsBegun() throws {
    let scene = try Self.scene("match PUT /late/* : hold=late\n", names: ["a", "b", "c"], size: 100)
    let (late, free) = (try scene.add(to: "/late/"), try scene.add(to: "/free/"))
    let engine = try RunningEngine(scene, workers: 1)
    try scene.waitUntilHeld("late")
    let passed = Self.change { $0.deadlineMs = .to(1) }
    _ = try engine.ledger.changeBatches(.batch(late.batch!), passed)
    // The engine marks the files that it will not start any more.
    try engine.ledger.wait { reader in
      try reader.files(.batch(late.batch!), after: 0, limit: 9).filter { $0.cause == "policy.deadline" }.count == 2
    }
    scene.release("late")
    let result = try engine.end()
    #expect(result.stoppedBy == .deadline && result.done == 4 && result.left == 2)
    #expect(
      try engine.states() == ["done", "pending policy.deadline", "pending policy.deadline", "done", "done", "done"])
    #expect(try engine.ledger.read { try $0.totals(.batch(free.batch!)) }.left == 0)
    let lifted = Self.change { $0.deadlineMs = .lifted }
    _ = try engine.ledger.changeBatches(.batch(late.batch!), lifted)
    #expect(try engine.states()[1] == "pending")
    #expect(try scene.run().done == 2)
    #expect(try engine.ledger.read { try $0.check() } == [])
  }

  private static func change(_ fill: (inout BatchChange) -> Void) -> BatchChange {
    var change = BatchChange()
    fill(&change)
    return change
  }
}
