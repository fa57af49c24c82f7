import Receiver
import Testing
import TransferModel
import TransferProtocols
import Transfers

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// A completely fetched download is placed, whatever the state of its server.
@Suite struct PlacingWithoutServerTests: PullScenes {
  private func control(_ scene: Scene, _ verb: ControlVerb, _ filter: RowFilter = RowFilter()) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    defer { ledger.close() }
    _ = try ledger.control(verb, filter)
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  /// Fetches `o0`, whose name is taken in the meantime, so that it is not placed. Leaves more files ahead of it than
  /// one claim takes.
  private func fetched(_ scene: Scene) throws -> [String: [UInt8]] {
    let objects = try objects(scene, [200_000])
    _ = try add(scene, (1...400).map { "other\($0)" })
    try control(scene, .pause(now: false))
    _ = try add(scene, ["o0"])
    let obstacle = "\(scene.root)/in/o0"
    let result = try scene.work(with: Interposed(), workers: 4) { configuration in
      configuration.syncs.all = { descriptor in
        try? Scene.write([1], to: NameBytes(obstacle))
        return fsync(descriptor)
      }
    }
    #expect(result.failed == 1)
    unlink(obstacle)
    try control(scene, .retry(startsOver: false))
    try control(scene, .resume)
    return objects
  }

  private func state(_ scene: Scene) throws -> String {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT state || ' ' || coalesce(cause, '-') FROM file WHERE cast(key AS TEXT) LIKE '%o0'"
    ) { $0.text(0) }[0]
  }

  /// The host answers the others with a pause that is longer than the run waits. Its limit only ends it if it waits.
  @Test func duringALongPauseOfTheHost() throws {
    let scene = try Scene(script: "match GET */other* : status=503 retry-after=3600\n")
    let objects = try fetched(scene)
    let sent = try ranges(scene, "o0")
    let result = try scene.work(with: Interposed(), workers: 4) { $0.maxDurationMs = 180_000 }
    #expect(try state(scene) == "done -")
    #expect(result.done == 1 && result.left == 400 && result.stoppedBy == .notDue, "\(result)")
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o0")) == objects["o0"])
    #expect(try ranges(scene, "o0") == sent)
  }

  @Test func whereNoConnectionIsAccepted() throws {
    let scene = try Scene()
    let objects = try fetched(scene)
    #expect(try state(scene) == "pending -" && requests(scene) > 0)
    let sent = try ranges(scene, "o0")
    scene.server.stop()
    let result = try scene.work(with: Interposed(), workers: 4) { $0.breakerOpensBeforeGivingUp = 1 }
    #expect(try state(scene) == "done -")
    #expect(result.done == 1 && result.left == 400)
    #expect(try Scene.read(NameBytes("\(scene.root)/in/o0")) == objects["o0"])
    #expect(try ranges(scene, "o0") == sent)
  }
}
