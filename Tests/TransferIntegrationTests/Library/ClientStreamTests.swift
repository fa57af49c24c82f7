import Testing
import TransferModel

@testable import Transfers

/// Progress is the newest value; events are lossless.
@Suite struct ClientStreamTests {
  /// Two clients read the same history while it is made; a third continues where one of them was.
  @Test(.timeLimit(.minutes(1))) func eventsAreToldOnceToEveryReader() async throws {
    let scene = try Scene(script: "match PUT * nth=3 : status=503 times=2\n")
    let files = try scene.makeTree(seed: 8, count: 40)
    let sender = try await TransferClient.open(scene.storePath)
    let readers = [try await TransferClient.open(scene.storePath), try await TransferClient.open(scene.storePath)]
    let told = readers.map { _ in AsyncStream<TransferEvent>.makeStream() }
    let reading = zip(readers, told).map { reader, told in
      Task {
        for try await event in reader.events(after: .beginning) { told.continuation.yield(event) }
      }
    }
    let added = try await sender.add(["\(scene.root)/source"], scene.options())
    #expect(try await sender.run().done == files.count)
    try await sender.pause(.batch(try #require(added.batch)))
    let all = try await history(sender).map(\.name)
    #expect(all.count > files.count && Set(all).count == all.count)
    var heard: [TransferEvent] = []
    for told in told {
      heard = await told.stream.prefix(all.count).reduce(into: []) { $0.append($1) }
      #expect(heard.map(\.name).sorted() == all.sorted(), "each event once")
    }
    for task in reading { task.cancel() }

    let (earlier, middle) = (heard.prefix(heard.count / 2).map(\.name), heard[heard.count / 2 - 1].cursor)
    let later = try await history(try await TransferClient.open(scene.storePath), after: middle).map(\.name)
    #expect((earlier + later).sorted() == all.sorted(), "nothing twice, nothing lost")
  }

  private func history(
    _ client: TransferClient, after cursor: EventCursor = .beginning
  ) async throws -> [TransferEvent] {
    var all: [TransferEvent] = []
    while case let page = try await client.recordedEvents(after: all.last?.cursor ?? cursor), !page.isEmpty {
      all += page
    }
    return all
  }

  @Test func withoutACursorOnlyWhatComesIsTold() async throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 9, count: 2)
    let client = try await TransferClient.open(scene.storePath)
    let batch = try #require(try await client.add(["\(scene.root)/source"], scene.options()).batch)
    let cursor = try await client.newestCursor()
    #expect(try await client.recordedEvents(after: cursor).isEmpty)
    let told = Lock<[TransferEvent]>([])
    let reading = Task {
      for try await event in client.events() { told.withLock { $0.append(event) } }
    }
    // Events before the reader's first read are not reported to it, and nothing signals that read.
    for turn in 0..<100_000 where told.withLock(\.isEmpty) {
      if turn.isMultiple(of: 2) {
        try await client.pause(.batch(batch))
      } else {
        try await client.resume(.batch(batch))
      }
    }
    reading.cancel()
    let verbs = try told.withLock(\.self).map { event in
      guard case .event(let row) = event.recorded else { throw Scene.Broken(what: "\(event)") }
      return row.verb
    }
    #expect(!verbs.isEmpty && Set(verbs).isSubset(of: ["paused", "resumed"]), "\(verbs)")
    guard case .event(let first)? = try await client.recordedEvents(after: cursor).first?.recorded else {
      throw Scene.Broken(what: "no event")
    }
    #expect(first.verb == "paused" && first.files == 2)
  }

  @Test func aSequenceOutlivesItsClient() async throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 9, count: 2)
    var client: TransferClient? = try await TransferClient.open(scene.storePath)
    _ = try await client?.add(["\(scene.root)/source"], scene.options())
    let events = try #require(client).events(after: .beginning)
    client = nil
    let other = try await TransferClient.open(scene.storePath)
    #expect(try await other.run().done == 2)
    let told = try await events.prefix(3).reduce(into: []) { $0.append($1.name) }
    #expect(told == ["e1", "a1", "a2"])
  }

  @Test func progressIsReadWhenItIsAskedForAndEndsSettled() async throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 10, count: 6)
    let client = try await TransferClient.open(scene.storePath)
    let batch = try #require(try await client.add(["\(scene.root)/source"], scene.options()).batch)
    var states = client.progress(of: .batch(batch)).makeAsyncIterator()
    let begun = try #require(try await states.next())
    #expect(begun.totals.left == files.count && !begun.isSettled && begun.fraction == 0)
    _ = try await client.run()
    let end = try #require(try await states.next(), "a reader that was away gets the newest state, not those between")
    #expect(end.isSettled && end.totals.count(.done) == files.count && end.fraction == 1)
    #expect(try await states.next() == nil)
  }

  @Test func aSlowReaderOfFiguresGetsTheNewest() async throws {
    let latest = LatestProgress()
    var figures = latest.stream().makeAsyncIterator()
    for n in 1...1_000 {
      var snapshot = ProgressSnapshot()
      snapshot.filesDone = n
      latest.tell(snapshot)
    }
    #expect(await figures.next()?.filesDone == 1_000, "nothing has piled up")
    var late = latest.stream().makeAsyncIterator()
    #expect(await late.next()?.filesDone == 1_000, "a later reader begins with the newest")
    latest.forget()
    let nobody = latest.stream()
    latest.tell(ProgressSnapshot())
    var iterator = nobody.makeAsyncIterator()
    #expect(await iterator.next()?.filesDone == 0, "figures of a run that is over are forgotten")
  }

  @Test func theFiguresOfTheEngineEndWithTheClient() async throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 11, count: 5)
    var client: TransferClient? = try await TransferClient.open(scene.storePath)
    var figures = try #require(client).engineProgress().makeAsyncIterator()
    _ = try await client?.add(["\(scene.root)/source"], scene.options())
    _ = try await client?.run()
    client = nil
    #expect(await figures.next()?.filesDone == files.count)
    #expect(await figures.next() == nil)
  }
}

extension TransferEvent {
  /// `e3`, `a17`: the other fields of an attempt describe the present state of its file.
  fileprivate var name: String {
    switch recorded {
    case .event(let event): "e\(event.id)"
    case .attempt(let followed): "\(followed.attempt.id)"
    }
  }
}
