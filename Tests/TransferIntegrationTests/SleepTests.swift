import Receiver
import Testing
import TransferEngine
import TransferLedger
import TransferModel
import TransferReports

@testable import Transfers

/// The machine sleeps for a night in the middle of a run: the boot clock advances, the awake clock does not.
@Suite struct SleepTests {
  private static let nightMs: Int64 = 8 * 3_600_000

  /// One attempt: operation, outcome and error, and whether it waited afterwards.
  private func attempts(_ scene: ConformanceScene) throws -> [String] {
    try scene.look { try $0.attempts(RowFilter(), after: 0, limit: 100) }.map { row in
      [row.operation, row.outcome, row.errorCode, row.backoffMs.map { _ in "backoff" }].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  /// The machine sleeps while a request has no answer. Returns when the run has ended.
  private func run(_ scene: ConformanceScene, sleepingAt hold: String) throws -> RunResult {
    scene.maxDurationMs = 60_000
    try scene.add()
    let clock = scene.clock
    let night = scene.scene.whenHeld(hold) { clock.sleep(ms: Self.nightMs) }
    defer { night.join() }
    let result = try scene.run()
    scene.scene.release(hold)
    return result
  }

  /// The file is being sent when the machine falls asleep. Its first failure that counts would be the last.
  @Test(arguments: ["put", "dav", "tus", "resumable"])
  func aRequestThatSleptIsSentAgainAtOnceAndNotCounted(_ name: String) throws {
    let subject = try ConformanceSubject.named(name)
    let scene = try ConformanceScene(
      subject, size: 2 * subject.chunkSize,
      script: "match \(subject.dataMethod) \(subject.dataPath) nth=1 : late-hold=night\n")
    (scene.maxAttempts, scene.backoffMs, scene.workers) = (1, 1_000_000_000, 1)
    let result = try run(scene, sleepingAt: "night")
    #expect(result.done == 1 && result.stoppedBy == nil, "\(result)")
    #expect(try scene.states() == ["done"])
    let all = try attempts(scene)
    #expect(all.filter { $0.contains("engine.") || $0.contains("net.") || $0.contains("backoff") }.count == 1, "\(all)")
    #expect(all.contains { $0.hasSuffix("interrupted engine.slept") }, "\(all)")
    #expect(try scene.requestCount == all.count)
    // Over a new connection.
    let record = try scene.record()
    let slept = try #require(record.first { if case .fault = $0.kind { true } else { false } })
    let last = try #require(record.last { if case .start = $0.kind { true } else { false } })
    #expect(last.request != slept.request && last.connection != slept.connection)
  }

  /// The time asleep is nobody's fault: it is `down`.
  @Test func whyCountsTheNightAsDown() throws {
    let scene = try ConformanceScene(
      ConformanceSubject.named("put"), size: 100_000, script: "match PUT * times=1 : late-hold=night\n")
    _ = try run(scene, sleepingAt: "night")
    let found = try #require(
      try scene.look { try StoreReader(reader: $0, path: "").why(.file(FileID(rawValue: 1)), scene.clock) })
    // The clocks are not read at the same instant.
    #expect(abs(found.result.parts[.down] - Self.nightMs) < 1_000, "\(found.result.parts)")
    #expect(found.result.parts.totalMs == found.wallMs)
  }

  /// A POST must not be repeated: its answer is awaited, and arrives.
  @Test func aRequestThatMustNotBeRepeatedIsAwaited() throws {
    let scene = try ConformanceScene(
      ConformanceSubject.named("post"), size: 1_000, script: "match POST * times=1 : late-hold=night\n")
    scene.maxDurationMs = 60_000
    try scene.add()
    let clock = scene.clock
    let night = try scene.meanwhile { ledger, server in
      _ = try? server.waitUntilHeld("night", count: 1, timeoutMs: Scene.patienceMs)
      clock.sleep(ms: Self.nightMs)
      try? ledger.wait { try $0.events(RowFilter(), after: 0, limit: 100).contains { $0.verb == MachineSleep.verb } }
      server.release("night")
    }
    defer { night.join() }
    #expect(try scene.run().done == 1)
    #expect(try scene.requestCount == 1)
    #expect(try scene.states() == ["done"])
  }

  /// The server is still renaming the file when the machine wakes up: a second MOVE beside the first would remove it.
  @Test func aFinishingStepIsAwaited() throws {
    let subject = try ConformanceSubject.named("davpatch")
    let scene = try ConformanceScene(subject, size: subject.chunkSize, script: "match MOVE * times=1 : hold=move\n")
    scene.maxDurationMs = 60_000
    try scene.add()
    let clock = scene.clock
    let nap = try scene.meanwhile { ledger, server in
      _ = try? server.waitUntilHeld("move", count: 1, timeoutMs: Scene.patienceMs)
      clock.sleep(ms: 60_000)
      try? ledger.wait { try $0.events(RowFilter(), after: 0, limit: 100).contains { $0.verb == MachineSleep.verb } }
      server.release("move")
    }
    defer { nap.join() }
    #expect(try scene.run().done == 1)
    let moves = try scene.record().count { if case .start("MOVE", _) = $0.kind { true } else { false } }
    #expect(moves == 1)
    let all = try attempts(scene)
    #expect(!all.contains { $0.hasSuffix("engine.slept") }, "\(all)")
    #expect(try scene.states() == ["done"])
    let complaint = try scene.complaint()
    #expect(complaint == nil)
  }

  /// The session of a file that failed is being removed from its server when the machine falls asleep.
  @Test func anAbortThatSleptIsRepeatedAtOnce() throws {
    let subject = try ConformanceSubject.named("tus")
    let scene = try ConformanceScene(
      subject, size: subject.chunkSize,
      script: "match PATCH * : status=403\nmatch DELETE * nth=1 : hold=night\n")
    let result = try run(scene, sleepingAt: "night")
    #expect(result.failed == 1 && result.stoppedBy == nil, "\(result)")
    let all = try attempts(scene).filter { $0.hasPrefix("abort") }
    #expect(all == ["abort interrupted engine.slept", "abort ok"])
    try expectTwo("DELETE", scene)
  }

  /// The server received the request twice, over different connections.
  private func expectTwo(_ method: String, _ scene: ConformanceScene) throws {
    let starts = try scene.record().filter { event in
      if case .start(method, _) = event.kind { true } else { false }
    }
    #expect(starts.count == 2 && Set(starts.map(\.connection)).count == 2, "\(starts)")
  }

  /// `prove --remote` asks about a file.
  private func ask(_ scene: ConformanceScene, maxAttempts: Int) throws -> [QuestionEnd] {
    try scene.withLedger { ledger in
      let run = try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
      var configuration = EngineConfiguration(workers: 1)
      configuration.retry = RetryPolicy(
        baseMs: 200_000_000, throttleBaseMs: 1, capMs: 1_000_000_000, maxAttempts: maxAttempts)
      let resolver = CurlDestinations()
      defer { resolver.stop() }
      let engine = Engine(
        ledger: ledger, run: run, resolver: resolver, clock: scene.clock, configuration: configuration,
        observer: EngineObserver(progress: nil, notice: { _ in }))
      var ends: [QuestionEnd] = []
      let left = try engine.ask(RowFilter(), until: StopSignal()) { ends.append($1) }
      #expect(left == 0)
      return ends
    }
  }

  private func isProven(_ ends: [QuestionEnd]) -> Bool {
    guard case .found(let finding)? = ends.first, ends.count == 1 else { return false }
    return finding.outcome == .found
  }

  /// The first failure that counts would be the last.
  @Test func aQueryThatSleptIsRepeatedAtOnceAndNotCounted() throws {
    let scene = try ConformanceScene(
      ConformanceSubject.named("put"), size: 1_000, script: "match HEAD * nth=1 : hold=night\n")
    try scene.add()
    #expect(try scene.run().done == 1)
    let clock = scene.clock
    let night = scene.scene.whenHeld("night") { clock.sleep(ms: Self.nightMs) }
    defer { night.join() }
    let ends = try ask(scene, maxAttempts: 1)
    scene.scene.release("night")
    #expect(isProven(ends), "\(ends)")
    let all = try attempts(scene).filter { $0.hasPrefix("verify") }
    #expect(all == ["verify interrupted engine.slept", "verify ok"])
    try expectTwo("HEAD", scene)
    let events = try scene.look { try $0.events(RowFilter(), after: 0, limit: 100) }
    #expect(events.count { $0.verb == MachineSleep.verb } == 1)
  }

  /// A failure of the network has made the file wait for hours or days.
  @Test func backoffsOfTheNetworkAreDue() throws {
    let scene = try ConformanceScene(
      ConformanceSubject.named("put"), size: 1_000, script: "match PUT * times=1 : reset-after=0\n")
    (scene.backoffMs, scene.patienceMs, scene.maxDurationMs) = (200_000_000, .max / 4, 120_000)
    try scene.add()
    let clock = scene.clock
    let night = try scene.meanwhile { ledger, _ in
      try? ledger.wait { reader in
        let file = try reader.files(RowFilter(), after: 0, limit: 1).first
        return file?.state == "pending" && file?.attempts == 1
      }
      clock.sleep(ms: 60_000)
    }
    defer { night.join() }
    let result = try scene.run()
    #expect(result.done == 1 && result.stoppedBy == nil, "\(result)")
    #expect(clock.offsetMs == 60_000)
    #expect(try scene.requestCount == 2)
  }
}
