import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Files that a server compresses although nothing was asked for.
@Suite struct GetCodingTests {
  private let proto: GetProtocol

  init() throws {
    let settings = BatchSettings(
      destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func facts(_ name: String, _ learned: LearnedFacts = LearnedFacts()) -> TransferFacts {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes(name), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    facts.learned = learned
    return facts
  }

  private static let coded: HTTPFields = [
    .contentEncoding: "GZip", .contentLength: "60", .eTag: "\"v1\"", HTTPField.Name("Repr-Digest")!: "md5=:\(md5):",
  ]
  private static let md5 = base64(RunningDigest.of([1], .md5).bytes)

  private func refusal(_ name: String, _ coding: String, status: Int = 200, _ learned: LearnedFacts = LearnedFacts())
    -> Interpretation?
  {
    var fields = Self.coded
    fields[.contentEncoding] = coding
    let content = proto.content(status: status, fields, of: .create, facts(name, learned))
    guard case .refused(let meaning) = content else { return nil }
    return meaning
  }

  private var taught: LearnedFacts {
    var learned = LearnedFacts()
    learned.codedKinds = ["json"]
    return learned
  }

  /// The second request is for all of it, and only for files of this kind.
  @Test func itIsRequestedInOneBodyWithoutItsCoding() throws {
    let meaning = try #require(refusal("a/b.JSON", "gzip", status: 206))
    guard case .failed(let failure, .repair) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .protoBadReply && meaning.learned?.codedKinds == ["json"])
    let context = RequestContext(wallMs: 0, credential: nil, learned: taught)
    let request = try proto.request(.create, facts("a/b.json", taught), context)
    #expect(request.removesCodings && request.fields[.range] == nil && request.fields[.acceptEncoding] == "identity")
    for other in ["a/b.bin", "a/b", "a/json.gz"] {
      let request = try proto.request(.create, facts(other, taught), context)
      #expect(!request.removesCodings && request.fields[.range] != nil, "\(other)")
    }
  }

  /// Web servers announce the format in which files are stored by their names.
  @Test func whatMayBeStoredSoKeepsItsBytes() throws {
    for name in ["a.gz", "a.tgz", "a.SVGZ", "a.taz", "a.bgz"] { #expect(refusal(name, "gzip") == nil, "\(name)") }
    for name in ["a.gz.1", "a.svgz.bak"] {
      let meaning = refusal(name, "gzip")
      guard case .failed(let failure, .permanent) = meaning?.outcome else {
        Issue.record("\(name): \(String(describing: meaning))")
        continue
      }
      #expect(failure.code == .protoBadReply && meaning?.learned == nil)
    }
    #expect(refusal("a.br.json", "gzip")?.learned?.codedKinds == ["json"])
    // Also after another file that ends in the same way.
    let request = try proto.request(
      .create, facts("a.gz.json", taught), RequestContext(wallMs: 0, credential: nil, learned: taught))
    #expect(!request.removesCodings)
  }

  /// Length and digests in the answer are those of the coded body.
  @Test func whatIsSaidOfTheCodedBodyProvesNothing() throws {
    var facts = facts("b.json", taught)
    guard case .bytes(0, nil, nil) = proto.content(status: 200, Self.coded, of: .create, facts) else {
      return #expect(Bool(false))
    }
    let head = proto.head(status: 200, Self.coded, facts)
    #expect(head.size == nil && head.digests.isEmpty)
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (200, Self.coded, 500)
    let context = RequestContext(wallMs: 0, credential: nil, learned: taught)
    _ = facts.apply(proto.interpret(reply, to: .create, facts, context), to: .create, proto.abilities)
    let version = try #require(RemoteVersion(facts.session))
    #expect(version.size == 500 && version.digests.isEmpty && !version.isEndUncertain && !version.acceptsRanges)
    facts.parts = [PartReceipt(seq: 0, length: 500, etag: "", digest: nil, confirmation: .size)]
    guard case .place(let proof) = proto.nextStep(facts) else { return #expect(Bool(false)) }
    #expect(proof.confirmation == .size)
  }

  @Test func whatCannotBeRemovedIsRefused() {
    let refused: [(String, String, Int, LearnedFacts)] = [
      ("b.json", "br", 200, LearnedFacts()), ("b.tar.gz", "br", 200, LearnedFacts()),
      ("b.zst", "gzip", 200, LearnedFacts()), ("b.json", "gzip", 206, taught), ("b.json", "br", 200, taught),
    ]
    for (name, coding, status, learned) in refused {
      guard case .failed(let failure, .permanent)? = refusal(name, coding, status: status, learned)?.outcome else {
        return #expect(Bool(false), "\(name) \(coding)")
      }
      #expect(failure.code == .protoBadReply)
    }
    #expect(refusal("b.tar.gz", "gzip") == nil, "that is how it is stored")
  }

  @Test func aBodyWithItsCodingIsRequestedAgain() {
    var reply = TransferReply()
    (reply.status, reply.fields) = (200, Self.coded)
    var context = RequestContext(wallMs: 0, credential: nil, learned: taught)
    context.learnedWhenSent = LearnedFacts()
    let meaning = proto.interpret(reply, to: .create, facts("b.json", taught), context)
    guard case .failed(let failure, .retry) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .protoBadReply)
  }
}
