import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What is requested, and what is accepted as content.
@Suite struct GetProtocolTests {
  private let proto: GetProtocol
  private let size: Int64 = 200 << 10

  init() throws {
    var settings = BatchSettings(
      destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    settings.options["part-size"] = .number(64 << 10)
    let made = try AllProtocols.make(settings, credentialsRegion: nil)
    proto = try #require(made as? GetProtocol)
  }

  /// The facts after the first answer.
  private func facts(_ head: HTTPFields, status: Int = 206, received: Int64 = 64 << 10) throws -> TransferFacts {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a%20b"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    #expect(proto.nextStep(facts) == .control(.create))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (status, head, received)
    let update = facts.apply(proto.interpret(reply, to: .create, facts, context), to: .create, proto.abilities)
    if case .fail(let failure, _)? = update.changes.first { throw failure }
    return facts
  }

  private let context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
  private var strong: HTTPFields {
    [.contentRange: "bytes 0-65535/\(size)", .eTag: "\"v1\"", .acceptRanges: "bytes"]
  }

  private func chunk(_ seq: Int, acked: Int64 = 0, of facts: TransferFacts) -> ChunkFacts {
    var chunk = ChunkFacts(seq: seq, range: facts.layout.range(seq))
    chunk.acked = acked
    chunk.body = chunk.rest
    return chunk
  }

  @Test func aStrongValidatorAndRangesCutTheFile() throws {
    let facts = try facts(strong)
    #expect(facts.layout.count == 4)
    #expect(proto.nextStep(facts) == .chunks)
    let request = try proto.request(.chunk(chunk(1, acked: 10, of: facts)), facts, context)
    #expect(request.method == .get)
    #expect(request.url == "http://h/a%20b")
    #expect(request.fields[.range] == "bytes=65546-131071")
    #expect(request.fields[.ifRange] == "\"v1\"")
  }

  /// Files between a few MiB and 32 MiB are fetched in parallel, too, but into no short ranges unless they are wanted.
  @Test(arguments: [
    (3, nil, 1), (4, nil, 1), (6, nil, 2), (8, nil, 2), (20, nil, 4), (33, nil, 4), (128, nil, 4), (130, nil, 5),
    (20, 8, 8), (3, 8, 3), (20, 1, 1), (33, 1, 2),
  ])
  func rangesOfAFileAreAsManyAsAreFetchedAtATime(_ mebibytes: Int, _ segments: Int?, _ count: Int) throws {
    var download = DownloadSettings(folder: NameBytes("/in"))
    download.segments = segments
    let settings = BatchSettings(destination: "http://h/", download: download)
    let made = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    var version = RemoteVersion(size: Int64(mebibytes) << 20)
    (version.etag, version.acceptsRanges) = ("\"v1\"", true)
    #expect(made.layout(of: version, ExpectedContent()).count == count)
  }

  @Test(arguments: ["W/\"v1\"", nil])
  func withoutAStrongValidatorTheFileComesInOneBody(_ etag: String?) throws {
    var head = strong
    head[.eTag] = etag
    let facts = try facts(head)
    #expect(facts.layout.count == 1)
    let request = try proto.request(.chunk(chunk(0, of: facts)), facts, context)
    #expect(request.fields[.range] == nil)
    #expect(request.fields[.ifRange] == nil)
  }

  /// The file was cut into ranges, its session is gone, and its server no longer sends a strong validator: ranges
  /// without one could belong to different versions.
  @Test func aFileThatWasCutIsNotGoneOnWithWithoutAValidator() throws {
    var facts = try facts(strong)
    #expect(facts.layout.count == 4)
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (206, [.contentRange: "bytes 0-65535/\(size)"], 64 << 10)
    guard case .failed(let failure, .permanent) = proto.interpret(reply, to: .create, facts, context).outcome else {
      return #expect(Bool(false))
    }
    #expect(failure.code == ErrorCode.sourceChanged)
    facts.session = nil
    #expect(throws: Failure.self) { try proto.request(.chunk(chunk(1, of: facts)), facts, context) }
  }

  /// The query is not part of the name, and percent-encoded characters of the name are.
  @Test(arguments: [("a.zip?v=1", true), ("page?file=a.zip", false), ("a%2Ezip", true), ("d.zip/page", false)])
  func aWebPageIsKnownByTheNameOfTheFile(_ key: String, _ isRefused: Bool) {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes(key), size: 0, mtimeMs: 0)
    let facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    let fields: HTTPFields = [.contentType: "text/html", .contentLength: "10"]
    let content = proto.content(status: 200, fields, of: .create, facts)
    let wasRefused = if case .refused = content { true } else { false }
    #expect(wasRefused == isRefused)
  }

  /// Even a range with the ETag of the version; a page that began as one goes on.
  @Test func aPageIsNoRangeOfAnythingElse() throws {
    var head = strong
    for isPage in [false, true] {
      head[.contentType] = isPage ? "text/html" : "application/zip"
      let facts = try facts(head)
      let fields: HTTPFields = [
        .contentRange: "bytes 65536-131071/\(size)", .eTag: "\"v1\"", .contentType: "text/html",
      ]
      let content = proto.content(status: 206, fields, of: .chunk(chunk(1, of: facts)), facts)
      guard case .refused(let meaning) = content else {
        #expect(isPage)
        continue
      }
      #expect(!isPage && text(meaning) == "source.changed permanent")
    }
  }

  /// nginx gives two files of the same second and length the same strong ETag.
  @Test(arguments: [(0, false), (1, false), (2, true), (29, true)])
  func theTagOfAFreshFileIsNotTrusted(_ seconds: Int, _ isTrusted: Bool) throws {
    var head = strong
    head[.lastModified] = "Fri, 20 Nov 2026 09:59:30 GMT"
    head[.date] = "Fri, 20 Nov 2026 09:59:\(30 + seconds) GMT"
    #expect(try facts(head).layout.count == (isTrusted ? 4 : 1))
    // A digest of the whole file reveals at the end what the ETag does not.
    head[try #require(HTTPField.Name("repr-digest"))] = "crc32c=:yZRlqg==:"
    #expect(try facts(head).layout.count == 4)
  }

  @Test func withoutRangesTheFileComesWithTheFirstAnswer() throws {
    let head: HTTPFields = [.contentLength: "70000", .eTag: "\"v1\""]
    let facts = try facts(head, status: 200, received: 70_000)
    #expect(facts.layout == ChunkLayout(whole: 70_000) && facts.isAllStored && facts.acked == 70_000)
    #expect(RemoteVersion(facts.session)?.hasRanges(facts.file.expected) == false)
    #expect(throws: Failure.self) { try self.facts(head, status: 200, received: 69_999) }
  }

  /// A chunked body ends where it says so. Any other one ends with the connection, and nobody can tell why that ended.
  @Test(arguments: [
    ("chunked", nil, "size"), ("chunked", "9", "size"), ("gzip, Chunked", nil, "size"), (nil, nil, "none"),
    ("identity", nil, "none"), ("identity", "9", "none"), ("chunked, identity", nil, "none"), ("gzip", nil, "none"),
    ("chunked,", nil, "size"), (" ", nil, "none"),
  ])
  func aFileWithoutALengthIsAsLongAsItsBody(_ coding: String?, _ length: String?, _ confirmation: String) throws {
    var head = HTTPFields()
    (head[.transferEncoding], head[.contentLength]) = (coding, length)
    var facts = try facts(head, status: 200, received: 10)
    #expect(facts.file.size == 10 && facts.isAllStored)
    facts.parts = [PartReceipt(seq: 0, length: 10, etag: "", digest: nil, confirmation: .size)]
    guard case .place(let proof) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.confirmation.rawValue == confirmation)
    facts.file.expected.size = 11
    guard case .fail(let failure) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(failure.code == ErrorCode.integrityMismatch)
  }

  @Test func anEmptyFileHasNoBeginning() throws {
    let facts = try facts([.contentRange: "bytes */0"], status: 416, received: 0)
    #expect(facts.layout == ChunkLayout(whole: 0) && facts.isAllStored)
  }

  @Test func theFirstRequestAsksForTheBeginning() throws {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a b"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    let request = try proto.request(.create, facts, context)
    #expect(request.method == .get && request.fields[.range] == "bytes=0-65535")
    #expect(request.fields[.ifRange] == nil && request.fields[.acceptEncoding] == "identity")
    // The body may be the whole of a large file; it times out when almost nothing of it moves.
    #expect(request.limits == .body)
    facts.learned.refusesRanges = true
    let plain = RequestContext(wallMs: 0, credential: nil, learned: facts.learned)
    #expect(try proto.request(.create, facts, plain).fields[.range] == nil)
  }

  /// Answers to the first request that make ranges of this server unusable.
  @Test(arguments: [
    "bytes 1-65535/204800", "bytes 0-65535/*", "bytes 0-65536/204800", "bytes */204800", "items 0-1/2", nil,
  ])
  func aServerWhoseRangesAreWrongIsAskedForTheWhole(_ range: String?) throws {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    var fields: HTTPFields = [.contentType: "multipart/byteranges"]
    fields[.contentRange] = range
    guard case .refused(let meaning) = proto.content(status: 206, fields, of: .create, facts),
      case .failed(_, .repair) = meaning.outcome
    else { return #expect(Bool(false)) }
    #expect(meaning.learned?.refusesRanges == true)
    facts.learned.refusesRanges = true
    guard case .refused(let again) = proto.content(status: 206, fields, of: .create, facts),
      case .failed(_, .permanent) = again.outcome
    else { return #expect(Bool(false)) }
  }

  @Test func aDateIsAValidatorWhenItIsOldEnough() throws {
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    for (date, etag, validator) in [
      ("Sun, 06 Nov 1994 08:50:37 GMT", nil, modified), ("Sun, 06 Nov 1994 08:50:36 GMT", nil, nil), (nil, nil, nil),
      ("Sun, 06 Nov 1994 08:50:37 GMT", "W/\"1\"", nil), ("Sun, 06 Nov 1994 08:50:36 GMT", "\"1\"", "\"1\""),
    ] as [(String?, String?, String?)] {
      var head = strong
      (head[.lastModified], head[.date], head[.eTag]) = (modified, date, etag)
      let facts = try facts(head)
      #expect(RemoteVersion(facts.session)?.validator == validator)
      #expect(facts.layout.count == (validator == nil ? 1 : 4))
      #expect(facts.acked == (validator == nil ? 0 : 64 << 10))
    }
  }

  private func code(_ status: Int, _ fields: HTTPFields, ofWhole: Bool = false) throws -> ErrorCode? {
    var head = strong
    if ofWhole { head[.eTag] = "W/\"v1\"" }
    let facts = try facts(head)
    let chunk = chunk(ofWhole ? 0 : 1, of: facts)
    switch proto.content(status: status, fields, of: .chunk(chunk), facts) {
    case .refused(let meaning):
      guard case .failed(let failure, .permanent) = meaning.outcome else { return .engineBug }
      return failure.code
    case .bytes(let from, _, _):
      #expect(from <= chunk.body.offset)
      return nil
    case .other, .bytesToEnd: return nil
    }
  }

  @Test func onlyTheRangeThatWasAskedForIsContent() throws {
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204800", .eTag: "\"v1\""]) == nil)
    // A range may be shorter than requested, and it may begin earlier.
    #expect(try code(206, [.contentRange: "bytes 65536-65536/204800", .eTag: "\"v1\""]) == nil)
    #expect(try code(206, [.contentRange: "bytes 65535-131071/204800", .eTag: "\"v1\""]) == nil)
    #expect(try code(206, [.contentRange: "bytes 65536-131071/*", .eTag: "\"v1\""]) == nil)
    #expect(try code(206, [.contentRange: "bytes 0-65535/204800", .eTag: "\"v1\""]) == .protoBadReply)
    #expect(try code(206, [.contentRange: "bytes 65537-131071/204800", .eTag: "\"v1\""]) == .protoBadReply)
    #expect(try code(206, [.contentRange: "bytes 65536-131072/204800", .eTag: "\"v1\""]) == .protoBadReply)
    let longer: HTTPFields = [.contentRange: "bytes 65536-131071/204800", .eTag: "\"v1\"", .contentLength: "9"]
    #expect(try code(206, longer) == .protoBadReply)
    #expect(try code(206, [:]) == .protoBadReply)
    #expect(try code(206, [.contentType: "multipart/byteranges; boundary=x"]) == .protoBadReply)
    #expect(try code(206, [.contentRange: "bytes */204800"]) == .protoBadReply)
    #expect(
      try code(206, [.contentRange: "bytes 65536-131071/204800", .contentEncoding: "gzip"]) == .protoBadReply)
  }

  /// A proxy may drop the validator from a range, and `If-Range` from the request for it (RFC 9110 section 15.3.7).
  @Test func aRangeThatDoesNotNameItsVersionIsNoContent() throws {
    let range: HTTPFields = [.contentRange: "bytes 65536-131071/204800"]
    let (date, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT")
    #expect(try code(206, range) == .sourceChanged)
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204800", .lastModified: date]) == .sourceChanged)
    var head = strong
    (head[.lastModified], head[.date], head[.eTag]) = (date, later, nil)
    let facts = try facts(head)
    for acked: Int64 in [0, 9] {
      let chunk = chunk(1, acked: acked, of: facts)
      var fields: HTTPFields = [.contentRange: "bytes \(65_536 + acked)-131071/204800"]
      guard case .refused(let meaning) = proto.content(status: 206, fields, of: .chunk(chunk), facts) else {
        return #expect(Bool(false))
      }
      #expect(meaning.learned?.refusesRanges == true)
      fields[.lastModified] = date
      guard case .bytes = proto.content(status: 206, fields, of: .chunk(chunk), facts) else {
        return #expect(Bool(false))
      }
      // Two ETags of the same date may come, of two versions; so no range with one belongs to an answer without.
      fields[.eTag] = "\"v2\""
      guard case .refused(let meaning) = proto.content(status: 206, fields, of: .chunk(chunk), facts) else {
        return #expect(Bool(false))
      }
      #expect(meaning.learned?.refusesRanges == true)
    }
  }

  @Test func anotherVersionIsNoContent() throws {
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204801"]) == .sourceChanged)
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204800", .eTag: "\"v2\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204800", .eTag: "\"v2\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204799", .eTag: "\"v1\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204800", .eTag: "\"v2\""], ofWhole: true) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204799"], ofWhole: true) == .sourceChanged)
    #expect(try code(206, [.contentRange: "bytes 0-9/204800"], ofWhole: true) == .protoBadReply)
  }

  /// The file restarts, and ranges are not requested from its server again.
  @Test func aServerThatIgnoresRangesAfterAllIsRemembered() throws {
    let facts = try facts(strong)
    let fields: HTTPFields = [.contentLength: "204800", .eTag: "\"v1\""]
    guard case .refused(let meaning) = proto.content(status: 200, fields, of: .chunk(chunk(1, of: facts)), facts),
      case .failed(let failure, .permanent) = meaning.outcome
    else { return #expect(Bool(false)) }
    #expect(failure.code == .sourceChanged && meaning.learned?.refusesRanges == true)
  }

  private func outcome(_ status: Int, received: Int64, curlCode: Int32 = 0, of facts: TransferFacts) -> Interpretation {
    var reply = TransferReply()
    (reply.status, reply.bytesReceived, reply.curlCode) = (status, received, curlCode)
    return proto.interpret(reply, to: .chunk(chunk(facts.layout.count > 1 ? 1 : 0, of: facts)), facts, context)
  }

  @Test func whatCameBeforeABodyBrokeOffIsKept() throws {
    let facts = try facts(strong)
    guard case .stored(let part, nil) = outcome(206, received: 65_536, of: facts).outcome else {
      return #expect(Bool(false))
    }
    #expect(part.length == 65_536)
    guard case .advanced(let acked) = outcome(206, received: 10, curlCode: 18, of: facts).outcome else {
      return #expect(Bool(false))
    }
    #expect(acked == 10)
    // An answer may be shorter than requested.
    guard case .advanced(65_535) = outcome(206, received: 65_535, of: facts).outcome else {
      return #expect(Bool(false))
    }
    guard case .failed(let failure, .retry) = outcome(206, received: 0, curlCode: 56, of: facts).outcome else {
      return #expect(Bool(false))
    }
    #expect(failure.code == .netReset)
  }

  @Test func aBodyInOnePieceBeginsAgain() throws {
    var head = strong
    head[.eTag] = nil
    guard case .failed(_, .retry) = outcome(200, received: 10, curlCode: 18, of: try facts(head)).outcome else {
      return #expect(Bool(false))
    }
  }

  @Test func aRangeBehindTheEndMeansAnotherVersion() throws {
    guard case .failed(let failure, .permanent) = outcome(416, received: 0, of: try facts(strong)).outcome else {
      return #expect(Bool(false))
    }
    #expect(failure.code == .sourceChanged)
  }

  /// Whatever is stored, a range is requested only of bytes before the end: a 416 never says that all of them are here.
  /// If it names the same length, the server sends no ranges of the file.
  @Test(arguments: [0, 1, 70_000, (200 << 10) - 1] as [Int64])
  func noRangeIsRequestedBehindTheEnd(_ stored: Int64) throws {
    let facts = try facts(strong)
    let seq = Int(stored / facts.layout.chunkSize)
    var chunk = ChunkFacts(seq: seq, range: facts.layout.range(seq), acked: stored - facts.layout.range(seq).offset)
    chunk.body = proto.bodyRange(of: chunk, facts)
    let request = try proto.request(.chunk(chunk), facts, context)
    #expect(request.fields[.range]?.hasPrefix("bytes=\(stored)-") == true && stored < facts.layout.size)
    var reply = TransferReply()
    (reply.status, reply.fields) = (416, [.contentRange: "bytes */\(facts.layout.size)"])
    // What other files have taught meanwhile is not forgotten.
    var taught = context
    taught.learned.misusesConditions = true
    let meaning = proto.interpret(reply, to: .chunk(chunk), facts, taught)
    guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .sourceChanged && meaning.learned?.refusesRanges == true)
    #expect(meaning.learned?.misusesConditions == true)
  }

  @Test func theDigestOfTheServerIsCompared() throws {
    let (first, second) = (Array("some".utf8), Array(" bytes".utf8))
    let digest = RunningDigest.of(first + second, .crc32c)
    var head = strong
    head[.contentRange] = "bytes 0-9/10"
    head[HTTPField.Name("repr-digest")!] = "crc32c=:\(base64(digest.bytes)):"
    var facts = try facts(head, received: 10)
    facts.layout = ChunkLayout(size: 10, chunkSize: 4, count: 2)
    facts.storedChunks = 2
    facts.parts = [first, second].enumerated().map { seq, bytes in
      PartReceipt(
        seq: seq, length: Int64(bytes.count), etag: "", digest: RunningDigest.of(bytes, .crc32c), confirmation: .size)
    }
    guard case .place(let proof) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.confirmation == .digest && proof.digest == digest && proof.remoteDigest == digest)
    facts.parts[1].digest = RunningDigest.of(first, .crc32c)
    guard case .fail(let failure) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(failure.code == .integrityMismatch)
    facts.parts[1].digest = nil
    guard case .place = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proto.digestsToCompare(facts) == [digest])
  }
}
