import Receiver
import Testing
import TransferModel
import TransferProtocols

@testable import TransferLedger
@testable import Transfers

#if canImport(Glibc)
  import Glibc
#endif

/// A login page of a network, or an error page with status 200, in place of a file whose name does not tell what it is.
@Suite struct PullPageTests: PullScenes {
  private func local(_ scene: Scene) -> NameBytes { NameBytes("\(scene.root)/in/o0") }

  private func texts(_ scene: Scene, _ sql: String) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(sql) { $0.text(0) }
  }

  /// Fetched with its first seven requests from an object that is an hour old; all later answers are pages.
  private func fetched() throws -> (scene: Scene, objects: [String: [UInt8]]) {
    let scene = try Scene(script: "match GET * nth=8 times=999 : html\n")
    let objects = try objects(scene, [400_000])
    var times = [timeval](repeating: timeval(tv_sec: time(nil) - 3_600, tv_usec: 0), count: 2)
    #expect(utimes("\(scene.root)/kept/up/o0", &times) == 0)
    #expect(try pull(scene, ["o0"]).result.done == 1)
    return (scene, objects)
  }

  /// Why the newest generation failed.
  private func expectRefused(
    _ scene: Scene, _ outcome: RunResult, as cause: String = "proto.bad_reply: the server sent a web page (text/html"
  ) throws {
    #expect(outcome.failed == 1 && outcome.done == 0, "\(outcome)")
    let last = try texts(scene, "SELECT cause || ': ' || message FROM file ORDER BY generation DESC LIMIT 1")
    #expect(last.first?.hasPrefix(cause) == true, "\(last)")
  }

  /// The network asks for a login after the first range, or after some of them: the next generation is no page either.
  @Test(arguments: [2, 4]) func aPageAfterTheFirstRangesIsNotTheFile(_ nth: Int) throws {
    let scene = try Scene(script: "match GET * nth=\(nth) times=999 : html\n")
    _ = try objects(scene, [400_000])
    try expectRefused(scene, try pull(scene, ["o0"]).result)
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == [])
    #expect(try texts(scene, "SELECT cause FROM file WHERE state = 'superseded'") == ["source.changed"])
  }

  @Test func aPageDoesNotReplaceWhatWasFetched() throws {
    let (scene, objects) = try fetched()
    try expectRefused(scene, try pull(scene, ["o0"], overwrites: true).result)
    try expectSame(scene, objects)
  }

  /// Neither a changed file nor a missing one is replaced by a page.
  @Test(arguments: [true, false]) func aRepairBringsNoPage(_ isMissing: Bool) throws {
    let (scene, arrived) = try fetched()
    var objects = arrived
    if isMissing {
      #expect(unlink(local(scene).description) == 0)
      objects = [:]
    } else {
      objects["o0"]?[200_000] ^= 0xFF
      try Scene.write(objects["o0"] ?? [], to: local(scene))
    }
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    try expectRefused(scene, try scene.run(), as: "integrity.mismatch: the file must have 400000 bytes")
    try expectSame(scene, objects)
  }

  /// It came from elsewhere, so it is not known what it is.
  @Test func aPageDoesNotReplaceAFileOfUnknownOrigin() throws {
    let scene = try Scene(script: "match GET * : html\n")
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write([1, 2, 3], to: local(scene))
    try expectRefused(scene, try pull(scene, ["o0"], overwrites: true).result)
    try expectSame(scene, ["o0": [1, 2, 3]])
    // Where nothing is, it is fetched.
    #expect(unlink(local(scene).description) == 0)
    #expect(try pull(scene, ["o0"], overwrites: true).result.done == 1)
  }

  /// Ranges of a page, a newer version of it, and a repair of it.
  @Test func aPageIsFetchedAndFollowedByPages() throws {
    let scene = try Scene(script: "match GET * : field=\"Content-Type: text/html\"\n")
    try expectSame(scene, try fetchedPages(scene, overwrites: false))
    try expectSame(scene, try fetchedPages(scene, overwrites: true))
    try Scene.write([1], to: local(scene))
    let store = TransferStore(at: scene.storePath)
    #expect(try store.verify(RowFilter(), .all, repairs: true) { _, _ in }.requeued == 1)
    #expect(try scene.run().done == 1)
    #expect(try Scene.read(local(scene)).count == 400_000)
  }

  private func fetchedPages(_ scene: Scene, overwrites: Bool) throws -> [String: [UInt8]] {
    let objects = try objects(scene, [400_000])
    #expect(try pull(scene, ["o0"], overwrites: overwrites).result.done == 1)
    return objects
  }
}
