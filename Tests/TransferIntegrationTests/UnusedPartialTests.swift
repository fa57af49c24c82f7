import Receiver
import Testing
import TransferModel
import Transfers

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// A run leaves no partial file in which nothing was stored, whatever ended it; the next run makes it again.
@Suite struct UnusedPartialTests: PullScenes {
  private static let sizes = [100_000, 200_000, 70_000, 65_536]

  private func expectNothingLeft(_ scene: Scene) throws {
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == [])
    try expectNoFindings(scene)
  }

  private func expectNoFindings(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  private func expectAll(_ scene: Scene, _ objects: [String: [UInt8]]) throws {
    let result = try scene.run()
    #expect(result.done == objects.count, "\(result)")
    try expectSame(scene, objects)
  }

  /// Of a file of unknown size no more is asked for than the limit. What comes of it stays, and nothing of the others.
  @Test func aLimitOfBytesLeavesNone() throws {
    let scene = try Scene()
    let objects = try objects(scene, Self.sizes)
    _ = try add(scene, objects.keys.sorted())
    let result = try scene.work(with: Interposed(), workers: 2) { $0.maxBytes = 100 }
    #expect(result.stoppedBy == .limit && result.left == objects.count, "\(result)")
    let asked = try objects.keys.flatMap { try ranges(scene, $0) }
    #expect(asked == [ByteRange(offset: 0, length: 100)])
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true).count == 1)
    try expectNoFindings(scene)
    try expectAll(scene, objects)
  }

  /// Requests without an answer are interrupted, and others wait for a connection.
  @Test func aStopLeavesNone() throws {
    let scene = try Scene(script: "match GET * times=2 : hold=first\n")
    let objects = try objects(scene, Self.sizes)
    _ = try add(scene, objects.keys.sorted())
    let stop = Scene.Stop()
    let stopping = scene.whenHeld("first", count: 2) { stop.stopNow() }
    let result = try Scene.run(scene.storePath, workers: 2, stop: stop)
    stopping.join()
    scene.release("first")
    #expect(result.done == 0 && result.left == objects.count, "\(result)")
    try expectNothingLeft(scene)
    try expectAll(scene, objects)
  }

  @Test func aHostWithoutConnectionsLeavesNone() throws {
    let scene = try Scene()
    _ = try add(scene, ["o0", "o1", "o2"])
    scene.server.stop()
    let result = try scene.work(with: Interposed()) { $0.breakerOpensBeforeGivingUp = 1 }
    #expect(result.stoppedBy == .unreachable && result.left == 3, "\(result)")
    #expect(try requests(scene) > 0)
    try expectNothingLeft(scene)
  }

  /// The host asks for a pause, or refuses the destination.
  @Test(arguments: ["status=503 retry-after=3600", "status=401"]) func aRefusalLeavesNone(_ answer: String) throws {
    let scene = try Scene(script: "match GET * times=40 : \(answer)\n")
    _ = try objects(scene, Self.sizes)
    _ = try add(scene, ["o0", "o1", "o2"])
    let result = try scene.work(with: Interposed(), workers: 4) { $0.maxDurationMs = 180_000 }
    #expect(result.done == 0 && result.left == 3, "\(result)")
    #expect(try requests(scene) > 0)
    try expectNothingLeft(scene)
  }

  /// What was received of a file is kept, and the next run continues there.
  @Test func whatWasReceivedIsKept() throws {
    let scene = try Scene(script: "match GET * nth=1 : cut-after=20000\nmatch GET * nth=2 : hold=second\n")
    let objects = try objects(scene, [300_000])
    _ = try add(scene, ["o0"], partSize: 1 << 20)
    let stop = Scene.Stop()
    let stopping = scene.whenHeld("second") { stop.stopNow() }
    #expect(try Scene.run(scene.storePath, workers: 1, stop: stop).left == 1)
    stopping.join()
    scene.release("second")
    let names = try Scene.names(in: "\(scene.root)/in", hidden: true)
    #expect(names.count == 1 && names.allSatisfy { $0.hasSuffix(".part") }, "\(names)")
    #expect(try ranges(scene, "o0").map(\.offset) == [0])
    try expectAll(scene, objects)
    #expect(try ranges(scene, "o0").map(\.offset) == [0, 20_000])
  }

  /// An empty file of which only the final name is missing.
  @Test func aFetchedEmptyFileIsKept() throws {
    let scene = try Scene()
    let objects = try objects(scene, [0])
    _ = try add(scene, ["o0"])
    let obstacle = "\(scene.root)/in/o0"
    let result = try scene.work(with: Interposed()) { configuration in
      configuration.syncs.all = { descriptor in
        try? Scene.write([1], to: NameBytes(obstacle))
        return fsync(descriptor)
      }
    }
    #expect(result.failed == 1, "\(result)")
    unlink(obstacle)
    let names = try Scene.names(in: "\(scene.root)/in", hidden: true)
    #expect(names.count == 1 && names.allSatisfy { $0.hasSuffix(".part") }, "\(names)")
    let before = try requests(scene)
    let ledger = try Ledger.open(at: scene.storePath, mode: .existing, clock: SystemClock())
    _ = try ledger.control(.retry(startsOver: false), RowFilter())
    ledger.close()
    try expectAll(scene, objects)
    #expect(try requests(scene) == before)
  }
}
