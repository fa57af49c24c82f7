import CDigest
import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Files with mirrors and digests of pieces.
@Suite struct MirrorTests: PullScenes {
  /// The length of a piece in bytes; chunks of two pieces are requested.
  private static let piece = 64 << 10

  /// Receivers that hold the same object; the first one has the ledger.
  private func scenes(_ scripts: [String], _ size: Int = 700_000) throws -> (scenes: [Scene], content: [UInt8]) {
    let scenes = try scripts.map { try Scene(script: $0) }
    let content = try #require(try objects(scenes[0], [size])["o0"])
    for scene in scenes.dropFirst() {
      mkdir("\(scene.root)/kept/up", 0o700)
      try Scene.write(content, to: NameBytes("\(scene.root)/kept/up/o0"))
    }
    return (scenes, content)
  }

  /// - Parameter first: a URL that comes before those of the scenes.
  private func metalink(
    _ scenes: [Scene], _ content: [UInt8], pieces: Bool, hash: Bool = true, after first: String? = nil
  ) -> String {
    let places = [first].compactMap { $0 } + scenes.map { "\($0.url)/up/o0" }
    let urls = places.indices.map { "<url priority=\"\($0 + 1)\">\(places[$0])</url>" }.joined()
    var digests = hash ? "<hash type=\"sha-256\">\(Self.sha256(content[...]))</hash>" : ""
    if pieces {
      let list = stride(from: 0, to: content.count, by: Self.piece).map {
        "<hash>\(Self.sha256(content[$0..<min(content.count, $0 + Self.piece)]))</hash>"
      }
      digests += "<pieces length=\"\(Self.piece)\" type=\"sha-256\">\(list.joined())</pieces>"
    }
    return """
      <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="o0">\
      <size>\(content.count)</size>\(digests)\(urls)</file></metalink>
      """
  }

  private static func sha256(_ bytes: ArraySlice<UInt8>) -> String {
    String(RunningDigest.of(Array(bytes), .sha256).description.dropFirst("sha256:".count))
  }

  private func pull(_ scene: Scene, _ list: String, named name: String = "list.meta4") throws -> Scene.Outcome {
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(Array(list.utf8), to: NameBytes("\(scene.root)/\(name)"))
    let list = DownloadList(path: NameBytes("\(scene.root)/\(name)"))
    var options = DownloadOptions([.list(list)], to: NameBytes("\(scene.root)/in"))
    options.options["part-size"] = .number(Int64(2 * Self.piece))
    let added = try TransferStore(at: scene.storePath).add(options)
    return Scene.Outcome(added: added, result: try scene.run())
  }

  /// Host and port of each attempt that went to a mirror, with its error, in order.
  private func mirrors(_ scene: Scene) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT mirror || coalesce(' ' || error_code, '') FROM attempt WHERE mirror IS NOT NULL ORDER BY id"
    ) { $0.text(0) }
  }

  private func errors(_ scene: Scene) throws -> [String] {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT error_code FROM attempt WHERE error_code IS NOT NULL ORDER BY id"
    ) { $0.text(0) }
  }

  private func host(_ scene: Scene) -> String { String(scene.url.dropFirst("http://".count)) }

  private func expectSound(_ scene: Scene) throws {
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  // MARK: - Several in parallel

  @Test func rangesOfAFileWithPiecesComeFromAllOfThem() throws {
    let (scenes, content) = try scenes(["", "", ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: true))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    for scene in scenes { #expect(try !ranges(scene, "o0").isEmpty) }
    #expect(try Set(mirrors(scenes[0])) == [host(scenes[1]), host(scenes[2])])
    #expect(try confirmation(scenes[0]) == "digest")
    let fetched = try scenes.flatMap { try ranges($0, "o0") }.reduce(0) { $0 + $1.length }
    #expect(fetched == Int64(content.count))
    try expectSound(scenes[0])
  }

  /// Only the digest of the whole file ties them together: one of them serves until it fails.
  @Test func withoutPiecesOneServesAtATime() throws {
    let (scenes, content) = try scenes(["", ""])
    #expect(try pull(scenes[0], metalink(scenes, content, pieces: false)).result.done == 1)
    #expect(try mirrors(scenes[0]) == [])
  }

  // MARK: - Failing mirrors

  @Test(arguments: ["status=503", "status=404", "reset-after=0", "status=403"], [true, false])
  func oneThatFailsIsPassedOver(_ action: String, _ pieces: Bool) throws {
    let (scenes, content) = try scenes(["match GET * : \(action)\n", ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: pieces))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    try expectSound(scenes[0])
  }

  /// In the middle of the file: the stored bytes are kept, because the digest of the whole file ties them to the rest.
  @Test func anotherTakesOverInTheMiddle() throws {
    let (scenes, content) = try scenes(["match GET * nth=3 times=99 : status=500\n", ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: false))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    let fetched = try scenes.flatMap { try ranges($0, "o0") }.reduce(0) { $0 + $1.length }
    #expect(fetched == Int64(content.count))
  }

  @Test func oneThatCannotBeReachedIsPassedOver() throws {
    let (scenes, content) = try scenes(["", ""])
    let list = metalink(scenes, content, pieces: true)
    let dead = list.replacing(scenes[1].url, with: "http://127.0.0.1:1")
    #expect(try pull(scenes[0], dead).result.done == 1)
    let first = list.replacing(scenes[0].url, with: "http://127.0.0.1:1").replacing("\"o0\"", with: "\"o1\"")
    #expect(try pull(scenes[0], first, named: "other.meta4").result.done == 1)
    try expectSame(scenes[0], ["o0": content, "o1": content])
  }

  /// The proxy forbids the first place; the second one is requested directly.
  @Test func oneThatTheProxyForbidsIsPassedOver() async {
    await #expect(processExitsWith: .success) {
      let proxy = try FixedAnswerServer(FixedAnswerServer.answer("407 Proxy Authentication Required"))
      setenv("http_proxy", proxy.url, 1)
      setenv("no_proxy", "127.0.0.1", 1)
      let tests = MirrorTests()
      let (scenes, content) = try tests.scenes([""])
      let list = tests.metalink(scenes, content, pieces: true, after: "http://up.example/up/o0")
      let result = try tests.pull(scenes[0], list).result
      guard result.done == 1, result.blocked.isEmpty, proxy.requests > 0 else {
        throw Scene.Broken(what: "\(proxy.requests) requests to the proxy: \(result)")
      }
    }
  }

  @Test func allOfThemFail() throws {
    let (scenes, content) = try scenes(["match GET * : status=404\n", "match GET * : status=410\n"])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: true))
    #expect(outcome.result.failed == 1, "\(outcome.result)")
    #expect(try Scene.names(in: "\(scenes[0].root)/in", hidden: true) == [])
  }

  // MARK: - Mirrors with different content

  /// Nothing else is requested from it, and only the piece is fetched again.
  @Test func oneThatSendsAWrongPieceIsNotAskedAgain() throws {
    let (scenes, content) = try scenes(["", "match GET * : wrong-byte=300000\n"])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: true, hash: false))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    let wrong = try mirrors(scenes[0]).filter { $0.contains("integrity") }
    let sent = try scenes.flatMap { try ranges($0, "o0") }
    let fetched = sent.reduce(0) { $0 + $1.length }
    // Which of the two got the range with that byte depends on their speed.
    #expect(fetched == Int64(content.count) + Int64(wrong.count * Self.piece), "\(sent)")
    #expect(wrong.isEmpty || wrong == ["\(host(scenes[1])) integrity.mismatch"])
    try expectSound(scenes[0])
  }

  @Test func aWrongPieceOfTheFirstComesFromTheOther() throws {
    let script = "match GET * : wrong-byte=10\n"
    let (scenes, content) = try scenes([script, ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: true, hash: false))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    #expect(try errors(scenes[0]) == ["integrity.mismatch"])
    #expect(try ranges(scenes[0], "o0").count == 1)
  }

  /// A piece is requested again even from the only server.
  @Test func aPieceThatWasWrongOnceComesAgainAlone() throws {
    let script = "match GET * nth=2 times=4 : wrong-byte=300000\n"
    let (scenes, content) = try scenes([script])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: true))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    let fetched = try ranges(scenes[0], "o0").reduce(0) { $0 + $1.length }
    #expect(fetched == Int64(content.count + Self.piece))
    try expectSound(scenes[0])
  }

  /// It has the same length and a strong ETag of its own: the digest of the whole file reveals it, and the file is
  /// fetched again from another server.
  @Test func anOlderVersionIsNotTheFile() throws {
    let (scenes, content) = try scenes(["match GET * : version=7\n", ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: false))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    try expectSound(scenes[0])
  }

  @Test(arguments: [true, false]) func allOfThemHaveAnOlderVersion(_ pieces: Bool) throws {
    let script = "match GET * : version=7\n"
    let (scenes, content) = try scenes([script, script])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: pieces))
    #expect(outcome.result.done == 0 && outcome.result.mismatched == 1, "\(outcome.result)")
    #expect(try Scene.names(in: "\(scenes[0].root)/in", hidden: true) == [])
  }

  /// The first has the old version from its second answer on: none of it is mixed with what has arrived.
  @Test(arguments: [true, false]) func aVersionThatChangesInTheMiddleIsNotMixed(_ pieces: Bool) throws {
    let (scenes, content) = try scenes(["match GET * nth=3 times=99 : version=7\n", ""])
    let outcome = try pull(scenes[0], metalink(scenes, content, pieces: pieces))
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
  }

  // MARK: - Without digests

  /// Nothing ties them together: the file stays with the server that its first bytes came from.
  @Test func withoutDigestsAnotherIsAskedOnlyBeforeAnythingCame() throws {
    let (scenes, content) = try scenes(["match GET * nth=1 times=9 : status=404\n", ""])
    let list = #"{"url": "URL0", "mirrors": ["URL1"], "path": "o0"}"# + "\n"
    let named = list.replacing("URL0", with: scenes[0].url + "/up/o0").replacing("URL1", with: scenes[1].url + "/up/o0")
    let outcome = try pull(scenes[0], named, named: "list.jsonl")
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scenes[0], ["o0": content])
    #expect(try ranges(scenes[0], "o0").isEmpty)
    #expect(try confirmation(scenes[0]) != "none")
  }
}
