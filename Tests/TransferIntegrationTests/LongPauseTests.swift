import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// A host asks for a pause that is longer than a run waits, while more of its files are ready than one claim takes.
/// Only a run that waits in vain ends because of its limit.
@Suite struct LongPauseTests {
  private static let fileCount = 300
  private let clock = MovableClock()

  /// A server that answers its first request with a pause of an hour, and a ledger with files for it.
  private func pausing() throws -> Scene {
    let scene = try Scene(script: "match PUT * times=1 : status=503 retry-after=3600\n")
    _ = try scene.makeTree(seed: 1, count: Self.fileCount)
    #expect(try scene.add().counts.added == Self.fileCount)
    return scene
  }

  private func run(_ scene: Scene) throws -> RunResult {
    try scene.work(with: Interposed(), workers: 1, clock: clock) { configuration in
      configuration.maxDurationMs = 30_000
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
    let third = try run(scene)
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

  /// The ready files of the host that pauses are no reason to go on with a host that accepts no connections.
  @Test func aHostThatIsGoneIsGivenUp() throws {
    let (scene, gone) = (try pausing(), try Scene())
    gone.server.stop()
    let settings = BatchSettings(destination: "\(gone.url)/up/")
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings), notice: { _ in })
    let result = try run(scene)
    #expect(result.stoppedBy == .unreachable && result.left == 2 * Self.fileCount, "\(result)")
    #expect(try requests(scene) == 1)
  }
}
