import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

@testable import TransferEngine

/// A run for certain batches sends the ready files of others as well, but does not wait for those that cannot be sent
/// at the moment. Only a run that waits in vain ends because of its limit, which no other run comes near.
@Suite struct AwaitedBatchTests {
  private static let fileCount = 20
  private static let vainMs: Int64 = 180_000
  private let clock = MovableClock()

  /// A ledger with the same files for `other`, in the first batch, and for the scene's own server, in the second.
  private func scene(other: Scene) throws -> (scene: Scene, own: BatchID) {
    let scene = try Scene()
    _ = try scene.makeTree(seed: 1, count: Self.fileCount)
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: BatchSettings(destination: "\(other.url)/up/")),
      notice: { _ in })
    return (scene, try #require(try scene.add().batch))
  }

  /// - Parameter opens: after how many openings of its circuit breaker a host of an awaited batch is given up.
  private func run(_ scene: Scene, awaited: Set<BatchID>, opens: Int = 6) throws -> RunResult {
    try scene.work(with: Interposed(), workers: 4, clock: clock) { configuration in
      (configuration.awaited, configuration.maxDurationMs) = (awaited, Self.vainMs)
      configuration.breakerOpensBeforeGivingUp = opens
    }
  }

  private func requests(_ scene: Scene) throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count {
      if case .start = $0.kind { true } else { false }
    }
  }

  /// The pause of the other host is shorter than a run otherwise waits.
  @Test func aPauseOfAnotherHostIsNotAwaited() throws {
    let other = try Scene(script: "match PUT * : status=503 retry-after=120\n")
    let (scene, own) = try scene(other: other)
    let result = try run(scene, awaited: [own])
    #expect(result.stoppedBy == .notDue && result.done == Self.fileCount && result.left == Self.fileCount, "\(result)")
    #expect(try requests(scene) == Self.fileCount)
  }

  @Test func aHostThatIsGoneIsGivenUpSooner() throws {
    let other = try Scene()
    other.server.stop()
    let (scene, own) = try scene(other: other)
    let result = try run(scene, awaited: [own], opens: 1_000)
    #expect(result.stoppedBy == .unreachable && result.done == Self.fileCount, "\(result)")
    #expect(result.left == Self.fileCount)
  }

  @Test func readyFilesOfOthersAreSent() throws {
    let other = try Scene()
    let (scene, own) = try scene(other: other)
    let result = try run(scene, awaited: [own])
    #expect(result.stoppedBy == nil && result.done == 2 * Self.fileCount && result.left == 0, "\(result)")
    #expect(try requests(other) == Self.fileCount)
  }

  /// A command that finds the ledger in use relies on this run for the batch that it adds.
  @Test func aBatchThatIsAddedMeanwhileIsAwaited() throws {
    let other = try Scene(script: "match PUT * times=1 : status=503 retry-after=3\n")
    let scene = try Scene(script: "match PUT * times=1 : hold=own\n")
    _ = try scene.makeTree(seed: 1, count: Self.fileCount)
    let own = try #require(try scene.add().batch)
    let adding = scene.whenHeld("own") {
      [path = scene.storePath, root = scene.root, url = other.url, server = scene.server] in
      _ = try? TransferStore(at: path).add(
        [NameBytes("\(root)/source")], UploadOptions(settings: BatchSettings(destination: "\(url)/up/")),
        notice: { _ in })
      server.release("own")
    }
    let result = try run(scene, awaited: [own])
    adding.join()
    #expect(try requests(other) == Self.fileCount + 1)
    #expect(result.stoppedBy == nil && result.done == 2 * Self.fileCount && result.left == 0, "\(result)")
  }

  /// Its own files are awaited as before.
  @Test func aPauseOfItsOwnHostIsAwaited() throws {
    let other = try Scene(script: "match PUT * times=1 : status=503 retry-after=3\n")
    let (scene, own) = try scene(other: other)
    let result = try run(scene, awaited: [own, BatchID(rawValue: own.rawValue - 1)])
    #expect(result.stoppedBy == nil && result.done == 2 * Self.fileCount, "\(result)")
    #expect(try requests(other) == Self.fileCount + 1)
  }
}
