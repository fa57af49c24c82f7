import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

/// What a run reports while it works, with a real server and a real ledger.
@Suite struct ProgressTests {
  /// Collects what was reported, in order.
  private final class Log: Sendable {
    let snapshots = Lock<[ProgressSnapshot]>([])
    let notices = Lock<[Notice]>([])

    func add(_ snapshot: ProgressSnapshot) { snapshots.withLock { $0.append(snapshot) } }
    func add(_ notice: Notice) { notices.withLock { $0.append(notice) } }
    var all: [ProgressSnapshot] { snapshots.withLock { $0 } }
  }

  private func run(_ scene: Scene, rate: Int64? = nil, _ log: Log, onSnapshot: @escaping @Sendable () -> Void = {})
    throws(TransferError) -> RunResult
  {
    try TransferStore(at: scene.storePath).run(
      RunOptions(rate: rate, progressEveryMs: 10, argv: ["test"]),
      progress: {
        log.add($0)
        onSnapshot()
      }, notice: { log.add($0) }, stop: StopSignal())
  }

  private func add(_ scene: Scene) throws(TransferError) -> AddResult { try Self.add("", scene.root, scene.url) }

  private static func add(_ name: String, _ root: String, _ url: String) throws(TransferError) -> AddResult {
    try TransferStore(at: "\(root)/ledger.db").add(
      [NameBytes("\(root)/source").appending(NameBytes(name))],
      UploadOptions(settings: BatchSettings(destination: "\(url)/up/")),
      notice: { _ in })
  }

  @Test func everyFileInWorkHasALineAndTheTotalEndsAtTheWhole() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 3, count: 6)
    _ = try add(scene)
    let log = Log()
    let result = try run(scene, rate: 500_000, log)
    let bytes = Int64(files.values.reduce(0) { $0 + $1.count })
    #expect(result.done == 6)
    let last = try #require(log.all.last)
    #expect((last.filesTotal, last.filesDone, last.bytesTotal, last.bytesAcked) == (6, 6, bytes, bytes))
    #expect(last.bytesInFlight == 0 && last.active == 0 && last.rateLimit == 500_000)
    #expect(
      log.all.contains { $0.bytesInFlight > 0 && $0.files.contains { $0.bytesInFlight > 0 && $0.phase == .sending } })
    for (before, after) in zip(log.all, log.all.dropFirst()) { #expect(after.bytesAcked >= before.bytesAcked) }
  }

  @Test func aRetryCountsDownAndAFailureIsShown() throws {
    let scene = try Scene(
      script: "match PUT */f1 times=1 : status=503 retry-after=1\nmatch PUT */f2 : status=413\n")
    _ = try scene.makeTree(seed: 4, count: 4)
    _ = try add(scene)
    let log = Log()
    let result = try run(scene, log)
    #expect((result.done, result.failed) == (3, 1))
    let phases = log.all.flatMap(\.files).map(\.phase)
    #expect(phases.contains { if case .retrying(1...1_500, .http503, 2, 8) = $0 { true } else { false } })
    #expect(phases.contains(.failed(.http413)))
    #expect(log.all.contains { $0.retrying == 1 })
    #expect(log.all.last?.bytesGivenUp == 4_095)
  }

  @Test func filesThatAreAddedMeanwhileEnlargeTheTotal() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 5, count: 12)
    let (root, url) = (scene.root, scene.url)
    _ = try Self.add("f4", root, url)
    let log = Log()
    let adder = Lock<WorkerThread?>(nil)
    let result = try run(scene, rate: 60_000, log) {
      adder.withLock { adder in
        guard adder == nil else { return }
        adder = WorkerThread { _ = try? Self.add("", root, url) }
      }
    }
    adder.withLock { $0 }?.join()
    #expect(log.all.first?.filesTotal == 1)
    let last = try #require(log.all.last)
    #expect((last.filesTotal, last.filesDone, result.done) == (12, 12, 12))
    #expect(last.bytesAcked == last.bytesTotal)
  }

  @Test func filesThatArePausedMeanwhileLeaveTheTotal() throws {
    let scene = try Scene(script: "match PUT * : hold=put\n")
    _ = try scene.makeTree(seed: 5, count: 6)
    _ = try add(scene)
    let engine = try RunningEngine(scene, workers: 1)
    try scene.waitUntilHeld("put")
    let first = try engine.wait { $0.sending == 1 }
    #expect(first.filesTotal == 6)
    _ = try engine.control(.pause(now: false))
    try engine.wait { $0.filesTotal == 1 && $0.bytesTotal < first.bytesTotal }
    scene.release("put")
    #expect(try engine.end().paused == 5)
  }

  @Test func nobodyWhoListensCostsNothing() throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 3, count: 6)
    _ = try add(scene)
    let result = try TransferStore(at: scene.storePath).run(
      RunOptions(argv: ["test"]), progress: nil, notice: { _ in },
      stop: StopSignal())
    #expect(result.done == files.count)
  }

  @Test func aHostThatTakesNoConnectionsIsToldOnce() throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 3, count: 12)
    _ = try add(scene)
    scene.server.stop()
    let log = Log()
    let stop = StopSignal()
    let result = try TransferStore(at: scene.storePath).run(
      RunOptions(argv: ["test"]), progress: nil,
      notice: { notice in
        log.add(notice)
        if case .circuitOpened = notice { stop.drain() }
      }, stop: stop)
    #expect(result.done == 0)
    let opened = log.notices.withLock {
      $0.filter { if case .circuitOpened(_, 0...1_000) = $0 { true } else { false } }
    }
    #expect(opened.count == 1)
  }
}
