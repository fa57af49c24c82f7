import Glibc
import Receiver
import Testing
import TransferEngine
import TransferModel
import TransferProtocols

@testable import TransferLedger
@testable import Transfers

/// Files whose digests of pieces are known: pieces that an existing file has are not fetched.
@Suite struct PieceReuseTests: PullScenes {
  /// The lengths of a piece and of a chunk, in bytes.
  private static let piece = 64 << 10, chunk = 4 * piece
  /// What the first request asks for, in bytes.
  private static let shortest: Int64 = 4 << 10

  private func metalink(_ urls: [String], _ content: [UInt8], type: String = "sha-256", hash: Bool) -> String {
    let algorithm: DigestAlgorithm = type == "sha-1" ? .sha1 : .sha256
    func hex(_ bytes: ArraySlice<UInt8>) -> String {
      String(RunningDigest.of(Array(bytes), algorithm).description.drop { $0 != ":" }.dropFirst())
    }
    let list = stride(from: 0, to: content.count, by: Self.piece).map {
      "<hash>\(hex(content[$0..<min(content.count, $0 + Self.piece)]))</hash>"
    }
    let whole = hash ? "<hash type=\"\(type)\">\(hex(content[...]))</hash>" : ""
    let places = urls.indices.map { "<url priority=\"\($0 + 1)\">\(urls[$0])</url>" }.joined()
    return """
      <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="o0">\
      <size>\(content.count)</size>\(whole)\
      <pieces length="\(Self.piece)" type="\(type)">\(list.joined())</pieces>\(places)</file></metalink>
      """
  }

  private func add(_ scene: Scene, _ list: String) throws {
    mkdir("\(scene.root)/in", 0o700)
    let path = NameBytes("\(scene.root)/list.meta4")
    try Scene.write(Array(list.utf8), to: path)
    var options = DownloadOptions([.list(DownloadList(path: path))], to: NameBytes("\(scene.root)/in"))
    options.overwrites = true
    options.options["part-size"] = .number(Int64(Self.chunk))
    #expect(try TransferStore(at: scene.storePath).add(options).counts.added == 1)
  }

  private func serve(_ scene: Scene, _ count: Int) throws -> [UInt8] {
    let content = ZsyncScene.random(count)
    mkdir("\(scene.root)/kept/up", 0o700)
    try Scene.write(content, to: NameBytes("\(scene.root)/kept/up/o0"))
    return content
  }

  private func existing(_ scene: Scene, _ bytes: [UInt8]) throws {
    mkdir("\(scene.root)/in", 0o700)
    try Scene.write(bytes, to: NameBytes("\(scene.root)/in/o0"))
  }

  /// A scene whose server has a file of 33 pieces, the last of them short, which the manifest describes.
  private func scene(script: String = "", hash: Bool = true, type: String = "sha-256") throws -> (Scene, [UInt8]) {
    let scene = try Scene(script: script)
    let content = try serve(scene, 32 * Self.piece + 1_000)
    try add(scene, metalink(["\(scene.url)/up/o0"], content, type: type, hash: hash))
    return (scene, content)
  }

  private func sent(_ scene: Scene, after before: Int = 0) throws -> Int64 {
    try ranges(scene, "o0").dropFirst(before).reduce(0) { $0 + $1.length }
  }

  private func expectLocal(_ scene: Scene, _ bytes: [UInt8], reused: Int64) throws {
    try expectSame(scene, ["o0": bytes])
    let found = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT bytes_reused FROM v_files ORDER BY id DESC LIMIT 1"
    ) { $0.int64(0) }
    #expect(found == [reused])
    let ledger = try Ledger.open(at: scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    #expect(try ledger.read { try $0.check() }.map { "\($0.invariant): \($0.detail)" } == [])
  }

  // MARK: - An existing file

  /// Bytes are wrong in two pieces of one chunk, in one of another, and in the last piece.
  @Test(arguments: [true, false], ["sha-256", "sha-1"])
  func onlyWrongPiecesAreFetched(_ hash: Bool, _ type: String) throws {
    let (scene, content) = try scene(hash: hash, type: type)
    var old = content
    for at in [5 * Self.piece, 7 * Self.piece + 9, 20 * Self.piece - 1, content.count - 1] { old[at] ^= 1 }
    try existing(scene, old)
    let result = try scene.run()
    let wrong = Int64(3 * Self.piece + 1_000)
    #expect(result.done == 1 && result.bytesReused == Int64(content.count) - wrong, "\(result)")
    #expect(try sent(scene) == wrong + Self.shortest)
    try expectLocal(scene, content, reused: Int64(content.count) - wrong)
    #expect(try confirmation(scene) == "digest")
  }

  /// The version before was shorter, or longer.
  @Test(arguments: [-3 * (64 << 10) - 5, 100_000]) func itMayHaveAnotherLength(_ more: Int) throws {
    let (scene, content) = try scene()
    let old = more < 0 ? Array(content.dropLast(-more)) : content + [UInt8](repeating: 7, count: more)
    try existing(scene, old)
    let missing = more < 0 ? content.count - old.count / Self.piece * Self.piece : 0
    let result = try scene.run()
    #expect(result.done == 1 && result.bytesReused == Int64(content.count - missing), "\(result)")
    #expect(try sent(scene) == Int64(missing) + Self.shortest)
    try expectLocal(scene, content, reused: Int64(content.count - missing))
  }

  @Test func anUnrelatedFileIsReplaced() throws {
    let (scene, content) = try scene(hash: false)
    try existing(scene, ZsyncScene.random(content.count))
    let result = try scene.run()
    #expect(result.done == 1 && result.bytesReused == 0, "\(result)")
    #expect(try sent(scene) == Int64(content.count) + Self.shortest)
    try expectLocal(scene, content, reused: 0)
  }

  /// Nothing is compared, and the first answer has the usual length.
  @Test func aNewFileIsFetchedAsBefore() throws {
    let (scene, content) = try scene()
    #expect(try scene.run().done == 1)
    #expect(try sent(scene) == Int64(content.count))
    try expectLocal(scene, content, reused: 0)
  }

  /// The first place does not answer: what the existing file has is not fetched from the second one either.
  @Test func theFirstAnswerMayComeFromAMirror() throws {
    let (dead, scene) = (try Scene(script: "match GET * : status=404\n"), try Scene())
    let content = try serve(scene, 32 * Self.piece)
    try add(scene, metalink(["\(dead.url)/up/o0", "\(scene.url)/up/o0"], content, hash: true))
    var old = content
    old[3 * Self.piece] ^= 1
    try existing(scene, old)
    #expect(try scene.run().done == 1)
    #expect(try sent(scene) == Int64(Self.piece) + Self.shortest)
    try expectLocal(scene, content, reused: Int64(content.count - Self.piece))
  }

  /// A server without ranges sends all of it, which replaces the file.
  @Test func aServerWithoutRangesSendsAllOfIt() throws {
    let (scene, content) = try scene(script: "match GET * : ignore-range\n")
    var old = content
    old[3 * Self.piece] ^= 1
    try existing(scene, old)
    #expect(try scene.run().done == 1)
    try expectLocal(scene, content, reused: 0)
  }

  // MARK: - A later run

  /// A piece of each chunk is wrong. The first run copies the others and ends before anything is fetched. Somebody may
  /// remove the partial file then: none of its pieces is believed to be there, although no chunk was complete.
  @Test(arguments: [false, true]) func aLaterRunContinuesWithWhatIsMissing(isRemoved: Bool) throws {
    let (scene, content) = try scene(script: "match GET * nth=2 times=2 : hold=piece\n", hash: false)
    var old = content
    for at in stride(from: 0, to: content.count, by: Self.chunk) { old[at] ^= 1 }
    try existing(scene, old)
    let stop = Scene.Stop()
    let stopping = scene.whenHeld("piece") { stop.stopNow() }
    _ = try Scene.run(scene.storePath, workers: 1, stop: stop)
    stopping.join()
    scene.release("piece")
    let partial = try #require(try Scene.names(in: "\(scene.root)/in", hidden: true).first { $0.hasSuffix(".part") })
    if isRemoved { #expect(unlink("\(scene.root)/in/\(partial)") == 0) }
    let before = try ranges(scene, "o0").count
    let result = try scene.run()
    #expect(result.done == 1, "\(result)")
    if !isRemoved { #expect(try sent(scene, after: before) == Int64(8 * Self.piece + 1_000)) }
    try expectSame(scene, ["o0": content])
  }

  // MARK: - Repair

  @Test func aRepairFetchesOnlyWrongPieces() throws {
    let (scene, content) = try scene()
    #expect(try scene.run().done == 1)
    var spoilt = content
    for at in [2 * Self.piece, 30 * Self.piece] { spoilt[at] ^= 1 }
    try existing(scene, spoilt)
    let before = try ranges(scene, "o0").count
    let found = try TransferStore(at: scene.storePath).verify(RowFilter(), .all, repairs: true) { _, _ in }
    #expect(found.changed == 1)
    let result = try scene.run()
    #expect(result.done == 1 && result.bytesReused == Int64(content.count - 2 * Self.piece), "\(result)")
    #expect(try sent(scene, after: before) <= Int64(2 * Self.piece) + Self.shortest)
    try expectLocal(scene, content, reused: Int64(content.count - 2 * Self.piece))
  }
}
