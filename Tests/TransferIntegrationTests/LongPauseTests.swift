import Receiver
import Testing
import TransferLedger
import TransferModel
import Transfers

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// A host asks for a pause that is longer than a run waits, while more of its files are ready than one claim takes.
/// Only a run that waits in vain ends because of its limit, which no other run comes near.
@Suite struct LongPauseTests {
  private static let fileCount = 300
  private static let vainMs: Int64 = 180_000
  private let clock = MovableClock()

  /// A server that answers its first request with a pause of an hour, and a ledger with files for it.
  private func pausing() throws -> Scene {
    let scene = try Scene(script: "match PUT * times=1 : status=503 retry-after=3600\n")
    _ = try scene.makeTree(seed: 1, count: Self.fileCount)
    #expect(try scene.add().counts.added == Self.fileCount)
    return scene
  }

  private func run(_ scene: Scene, limitMs: Int64? = vainMs) throws -> RunResult {
    try scene.work(with: Interposed(), workers: 1, clock: clock) { configuration in
      configuration.maxDurationMs = limitMs
      configuration.breakerOpensBeforeGivingUp = 1
    }
  }

  private func requests(_ scene: Scene) throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count {
      if case .start = $0.kind { true } else { false }
    }
  }

  @Test func noRunSendsARequestBeforeThePauseIsOver() throws {
    let scene = try pausing()
    let first = try run(scene)
    #expect(first.stoppedBy == .notDue && first.left == Self.fileCount, "\(first)")
    #expect(try requests(scene) == 1)

    clock.advance(ms: 45 * 60_000)
    let second = try run(scene)
    #expect(second.stoppedBy == .notDue && second.left == Self.fileCount, "\(second)")
    #expect(try requests(scene) == 1)

    clock.advance(ms: 60 * 60_000)
    let third = try run(scene, limitMs: nil)
    #expect(third.stoppedBy == nil && third.done == Self.fileCount, "\(third)")
    #expect(try requests(scene) == 1 + Self.fileCount)
  }

  @Test func theFilesOfAnotherHostAreSent() throws {
    let (scene, other) = (try pausing(), try Scene())
    let settings = BatchSettings(destination: "\(other.url)/up/")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    let result = try run(scene)
    #expect(result.stoppedBy == .notDue && result.done == Self.fileCount && result.left == Self.fileCount, "\(result)")
    #expect(try requests(scene) == 1)
    #expect(try requests(other) == Self.fileCount)
  }

  /// Ready files of a paused host do not keep a run waiting for a host that accepts no connections. The run ends
  /// because of the latter, and the next run sends no request to the paused host before the pause is over.
  @Test func aHostThatIsGoneIsGivenUp() throws {
    let (scene, gone) = (try pausing(), try Scene())
    gone.server.stop()
    let settings = BatchSettings(destination: "\(gone.url)/up/")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    let result = try run(scene)
    #expect(result.stoppedBy == .unreachable && result.left == 2 * Self.fileCount, "\(result)")
    #expect(try requests(scene) == 1)

    let second = try run(scene)
    #expect(second.left == 2 * Self.fileCount, "\(second)")
    #expect(try requests(scene) == 1)
  }

  /// `--max-bytes` leaves the long files of the host that pauses to the next run, which sends it no request either. The
  /// files of the other host are reported although the run ends because of the pause.
  @Test func filesThatALimitLeavesOutWaitForTheEndOfThePauseAsWell() throws {
    let (scene, other) = (try Scene(script: "match PUT * times=1 : status=503 retry-after=3600\n"), try Scene())
    for (name, size) in [("short", 100), ("long", 30_000)] {
      try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes("\(scene.root)/source/\(name)"))
    }
    #expect(try scene.add().counts.added == 2)
    let settings = BatchSettings(destination: "\(other.url)/up/")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    let told = Lock<[Notice]>([])
    let first = try scene.work(with: Interposed(), clock: clock, told: told) { configuration in
      (configuration.maxBytes, configuration.maxDurationMs) = (20_000, Self.vainMs)
    }
    #expect(first.stoppedBy == .notDue && first.done == 1 && first.left == 3, "\(first)")
    let tooLong = told.withLock { $0.count { if case .tooLong = $0 { true } else { false } } }
    #expect(tooLong == 1)

    let second = try run(scene)
    #expect(second.stoppedBy == .notDue && second.left == 2, "\(second)")
    #expect(try requests(scene) == 1 && requests(other) == 2)
  }

  /// Files of batches that were not begun, and of one that the run cannot send, wait for the end of the pause as well.
  @Test func batchesThatWereNotBegunWaitForTheEndOfThePauseAsWell() throws {
    let scene = try Scene(script: "match PUT * times=1 : status=503 retry-after=3600\n")
    try Scene.write([7], to: NameBytes("\(scene.root)/source/file"))
    let count = HostShares.lookLimit + 6
    for n in 0..<count {
      var settings = BatchSettings(destination: "\(scene.url)/up\(n)/")
      if n == 3 { settings.auth = "bearer=file:\(scene.root)/no-token" }
      let added = try TransferStore(at: scene.storePath).add(
        [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
      #expect(added.counts.added == 1)
    }
    let first = try run(scene)
    #expect(first.done == 0 && first.left == count, "\(first)")
    try Scene.write(Array("token".utf8), to: NameBytes("\(scene.root)/no-token"))
    let second = try run(scene)
    #expect(second.stoppedBy == .notDue && second.left == count, "\(second)")
    #expect(try requests(scene) == 1)
    clock.advance(ms: 70 * 60_000)
    #expect(try run(scene, limitMs: nil).done == count)
  }

  /// A run that its limit ends has not looked at all batches of the host. The next run sends nothing either. The limit
  /// is reached in the turn that sends the first request; the others are added just before, and the run looks, and
  /// claims, only once more.
  @Test func batchesThatTheRunHasNotLookedAtWaitForTheEndOfThePauseAsWell() throws {
    let scene = try Scene(script: "match PUT * times=1 : status=503 retry-after=3600\n")
    try Scene.write([7], to: NameBytes("\(scene.root)/source/file"))
    let (count, clock, path) = (2 * HostShares.lookLimit + 6, clock, scene.storePath)
    let (source, url) = (NameBytes("\(scene.root)/source"), scene.url)
    let add = { @Sendable (n: Int) in
      let options = UploadOptions(settings: BatchSettings(destination: "\(url)/up\(n)/"))
      _ = try TransferStore(at: path).add([source], options, notice: { _ in })
    }
    try add(0)
    let addRest = Interposed(beforeStart: {
      for n in 1..<count { #expect(throws: Never.self) { try add(n) } }
      clock.advance(ms: Self.vainMs)
    })
    let first = try scene.work(with: addRest, workers: 1, clock: clock) { $0.maxDurationMs = Self.vainMs }
    #expect(first.stoppedBy == .limit && first.done == 0 && first.left == count, "\(first)")
    let second = try run(scene)
    #expect(second.stoppedBy == .notDue && second.left == count, "\(second)")
    #expect(try requests(scene) == 1)
  }

  /// The requests that were running when the host asked for the pause get no connection: the circuit breaker opens, and
  /// the pause applies nevertheless.
  @Test func thePauseOfAHostThatThenRefusesConnections() throws {
    let scene = try pausing()
    let first = try scene.work(with: OneOfSixArrives(), workers: OneOfSixArrives.count, clock: clock) { configuration in
      configuration.maxDurationMs = Self.vainMs
    }
    #expect(first.stoppedBy == .notDue && first.left == Self.fileCount, "\(first)")
    let second = try run(scene)
    #expect(second.stoppedBy == .notDue && second.left == Self.fileCount, "\(second)")
    #expect(try requests(scene) == 1)
  }
}

/// Holds the first six requests until all of them have begun. The first is sent then, and when its answer has arrived,
/// the others get no connection. Later requests are sent as usual.
private final class OneOfSixArrives: DestinationResolver {
  static let count = 6
  private let inner = Interposed()

  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination {
    var resolved = try inner.resolve(settings)
    resolved.transport = Gathering(inner: resolved.transport)
    return resolved
  }

  private struct Held: Sendable {
    let id: ExchangeID
    let request: TransferRequest
    let onReply: @Sendable (TransferReply) -> Void
  }

  private final class Gathering: Transport {
    private let inner: any Transport
    private let held = Lock<[Held]>([])

    init(inner: any Transport) { self.inner = inner }

    func start(_ id: ExchangeID, _ request: TransferRequest, onReply: @escaping @Sendable (TransferReply) -> Void) {
      let new = Held(id: id, request: request, onReply: onReply)
      let begun = held.withLock { held -> [Held] in
        guard held.count < OneOfSixArrives.count else { return [new] }
        held.append(new)
        return held.count == OneOfSixArrives.count ? held : []
      }
      guard let first = begun.first else { return }
      inner.start(first.id, first.request) { reply in
        first.onReply(reply)
        for other in begun.dropFirst() {
          var refused = TransferReply()
          (refused.curlCode, refused.curlMessage) = (7, "connection refused")
          other.onReply(refused)
        }
      }
    }

    func cancel(_ id: ExchangeID) { inner.cancel(id) }
    func setRate(bytesPerSecond: Int64?, of group: RateGroup?) {
      inner.setRate(bytesPerSecond: bytesPerSecond, of: group)
    }
    func bytesInFlight() -> [ExchangeID: Int64] { inner.bytesInFlight() }
    func stop() { inner.stop() }
  }
}
