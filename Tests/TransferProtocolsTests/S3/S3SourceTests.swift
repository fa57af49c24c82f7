import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What a download requests from S3, and what the answers of S3 say beyond those of other servers.
@Suite struct S3SourceTests {
  private let proto: GetProtocol
  private let size: Int64 = 200 << 10

  init() throws {
    var settings = BatchSettings(
      destination: "s3://examplebucket/", download: DownloadSettings(folder: NameBytes("/in")))
    settings.options["part-size"] = .number(64 << 10)
    settings.options["endpoint-url"] = .text("http://127.0.0.1:5100")
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func blank(expected: Int64? = nil) -> TransferFacts {
    var file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a b+?"), size: 0, mtimeMs: 0)
    file.expected.size = expected
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    return facts
  }

  private func reply(_ status: Int, _ fields: HTTPFields, received: Int64 = 0, body: String = "") -> TransferReply {
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (status, fields, received)
    reply.body = Array(body.utf8)
    return reply
  }

  private let etag = "\"0123456789abcdef0123456789abcdef\""
  private func head(_ more: HTTPFields = [:]) -> HTTPFields {
    var fields: HTTPFields = [.contentRange: "bytes 0-65535/\(size)", .eTag: etag, .acceptRanges: "bytes"]
    for field in more { fields.append(field) }
    return fields
  }

  /// The facts after the first answer.
  private func begun(_ fields: HTTPFields) -> TransferFacts {
    var facts = blank()
    let meaning = proto.interpret(
      reply(206, fields, received: 64 << 10), to: .create, facts, Scene.context())
    _ = facts.apply(meaning, to: .create, proto.abilities)
    return facts
  }

  private func chunk(_ seq: Int, of facts: TransferFacts) -> ChunkFacts {
    var chunk = ChunkFacts(seq: seq, range: facts.layout.range(seq))
    chunk.body = chunk.rest
    return chunk
  }

  private func signed(_ request: TransferRequest) -> String {
    request.fields[.authorization]?.split(separator: " ").first { $0.hasPrefix("SignedHeaders=") }.map(String.init)
      ?? ""
  }

  @Test func theFirstRequestAsksForTheBeginningAndItsChecksum() throws {
    let request = try proto.request(.create, blank(), Scene.context())
    #expect(request.method == .get)
    #expect(request.url == "http://127.0.0.1:5100/examplebucket/a%20b%2B%3F")
    #expect(request.fields[.range] == "bytes=0-65535")
    #expect(request.fields[HTTPField.Name("x-amz-checksum-mode")!] == "ENABLED")
    #expect(signed(request) == "SignedHeaders=host;range;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date,")
    #expect(request.limits == .body)
    #expect(try proto.request(.create, blank(expected: 0), Scene.context()).fields[.range] == nil)
  }

  /// Some servers are known to ignore `If-Range`, and S3 does not document it.
  @Test func rangesAreOfOneVersion() throws {
    let facts = begun(head())
    #expect(facts.layout.count == 4)
    let request = try proto.request(.chunk(chunk(2, of: facts)), facts, Scene.context())
    #expect(request.fields[.range] == "bytes=131072-196607")
    #expect(request.fields[.ifMatch] == etag)
    #expect(request.fields[.ifRange] == nil)
    #expect(signed(request).contains("if-match;range"))
    let meaning = proto.interpret(reply(412, [:]), to: .chunk(chunk(2, of: facts)), facts, Scene.context())
    guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .sourceChanged)
  }

  /// A 304 is interpreted as from any server, and says nothing about a region.
  @Test func notModifiedIsNoWrongRegion() {
    let meaning = proto.interpret(reply(304, [.eTag: etag]), to: .create, blank(), Scene.context())
    guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .protoBadReply, "\(failure)")
  }

  /// AWS says only in the body that the object is empty.
  @Test func anEmptyObjectHasNoBeginning() {
    let body = "<Error><Code>InvalidRange</Code><ActualObjectSize>0</ActualObjectSize></Error>"
    let meaning = proto.interpret(reply(416, [:], body: body), to: .create, blank(), Scene.context())
    guard case .begun(let beginning) = meaning.outcome else { return #expect(Bool(false), "\(meaning.outcome)") }
    #expect(beginning.layout.size == 0 && beginning.part != nil)
  }

  /// The ledger knows the size that was listed, and accepts no other for this generation.
  @Test(arguments: [true, false])
  func aSizeThatIsNotTheExpectedOneIsFoundBehindTheBodyToo(_ isListed: Bool) {
    var facts = blank(expected: 7)
    facts.file.expected.isListed = isListed
    let whole = proto.interpret(reply(200, [.eTag: etag], received: 9), to: .create, facts, Scene.context())
    let empty = proto.interpret(reply(416, [.contentRange: "bytes */0"]), to: .create, facts, Scene.context())
    for meaning in [whole, empty] {
      guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
      #expect(failure.code == (isListed ? .sourceChanged : .integrityMismatch))
    }
  }

  @Test func theETagOfASimpleObjectIsItsMD5() {
    #expect(begun(head()).session?.notes["digests"] == "md5:0123456789abcdef0123456789abcdef")
    #expect(begun(head([.contentType: "text/html"])).session?.notes["digests"] != nil)
  }

  @Test(arguments: [
    ("x-amz-server-side-encryption", "aws:kms"), ("x-amz-server-side-encryption", "aws:kms:dsse"),
    ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
  ])
  func theETagOfAnEncryptedObjectIsNone(_ name: String, _ value: String) {
    #expect(begun(head([HTTPField.Name(name)!: value])).session?.notes["digests"] == nil)
  }

  @Test func theETagOfADirectoryBucketIsNone() throws {
    var settings = BatchSettings(
      destination: "s3://examples--usw2-az1--x-s3/", download: DownloadSettings(folder: NameBytes("/in")))
    settings.options["endpoint-url"] = .text("http://127.0.0.1:5100")
    let made = try AllProtocols.make(settings, credentialsRegion: nil)
    let express = try #require(made as? GetProtocol)
    let meaning = express.interpret(
      reply(206, head(), received: 65_536), to: .create, blank(),
      RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts()))
    #expect(meaning.notes["etag"] == etag && meaning.notes["digests"] == nil)
  }

  @Test func theETagOfPartsIsNoMD5() {
    var fields = head()
    fields[.eTag] = "\"0123456789abcdef0123456789abcdef-4\""
    #expect(begun(fields).session?.notes["digests"] == nil)
  }

  @Test func theVersionGoesIntoTheProof() throws {
    var facts = begun(head([HTTPField.Name("x-amz-version-id")!: "v7", HTTPField.Name("x-amz-checksum-type")!: "x"]))
    #expect(facts.session?.notes["version"] == "v7")
    facts.storedChunks = facts.layout.count
    facts.inconclusive = [.probe]
    guard case .place(let proof) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.versionID == "v7" && proof.etag == etag)
  }

  /// One chunk that arrived in two ranges: its beginning, and the rest.
  @Test func theChecksumOfOneChunkIsAskedForToo() throws {
    let settings = BatchSettings(
      destination: "s3://examplebucket/", options: ["endpoint-url": .text("http://127.0.0.1:5100")],
      download: DownloadSettings(folder: NameBytes("/in")))
    let usual = try AllProtocols.make(settings, credentialsRegion: nil)
    var fields = head()
    (fields[.contentRange], fields[.eTag]) = ("bytes 0-1048575/2097152", "\"0123456789abcdef0123456789abcdef-2\"")
    var facts = blank()
    let meaning = usual.interpret(reply(206, fields, received: 1 << 20), to: .create, facts, Scene.context())
    _ = facts.apply(meaning, to: .create, usual.abilities)
    #expect(facts.layout.count == 1 && !facts.isAllStored)
    facts.storedChunks = 1
    #expect(usual.nextStep(facts) == .control(.probe(marker: nil)))
  }

  /// S3 sends no checksum of the whole object with a range: it is requested when all ranges are stored.
  @Test func theChecksumOfAFileOfRangesIsAskedFor() throws {
    var facts = begun(head())
    facts.storedChunks = facts.layout.count
    #expect(proto.nextStep(facts) == .control(.probe(marker: nil)))
    let request = try proto.request(.probe(marker: nil), facts, Scene.context())
    #expect(request.method == .head && request.fields[.ifMatch] == etag)
    let told: HTTPFields = [
      .eTag: etag, HTTPField.Name("x-amz-checksum-type")!: "FULL_OBJECT",
      HTTPField.Name("x-amz-checksum-crc64nvme")!: "AAAAAAAAAAA=",
    ]
    let meaning = proto.interpret(reply(200, told), to: .probe(marker: nil), facts, Scene.context())
    _ = facts.apply(meaning, to: .probe(marker: nil), proto.abilities)
    #expect(facts.session?.notes["digests"]?.hasPrefix("crc64nvme:0000000000000000") == true)
    guard case .place(let proof) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.confirmation == .digest)
  }

  /// If the query is refused, or its version is gone, the ranges still belong to one version.
  @Test(arguments: [403, 404, 412, 200])
  func aChecksumThatIsNotToldIsDoneWithout(_ status: Int) {
    var facts = begun(head())
    facts.storedChunks = facts.layout.count
    let fields: HTTPFields = status == 200 ? [.eTag: "\"another\""] : [:]
    let meaning = proto.interpret(reply(status, fields), to: .probe(marker: nil), facts, Scene.context())
    let update = facts.apply(meaning, to: .probe(marker: nil), proto.abilities)
    #expect(update.changes.isEmpty)
    guard case .place = proto.nextStep(facts) else { return #expect(Bool(false), "\(proto.nextStep(facts))") }
  }

  /// The digest of a part, sent with a range that is one of the parts of the object.
  @Test func aChecksumBesideARangeIsNotThatOfTheWhole() {
    let fields = head([
      HTTPField.Name("x-amz-checksum-type")!: "FULL_OBJECT",
      HTTPField.Name("x-amz-checksum-crc64nvme")!: "AAAAAAAAAAA=",
    ])
    #expect(begun(fields).session?.notes["digests"] == "md5:0123456789abcdef0123456789abcdef")
  }

  @Test func theRegionOfTheBucketIsLearned() {
    let body = "<Error><Code>PermanentRedirect</Code></Error>"
    let moved = reply(301, [HTTPField.Name("x-amz-bucket-region")!: "eu-west-1"], body: body)
    let meaning = proto.interpret(moved, to: .create, blank(), Scene.context())
    guard case .failed(_, .repair) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(meaning.learned?.region == "eu-west-1")
  }

  @Test(arguments: [
    (400, "ExpiredToken", FailureAction.refreshCredential), (403, "SignatureDoesNotMatch", .permanent),
    (404, "NoSuchKey", .permanent), (403, "AccessDenied", .permanent), (503, "SlowDown", .retry(isThrottled: true)),
    (500, "InternalError", .retry(isThrottled: false)),
  ])
  func errorsMeanWhatTheyMeanToUploads(_ status: Int, _ code: String, _ action: FailureAction) {
    let answer = reply(status, [:], body: "<Error><Code>\(code)</Code></Error>")
    let meaning = proto.interpret(answer, to: .create, blank(), Scene.context())
    guard case .failed(_, let found) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(found == action)
  }

  /// A server that ignores `If-Match` has to state the version that a range belongs to.
  @Test(
    arguments: [
      (nil, nil, nil, ErrorCode.sourceChanged), ("E", nil, nil, nil), ("other", nil, nil, .sourceChanged),
      (nil, "v1", "v1", nil), (nil, "v1", "v2", .sourceChanged), ("E", "v1", "v2", .sourceChanged),
      (nil, "v1", nil, .sourceChanged), (nil, nil, "v1", .sourceChanged),
    ] as [(String?, String?, String?, ErrorCode?)])
  func aRangeSaysOfWhichVersionItIs(_ tag: String?, _ known: String?, _ now: String?, _ code: ErrorCode?) {
    let version = HTTPField.Name("x-amz-version-id")!
    let facts = begun(known.map { head([version: $0]) } ?? head())
    var fields: HTTPFields = [.contentRange: "bytes 131072-196607/\(size)"]
    fields[.eTag] = tag == "E" ? etag : tag
    fields[version] = now
    switch proto.content(status: 206, fields, of: .chunk(chunk(2, of: facts)), facts) {
    case .bytes: #expect(code == nil)
    case .refused(let meaning):
      guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
      #expect(failure.code == code)
    case .other, .bytesToEnd: #expect(Bool(false))
    }
  }

  /// The type and coding of an object are whatever was stored with it.
  @Test func whatIsStoredIsTakenAsItIs() {
    let fields = head([.contentEncoding: "gzip", .contentType: "text/html"])
    guard case .bytes(from: 0, to: 65_536, of: _) = proto.content(status: 206, fields, of: .create, blank()) else {
      return #expect(Bool(false))
    }
    #expect(begun(fields).layout.count == 4)
  }
}
