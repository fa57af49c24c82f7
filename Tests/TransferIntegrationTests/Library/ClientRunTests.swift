import Testing
import TransferModel

@testable import Transfers

/// Runs of the engine by a client: until nothing is left, until they are stopped, and beside others.
@Suite struct ClientRunTests {
  @Test func aRunUntilItIsStoppedSendsWhatIsAddedLater() async throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 4, count: 3)
    let (client, other) = (
      try await TransferClient.open(scene.storePath), try await TransferClient.open(scene.storePath)
    )
    let stop = StopSignal()
    async let run = client.run(until: .stopped, stop: stop)
    for place in ["/up/", "/second/"] {
      let added = try await other.add(["\(scene.root)/source"], scene.options(to: place))
      let end = try await other.wait(for: .batch(try #require(added.batch)), until: .done, timeout: .seconds(60))
      #expect(end.state.totals.count(.done) == 3, "\(end)")
    }
    stop.drain()
    #expect(try await run.done == 6, "the result counts all that was sent in between")
    try scene.expectSameBytes(files)
  }

  /// The limit is that of the call, and not of each engine that it starts.
  @Test func theLimitOfARunUntilItIsStoppedIsThatOfTheWholeCall() async throws {
    let scene = try Scene()
    func write(_ n: UInt8) throws {
      try Scene.write([UInt8](repeating: n, count: 10_000), to: NameBytes("\(scene.root)/source/f\(n)"))
    }
    try write(0)
    let (client, other) = (
      try await TransferClient.open(scene.storePath), try await TransferClient.open(scene.storePath)
    )
    let stop = StopSignal()
    var limited = RunOptions(workers: 1)
    limited.maxBytes = 15_000
    let options = limited
    async let run = client.run(until: .stopped, options, stop: stop)
    let first = try await other.add(["\(scene.root)/source"], scene.options())
    _ = try await other.wait(for: .batch(try #require(first.batch)), until: .done)
    for n: UInt8 in 1...2 { try write(n) }
    let second = try #require(try await other.add(["\(scene.root)/source"], scene.options()).batch)
    // Ends a run that sends these as well.
    let ending = Task {
      _ = try await other.wait(for: .batch(second), until: .done)
      stop.drain()
    }
    let result = try await run
    ending.cancel()
    #expect(result.stoppedBy == .limit && result.done == 1 && result.bytesTransferred == 10_000, "\(result)")
    #expect(try scene.commits().count == 1)
  }

  @Test func cancellingTheTaskOfARunFinishesWhatIsSentAndStops() async throws {
    let scene = try Scene(script: "match PUT * nth=2 : late-hold=second\n")
    _ = try scene.makeTree(seed: 5, count: 30)
    let client = try await TransferClient.open(scene.storePath)
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    let figures = client.engineProgress()
    let run = Task { try await client.run(until: .stopped, RunOptions(workers: 1)) }
    for await snapshot in figures where snapshot.filesDone > 0 { break }
    try await scene.held("second")
    run.cancel()
    scene.release("second")
    let result = try await run.value
    #expect(result.stoppedBy == .drained)
    #expect(result.done == 2 && result.left == 28 && result.failed == 0, "\(result)")
    #expect(try await client.status().totals.count(.done) == result.done)
  }

  @Test func oneEngineAtATime() async throws {
    let scene = try Scene(script: "match PUT * : hold=put\n")
    _ = try scene.makeTree(seed: 6, count: 10)
    let (client, other) = (
      try await TransferClient.open(scene.storePath), try await TransferClient.open(scene.storePath)
    )
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    let stop = StopSignal()
    async let run = client.run(RunOptions(workers: 1), stop: stop)
    try await scene.held("put")
    #expect(try await other.status().engine.isAlive)
    await #expect { _ = try await other.run() } throws: { ($0 as? TransferError)?.kind == .locked }
    stop.drain()
    scene.release("put")
    #expect(try await run.failed == 0)
  }

  @Test func aWatcherThatIsCancelledEndsOnlyItself() async throws {
    let scene = try Scene(script: "match PUT * : late-hold=put\n")
    let files = try scene.makeTree(seed: 7, count: 8)
    let client = try await TransferClient.open(scene.storePath)
    let batch = try #require(try await client.add(["\(scene.root)/source"], scene.options()).batch)
    let watching = Task { () -> Int in
      var states = 0
      for try await _ in client.progress(of: .batch(batch)) { states += 1 }
      return states
    }
    let following = Task { () -> Int in
      var events = 0
      for try await _ in client.events(after: .beginning) { events += 1 }
      return events
    }
    let waiting = Task { try await client.wait(for: .batch(batch)) }
    async let run = client.run()
    try await scene.held("put")
    for task in [watching, following] { task.cancel() }
    waiting.cancel()
    _ = (try await watching.value, try await following.value, try await waiting.value)
    scene.release("put")
    #expect(try await run.done == files.count)
    try scene.expectSameBytes(files)
  }

  /// Blocking calls do not hold a thread of Swift's tasks: any number of them can block at the same time.
  @Test func callsThatBlockHaveThreadsOfTheirOwn() async throws {
    let pool = BlockingPool()
    let (count, arrived) = (32, Lock(0))
    let doors = (0..<count).map { _ in Mailbox<Void>() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for door in doors {
        group.addTask {
          try await pool.run {
            let isLast = arrived.withLock { arrived in
              arrived += 1
              return arrived == count
            }
            if isLast { for door in doors { door.put(()) } }
            _ = door.take()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(arrived.withLock(\.self) == count)
  }
}
