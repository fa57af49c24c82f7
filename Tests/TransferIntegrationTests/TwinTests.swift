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

/// A file whose digest the ledger knows from another local file is copied and not fetched.
@Suite struct TwinTests: PullScenes {
  private func list(_ scene: Scene, _ path: String, _ content: [UInt8]) throws -> DownloadOptions {
    let digest = RunningDigest.of(content, .sha256)
    let line = "{\"url\": \"\(scene.url)/up/o0?\(path)\", \"path\": \"\(path)\", \"digest\": \"\(digest)\"}\n"
    try Scene.write(Array(line.utf8), to: NameBytes("\(scene.root)/\(path).jsonl"))
    let list = DownloadList(path: NameBytes("\(scene.root)/\(path).jsonl"))
    return DownloadOptions([.list(list)], to: NameBytes("\(scene.root)/in"))
  }

  private func pull(_ scene: Scene, _ path: String, _ content: [UInt8]) throws -> RunResult {
    _ = try TransferStore(at: scene.storePath).add(list(scene, path, content))
    return try scene.run()
  }

  private func expectSound(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  private func requestsSeen(_ scene: Scene) throws -> Int {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").count {
      if case .start = $0.kind { true } else { false }
    }
  }

  @Test(arguments: [0, 1, 300_000]) func nothingIsFetchedOfAFileThatIsHere(_ size: Int) throws {
    let scene = try Scene()
    let content = try #require(try objects(scene, [size])["o0"])
    #expect(try pull(scene, "a", content).done == 1)
    let before = try requestsSeen(scene)
    let second = try pull(scene, "b", content)
    #expect(second.done == 1 && second.bytesReused == Int64(size), "\(second)")
    #expect(try requestsSeen(scene) == before)
    try expectSame(scene, ["a": content, "b": content])
    let reused = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT coalesce(sum(reused), 0) FROM chunk"
    ) { $0.int(0) }
    #expect(reused == [size])
    try expectSound(scene)
  }

  /// The ledger knows what the file was, not what it is.
  @Test func aFileThatWasWrittenToIsFetched() throws {
    let scene = try Scene()
    let content = try #require(try objects(scene, [300_000])["o0"])
    #expect(try pull(scene, "a", content).done == 1)
    var other = content
    other[299_999] ^= 1
    try Scene.write(other, to: NameBytes("\(scene.root)/in/a"))
    let second = try pull(scene, "b", content)
    #expect(second.done == 1 && second.bytesReused == 0, "\(second)")
    try expectSame(scene, ["a": other, "b": content])
  }

  /// Another machine fetched it while it was recorded here: it is proven, not touched, and nothing is fetched.
  @Test(arguments: [false, true]) func aFileThatHasItsNameAlreadyIsKept(overwrites: Bool) throws {
    let scene = try Scene()
    let content = try #require(try objects(scene, [300_000])["o0"])
    mkdir("\(scene.root)/in", 0o700)
    var options = try list(scene, "a", content)
    options.overwrites = overwrites
    _ = try TransferStore(at: scene.storePath).add(options)
    let path = NameBytes("\(scene.root)/in/a")
    try Scene.write(content, to: path)
    let before = try SourceFile(path: path).identity
    let result = try scene.run()
    #expect(result.done == 1 && result.bytesReused == 300_000, "\(result)")
    #expect(try requestsSeen(scene) == 0)
    #expect(try SourceFile(path: path).identity == before)
    try expectSame(scene, ["a": content])
    #expect(try confirmation(scene) == "digest")
    try expectSound(scene)
  }

  @Test func anotherFileUnderTheNameStays() throws {
    let scene = try Scene()
    let content = try #require(try objects(scene, [300_000])["o0"])
    mkdir("\(scene.root)/in", 0o700)
    _ = try TransferStore(at: scene.storePath).add(try list(scene, "a", content))
    var other = content
    other[0] ^= 1
    try Scene.write(other, to: NameBytes("\(scene.root)/in/a"))
    #expect(try scene.run().failed == 1)
    #expect(try cause(scene) == "policy.exists")
    try expectSame(scene, ["a": other])
  }

  @Test func aFileThatIsGoneIsFetched() throws {
    let scene = try Scene()
    let content = try #require(try objects(scene, [300_000])["o0"])
    #expect(try pull(scene, "a", content).done == 1)
    #expect(unlink("\(scene.root)/in/a") == 0)
    #expect(try pull(scene, "b", content).done == 1)
    try expectSame(scene, ["b": content])
  }
}
