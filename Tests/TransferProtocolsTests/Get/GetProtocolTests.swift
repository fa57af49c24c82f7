import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What is asked for, and what is taken for content.
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

  private func facts(_ head: HTTPFields) throws -> TransferFacts {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a%20b"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    #expect(proto.nextStep(facts) == .control(.create))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    var reply = TransferReply()
    (reply.status, reply.fields) = (200, head)
    let update = facts.apply(proto.interpret(reply, to: .create, facts, context), to: .create, proto.abilities)
    if case .fail(let failure, _)? = update.changes.first { throw failure }
    facts.layout = try proto.layout(facts)
    facts.file.size = facts.layout.size
    return facts
  }

  private let context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
  private var strong: HTTPFields {
    [.contentLength: "\(size)", .eTag: "\"v1\"", .acceptRanges: "bytes"]
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

  @Test func withoutRangesTheFileComesInOneBody() throws {
    var head = strong
    head[.acceptRanges] = "none"
    #expect(try facts(head).layout.count == 1)
  }

  @Test func anEmptyFileIsAskedForWhole() throws {
    var head = strong
    head[.contentLength] = "0"
    let facts = try facts(head)
    #expect(facts.layout.count == 1)
    #expect(try proto.request(.chunk(chunk(0, of: facts)), facts, context).fields[.range] == nil)
  }

  @Test func aFileWithoutALengthIsRefused() throws {
    var head = strong
    head[.contentLength] = nil
    #expect(throws: Failure.self) { try facts(head) }
  }

  private func code(_ status: Int, _ fields: HTTPFields, ofWhole: Bool = false) throws -> ErrorCode? {
    var head = strong
    if ofWhole { head[.acceptRanges] = nil }
    let facts = try facts(head)
    let chunk = chunk(ofWhole ? 0 : 1, of: facts)
    switch proto.content(status: status, fields, of: chunk, facts) {
    case .failure(let failure): return failure.code
    case .success(let range):
      #expect(range == nil || range?.offset == chunk.body.offset)
      return nil
    }
  }

  @Test func onlyTheRangeThatWasAskedForIsContent() throws {
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204800", .eTag: "\"v1\""]) == nil)
    // Fewer bytes than asked for are legal.
    #expect(try code(206, [.contentRange: "bytes 65536-65536/204800"]) == nil)
    #expect(try code(206, [.contentRange: "bytes 65535-131071/204800"]) == .protoBadReply)
    #expect(try code(206, [.contentRange: "bytes 65536-131072/204800"]) == .protoBadReply)
    #expect(try code(206, [:]) == .protoBadReply)
    #expect(try code(206, [.contentRange: "bytes */204800"]) == .protoBadReply)
    #expect(
      try code(206, [.contentRange: "bytes 65536-131071/204800", .contentEncoding: "gzip"]) == .protoBadReply)
  }

  @Test func anotherVersionIsNoContent() throws {
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204801"]) == .sourceChanged)
    #expect(try code(206, [.contentRange: "bytes 65536-131071/204800", .eTag: "\"v2\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204800", .eTag: "\"v2\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204799", .eTag: "\"v1\""]) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204800", .eTag: "\"v2\""], ofWhole: true) == .sourceChanged)
    #expect(try code(200, [.contentLength: "204799"], ofWhole: true) == .sourceChanged)
  }

  @Test func aServerThatIgnoresRangesAfterAllIsNotBelieved() throws {
    #expect(try code(200, [.contentLength: "204800", .eTag: "\"v1\""]) == .protoUnsupported)
    #expect(try code(206, [.contentRange: "bytes 0-9/204800"], ofWhole: true) == .protoBadReply)
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
    // An answer may be shorter than what was asked for.
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
    head[.acceptRanges] = nil
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

  @Test func theDigestOfTheServerIsCompared() throws {
    let (first, second) = (Array("some".utf8), Array(" bytes".utf8))
    let digest = RunningDigest.of(first + second, .crc32c)
    var head = strong
    head[.contentLength] = "10"
    head[HTTPField.Name("repr-digest")!] = "crc32c=:\(base64(digest.bytes)):"
    var facts = try facts(head)
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
    guard case .place(let unproved) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(unproved.confirmation == .size && unproved.digest == nil)
  }
}
