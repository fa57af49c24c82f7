import Receiver
import Testing
import TransferModel
import TransferProtocols
import TransferTestSupport
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Answers of many kinds of servers to the requests of a download.
@Suite struct PullAnswersTests: PullScenes {
  /// Servers that send no ranges, or unreliable ones: the whole file is fetched in one body.
  @Test(arguments: [
    ("match * * : ignore-range\n", 1), ("match * * : ignore-range chunked\n", 1),
    ("match * * : ignore-range no-length\n", 1), ("match * * : ignore-range chunked field=\"Content-Length: 7\"\n", 1),
    ("match GET * nth=1 : content-range=\"bytes 0-9/400000\"\n", 2), ("match * * : weak-etag\n", 2),
    ("match * * : omit=ETag\n", 2), ("match GET * nth=1 : status=416\n", 2),
    ("match GET * nth=1 : content-range=\"bytes 0-65535/*\"\n", 2),
    // Ranges after the first are ignored.
    ("match GET * nth=2 times=99 : ignore-range\n", 6),
  ])
  func withoutRangesTheFileComesInOneBody(_ script: String, _ most: Int) throws {
    let scene = try Scene(script: script)
    let objects = try objects(scene, [400_000])
    let outcome = try pull(scene, ["o0"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, objects)
    let ranges = try ranges(scene, "o0")
    #expect(ranges.contains(ByteRange(offset: 0, length: 400_000)) && ranges.count <= most, "\(ranges)")
    let receipt = try confirmation(scene)
    #expect(receipt == "digest", "\(receipt)")
  }

  /// If the connection ends the body, nobody can tell whether it is complete.
  @Test(arguments: [
    ("ignore-range no-length", "none"), ("ignore-range chunked", "size"), ("ignore-range", "size"),
    ("chunked", "size"), ("no-length", "size"),
  ])
  func theReceiptSaysWhetherTheEndIsCertain(_ action: String, _ confirmation: String) throws {
    let scene = try Scene(script: "match GET * : \(action) omit=Repr-Digest\n")
    let objects = try objects(scene, [300_000])
    #expect(try pull(scene, ["o0"]).result.done == 1)
    try expectSame(scene, objects)
    #expect(try self.confirmation(scene) == confirmation)
  }

  /// Bodies without a validator or without ranges restart.
  @Test(arguments: ["cut-after=100000 ignore-range", "cut-after=100000 ignore-range chunked"])
  func aBodyThatCannotBeContinuedBeginsAgain(_ action: String) throws {
    let scene = try Scene(script: "match GET * nth=1 times=2 : \(action)\nmatch * * : ignore-range\n")
    let objects = try objects(scene, [300_000])
    let outcome = try pull(scene, ["o0"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").map(\.offset) == [0, 0, 0])
  }

  /// A file that cannot get its name is not fetched.
  @Test func aFolderUnderTheNameIsSeenBeforeTheFetch() throws {
    let scene = try Scene()
    _ = try objects(scene, [400_000])
    mkdir("\(scene.root)/in", 0o700)
    mkdir("\(scene.root)/in/o0", 0o700)
    #expect(try pull(scene, ["o0"], overwrites: true).result.failed == 1)
    #expect(try cause(scene) == ErrorCode.policyExists.rawValue)
    #expect(try ranges(scene, "o0").isEmpty)
  }

  /// Bytes that are repeated before the requested range are compared with the stored ones.
  @Test func aRangeMayBeginEarlier() throws {
    let scene = try Scene(
      script: "match GET * nth=1 : cut-after=30000\nmatch GET * nth=2 times=99 : earlier=20000\n")
    let objects = try objects(scene, [300_000])
    let outcome = try pull(scene, ["o0"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").contains { $0.offset == 10_000 })
  }

  /// Without an ETag, a date that is old enough distinguishes versions.
  @Test func aDateIsAValidator() throws {
    let scene = try Scene(script: "match GET * : omit=ETag\n")
    let objects = try objects(scene, [300_000])
    var times = [timeval(tv_sec: 784_111_777, tv_usec: 0), timeval(tv_sec: 784_111_777, tv_usec: 0)]
    utimes("\(scene.root)/kept/up/o0", &times)
    #expect(try pull(scene, ["o0"]).result.done == 1)
    try expectSame(scene, objects)
    #expect(try ranges(scene, "o0").count == 5)
  }

  /// A page is not accepted in place of the file; files with the name of a page, or without an extension, may be pages.
  @Test(arguments: [
    ("a.tar.gz", true), ("a.BIN", true), ("a.csv", true), ("a.html", false), ("a", false), ("v1.2", false),
  ])
  func aWebPageIsNotTakenForTheFile(_ name: String, _ isRefused: Bool) throws {
    let scene = try Scene(script: "match GET * : field=\"Content-Type: text/html; charset=utf-8\"\n")
    mkdir("\(scene.root)/kept/up", 0o700)
    try Scene.write(Array("<p>log in".utf8), to: NameBytes("\(scene.root)/kept/up/\(name)"))
    let outcome = try pull(scene, [name])
    #expect(outcome.result.failed == (isRefused ? 1 : 0), "\(outcome.result)")
    if isRefused { #expect(try cause(scene) == ErrorCode.protoBadReply.rawValue) }
    _ = try scene.run()
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == (isRefused ? [] : [name]))
  }

  /// The server declares the stored bytes to be a coding of something else.
  @Test func aPackedFileIsStoredAsItIs() throws {
    let scene = try Scene(script: "match GET * : field=\"Content-Encoding: x-gzip\"\n")
    mkdir("\(scene.root)/kept/up", 0o700)
    let bytes = [UInt8](repeating: 7, count: 200_000)
    try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/up/a.tar.gz"))
    #expect(try pull(scene, ["a.tar.gz"]).result.done == 1)
    try expectSame(scene, ["a.tar.gz": bytes])
  }

  /// The server compresses although nothing was asked for: the file is stored without the coding.
  @Test(arguments: ["", "chunked", "no-length"]) func aCodingIsRemoved(_ action: String) throws {
    let scene = try Scene(script: "match GET * : field=\"Content-Encoding: gzip\" \(action)\n")
    mkdir("\(scene.root)/kept/up", 0o700)
    let bytes = noise(200_000)
    try Scene.write(Self.gzip(bytes), to: NameBytes("\(scene.root)/kept/up/o0.json"))
    #expect(try pull(scene, ["o0.json"]).result.done == 1)
    try expectSame(scene, ["o0.json": bytes])
    // Without a length, further compressed data may have been cut off.
    #expect(try confirmation(scene) == (action == "no-length" ? "none" : "size"))
    #expect(try requests(scene) == 2)
  }

  /// A gzip stream (RFC 1952) of blocks that are not compressed.
  private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    for at in stride(from: 0, to: bytes.count, by: 65_535) {
      let block = bytes[at..<min(at + 65_535, bytes.count)]
      let length = UInt16(block.count)
      stream.append(block.endIndex == bytes.count ? 1 : 0)
      for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
      stream += block
    }
    stream += RunningDigest.of(bytes, .crc32).bytes.reversed()
    return stream + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
  }

  /// Digests that require reading the file before it gets its name.
  @Test(arguments: [
    (DigestAlgorithm.sha256, "Repr-Digest: sha-256=:%:"), (.sha512, "Repr-Digest: sha-512=:%:"),
    (.md5, "x-goog-hash: crc32c=x,md5=%"),
  ])
  func otherDigestsAreComparedToo(_ algorithm: DigestAlgorithm, _ field: String) throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let digest = RunningDigest.of(bytes, algorithm)
    let told = field.replacing("%", with: base64(digest.bytes))
    let scene = try Scene(script: "match GET * : field=\"\(told)\" omit=Repr-Digest\n")
    mkdir("\(scene.root)/kept/up", 0o700)
    try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/up/o0"))
    #expect(try pull(scene, ["o0"]).result.done == 1)
    try expectSame(scene, ["o0": bytes])
    #expect(try confirmation(scene) == "digest")
  }

  /// Redirects are followed, each request has its attempt, and the ledger contains nothing of a signed URL.
  @Test(arguments: ["status=301", "status=302", "status=303", "status=307", "status=308"])
  func redirectsAreFollowed(_ status: String) throws {
    let scene = try Scene(script: "match GET /up/o9 : \(status) redirect=/up/o0?X-Amz-Signature=0123456789abcdef0123\n")
    let objects = try objects(scene, [400_000])
    let outcome = try pull(scene, ["o9"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    #expect(outcome.result.retries == 0)
    try expectSame(scene, ["o9": objects["o0"] ?? []])
    #expect(try ranges(scene, "o0").count == 7)
    #expect(try requests(scene) == 8)
    let ends = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT outcome, error_code FROM attempt WHERE outcome <> 'ok'"
    ) { [$0.text(0), $0.textOrNil(1)] }
    #expect(ends == [["interrupted", nil]])
    try expectNothing(of: "0123456789abcdef0123", in: scene)
  }

  /// The target of the redirect refuses in the middle: the server that named it is asked once more. A second refusal is
  /// final if it says that there is no such file, unless it answers an earlier request: so only one is made.
  @Test(arguments: [(400, 1), (401, 2), (403, 2), (404, 1), (410, 1)])
  func aPlaceThatExpiresIsAskedForAgain(_ status: Int, _ times: Int) throws {
    let refusal = "match GET /up/o0 nth=3 times=\(times) : status=\(status)\n"
    let scene = try Scene(script: "match GET /up/o9 : status=302 redirect=/up/o0?sig=1\n" + refusal)
    let objects = try objects(scene, [400_000])
    let outcome = try pull(scene, ["o9"])
    #expect(outcome.result.done == 1, "\(outcome.result)")
    try expectSame(scene, ["o9": objects["o0"] ?? []])
  }

  @Test func redirectsInACircleAreAnError() throws {
    let scene = try Scene(script: "match GET /up/o0 : status=302 redirect=o1\nmatch GET * : status=302 redirect=o0\n")
    #expect(try pull(scene, ["o0"]).result.failed == 1)
    #expect(try cause(scene) == ErrorCode.httpRedirect.rawValue)
    #expect(try requests(scene) == 2)
    _ = try scene.run()
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true).isEmpty)
  }

  /// Even if nobody follows them.
  @Test(arguments: ["ftp://h", "http://user@h", "x"]) func redirectsAreNotQuoted(_ place: String) throws {
    let scene = try Scene()
    let token = "tok0123456789abcdef"
    let location = "\(place)/a?token=\(token)"
    let answer = FixedAnswerServer.answer("302 Found", "Location: \(location)\r\n", body: "<a href=\"\(location)\">")
    let server = try FixedAnswerServer(answer)
    mkdir("\(scene.root)/in", 0o700)
    let options = DownloadOptions(urls: [server.url + "/a"], folder: NameBytes("\(scene.root)/in"))
    _ = try TransferStore(at: scene.storePath).add(options)
    #expect(try scene.run().failed == 1)
    #expect(try cause(scene) == ErrorCode.httpRedirect.rawValue)
    try expectNothing(of: token, in: scene)
  }

  private func expectNothing(of secret: String, in scene: Scene) throws {
    for name in try Scene.names(in: scene.root) where name.hasPrefix("ledger.db") {
      let bytes = try Scene.read(NameBytes("\(scene.root)/\(name)"))
      #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(name)")
    }
  }

  /// Nothing that arrived can be resumed, and that does not count as a failure.
  @Test func toStopABodyInOnePieceIsNoFailure() throws {
    let scene = try Scene(script: "match GET * nth=1 : ignore-range slow=200000\nmatch GET * : ignore-range\n")
    let objects = try objects(scene, [400_000])
    _ = try add(scene, ["o0"])
    let stop = Scene.Stop()
    let stopped = try Scene.run(scene.storePath, stop: stop) { if $0.bytesInFlight > 0 { stop.stopNow() } }
    #expect(stopped.done == 0 && stopped.left == 1)
    let ended = try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT a.outcome, f.failures FROM attempt a JOIN file f ON f.id = a.file_id"
    ) { ($0.text(0), $0.int(1)) }
    #expect(ended.map(\.0) == ["interrupted"] && ended.map(\.1) == [0])
    #expect(try scene.run().done == 1)
    try expectSame(scene, objects)
  }
}
