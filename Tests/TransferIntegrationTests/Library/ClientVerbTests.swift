import Receiver
import Testing
import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// How programs use a store through `TransferClient`. Each method is durable when it returns: a second client sees its
/// effect at once.
@Suite struct ClientVerbTests {
  private func clients(_ scene: Scene) async throws -> (TransferClient, other: TransferClient) {
    (try await TransferClient.open(scene.storePath), try await TransferClient.open(scene.storePath))
  }

  private func states(_ client: TransferClient) async throws -> [String] {
    try await client.files().map(\.state)
  }

  @Test func everyVerbIsSeenByOthersWhenItReturns() async throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 1, count: 3)
    let (client, other) = try await clients(scene)
    let plan = try await client.plan(["\(scene.root)/source"], scene.options())
    #expect(plan.counts.added == 3)
    #expect(try await other.files().isEmpty, "a plan records nothing")
    let added = try await client.add(["\(scene.root)/source"], scene.options())
    let batch = try #require(added.batch)
    #expect(try await states(other) == ["pending", "pending", "pending"])

    let all = RowFilter.batch(batch)
    let ids = try await client.files(all).map(\.id)
    #expect(try await client.outcome(of: .pause(now: false), all).changed == ids)
    #expect(try await states(other) == ["pending", "pending", "pending"], "reading changes nothing")
    #expect(try await client.pause(all).changed == ids)
    #expect(try await states(other) == ["paused", "paused", "paused"])
    try await client.resume(.files([ids[0]]))
    #expect(try await states(other) == ["pending", "paused", "paused"])
    try await client.cancel(.files([ids[1]]))
    #expect(try await states(other) == ["pending", "cancelled", "paused"])
    try await client.retry(.files([ids[1]]))
    try await client.remove(.files([ids[2]]))
    #expect(try await states(other) == ["pending", "pending", "cancelled"])

    var change = BatchChange()
    (change.priority, change.rate, change.labels) = (5, .to(1 << 20), ["lane": "slow"])
    #expect(try await client.set(all, change).changed == [batch])
    let row = try #require(try await other.batches().first)
    #expect((row.priority, row.limits.rate, row.labels) == (5, 1 << 20, ["lane": "slow"]))
  }

  @Test(arguments: [["name"], ["job"]]) func noNameIsEmpty(_ empty: [String]) async throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 3, count: 1)
    mkdir("\(scene.root)/in", 0o700)
    let client = try await TransferClient.open(scene.storePath)
    var upload = scene.options()
    var download = DownloadOptions(urls: [scene.url + "/up/a"], folder: NameBytes("\(scene.root)/in"))
    if empty == ["name"] { (upload.name, download.name) = ("", "") } else { (upload.job, download.job) = ("", "") }
    let first = await error { [upload] in try await client.add(["\(scene.root)/source"], upload) }
    let second = await error { [download] in try await client.add(download) }
    #expect(first?.kind == .usage && second?.kind == .usage, "\(String(describing: first))")
    #expect(try await client.batches().isEmpty)
  }

  private func error(_ body: () async throws -> AddResult) async -> TransferError? {
    do {
      _ = try await body()
      return nil
    } catch { return error as? TransferError }
  }

  @Test func whatIsDoneCanBeTidiedAwayAndReported() async throws {
    let scene = try Scene()
    let files = try scene.makeTree(seed: 2, count: 4)
    let (client, other) = try await clients(scene)
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    let result = try await client.run()
    #expect(result.done == 4 && result.stoppedBy == nil)
    try scene.expectSameBytes(files)
    let waited = try await other.wait(for: RowFilter(), until: .done, timeout: .seconds(60))
    #expect(waited.state.totals.count(.done) == 4 && !waited.isTimeout)
    #expect(try await client.clean(RowFilter()).changed.count == 4)
    #expect(try await other.status().engine.isAlive == false)
    #expect(try await other.summary().totals.files == 4, "reports include hidden files")
    #expect(try await other.check().isSound)
    for file in try await other.files() { #expect(try await other.receipt(of: file.id)?.confirmation != nil) }
  }

  @Test func pagesHoldEachRowOnce() async throws {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 3, count: 7)
    let (client, _) = try await clients(scene)
    _ = try await client.add(["\(scene.root)/source"], scene.options())
    _ = try await client.run()
    var (files, attempts): ([FileID], [AttemptID]) = ([], [])
    while case let page = try await client.files(after: files.last, limit: 3), !page.isEmpty { files += page.map(\.id) }
    while case let page = try await client.attempts(after: attempts.last, limit: 3), !page.isEmpty {
      attempts += page.map(\.id)
    }
    #expect(files.count == 7 && Set(files).count == 7)
    #expect(attempts.count >= 7 && Set(attempts).count == attempts.count)
  }

  @Test func errorsHaveStableNames() async throws {
    let scene = try Scene()
    await #expect { _ = try await TransferClient.open("\(scene.root)/none.db", mayCreate: false) } throws: {
      ($0 as? TransferError)?.kind.rawValue == "store.missing"
    }
    let (client, _) = try await clients(scene)
    await #expect { _ = try await client.add(["\(scene.root)/nowhere"], scene.options()) } throws: {
      ($0 as? TransferError)?.kind.rawValue == "no_source"
    }
    let nowhere = UploadOptions(settings: BatchSettings(destination: "gopher://host/"))
    await #expect { _ = try await client.add(["\(scene.root)/source"], nowhere) } throws: {
      ($0 as? TransferError)?.kind.rawValue == "usage"
    }
  }
}

extension Scene {
  /// Returns when a request is held under this name, without holding a thread of Swift's tasks.
  func held(_ name: String) async throws {
    let isHeld = await withCheckedContinuation { waiting in
      WorkerThread { [server] in
        waiting.resume(returning: (try? server.waitUntilHeld(name, timeoutMs: Self.patienceMs)) == true)
      }.detach()
    }
    guard isHeld else { throw Broken(what: "no request is held as \(name)") }
  }

  func options(to place: String = "/up/") -> UploadOptions {
    UploadOptions(settings: BatchSettings(destination: "\(url)\(place)"))
  }
}
