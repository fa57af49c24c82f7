import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Objects that were uploaded in parts: the question for them, and the meaning of its answers.
@Suite struct S3PartsTests {
  private static let mib: Int64 = 1 << 20
  private let size = 100 * Self.mib
  private let asked = StepRequest.probe(marker: "parts")
  private let proto: GetProtocol

  init() throws {
    let settings = BatchSettings(
      destination: "s3://examplebucket/", options: ["endpoint-url": .text("http://127.0.0.1:5100")],
      download: DownloadSettings(folder: NameBytes("/in")))
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func reply(_ status: Int, _ fields: HTTPFields, received: Int64 = 0) -> TransferReply {
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (status, fields, received)
    return reply
  }

  /// The facts after the first answer.
  private func begun(_ etag: String, learned: LearnedFacts = LearnedFacts()) -> TransferFacts {
    let file = FileFacts(uid: Scene.uid, key: NameBytes("k"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    let first = reply(206, [.contentRange: "bytes 0-1048575/\(size)", .eTag: etag], received: Self.mib)
    let context = Scene.context { $0 = learned }
    _ = facts.apply(proto.interpret(first, to: .create, facts, context), to: .create, proto.abilities)
    return facts
  }

  private func told(_ count: Int, _ range: String) -> TransferReply {
    reply(206, [HTTPField.Name("x-amz-mp-parts-count")!: String(count), .contentRange: range])
  }

  private func answered(_ answer: TransferReply, _ facts: TransferFacts) -> (TransferFacts, Interpretation) {
    var facts = facts
    let meaning = proto.interpret(answer, to: asked, facts, Scene.context())
    _ = facts.apply(meaning, to: asked, proto.abilities)
    return (facts, meaning)
  }

  @Test func theFirstPartIsAskedFor() throws {
    let facts = begun("\"0123456789abcdef0123456789abcdef-13\"")
    #expect(facts.layout.count == 1)
    #expect(proto.nextStep(facts) == .control(asked))
    let request = try proto.request(asked, facts, Scene.context())
    #expect(request.method == .head && request.url.hasSuffix("/k?partNumber=1"))
    #expect(request.fields[.ifMatch] == nil && request.fields[.range] == nil)
  }

  @Test(arguments: [
    "\"0123456789abcdef0123456789abcdef\"", "\"0123456789abcdef0123456789abcdef-1\"", "\"a-b-2\"",
    "\"0123456789abcdef0123456789abcdef-10001\"", "W/\"0123456789abcdef0123456789abcdef-2\"",
  ])
  func otherETagsAreNotThoseOfParts(_ etag: String) {
    #expect(!PartNotes.areWanted(begun(etag).session))
  }

  /// 13 parts of 8 MiB, the last of 4.
  @Test func chunksAreWholeParts() {
    let (facts, meaning) = answered(told(13, "bytes 0-8388607/\(size)"), begun("\"0123456789abcdef-13\""))
    #expect(facts.layout == ChunkLayout(size: size, chunkSize: 24 * Self.mib) && facts.acked == Self.mib)
    #expect(meaning.learned == nil && proto.nextStep(facts) == .chunks)
  }

  /// Of another object, of parts that cannot all be of this length, and of another number of parts.
  @Test(arguments: [
    (13, "bytes 0-8388607/9"), (13, "bytes 0-4194303/104857600"), (13, "bytes 0-10485759/104857600"),
    (12, "bytes 0-8388607/104857600"), (13, "bytes */104857600"),
  ])
  func partsThatDoNotFitAreNotUsed(_ count: Int, _ range: String) {
    let (facts, meaning) = answered(told(count, range), begun("\"0123456789abcdef-13\""))
    #expect(facts.layout == ChunkLayout(size: size, chunkSize: 25 * Self.mib))
    #expect(meaning.learned == nil && proto.nextStep(facts) == .chunks)
  }

  /// The product of count and length would not be an `Int64`.
  @Test func partsOfAnAbsurdLengthAreCompared() {
    let size: Int64 = 900_000_000_000_000_000
    #expect(StoredParts(told(10_000, "bytes 0-\(size - 1)/\(size)"), of: size, count: 10_000) == nil)
    let half = told(2, "bytes 0-\(size / 2 - 1)/\(size)")
    #expect(StoredParts(half, of: size, count: 2) == StoredParts(length: size / 2))
    #expect(StoredParts(half, of: size, count: 3) == nil)
    let digest = Digest(.crc32c, [0, 0, 0, 1])
    let parts = (1...2).map { PartList.Part(number: $0, length: Int64.max) }
    #expect(CompositeNotes(digest, count: 2).adding(PartList(etag: "e", parts: parts), of: .max) == nil)
  }

  /// A server that does not know the question is not asked again for other files.
  @Test(arguments: [(200, true), (400, true), (403, true), (405, true), (501, true), (404, false), (412, false)])
  func aRefusalIsRemembered(_ status: Int, _ isRemembered: Bool) throws {
    let (facts, meaning) = answered(reply(status, [:]), begun("\"0123456789abcdef-13\""))
    #expect(facts.layout.count == 4 && proto.nextStep(facts) == .chunks)
    #expect((meaning.learned?.refusesParts ?? false) == isRemembered)
    guard let learned = meaning.learned else { return }
    let next = begun("\"0123456789abcdef-13\"", learned: learned)
    #expect(next.layout.count == 4 && proto.nextStep(next) == .chunks)
  }

  /// A disturbance does not fail the file, nor does it say anything about other files.
  @Test(arguments: [429, 500, 503])
  func aDisturbanceIsOfTheHost(_ status: Int) {
    let (facts, meaning) = answered(reply(status, [:]), begun("\"0123456789abcdef-13\""))
    #expect(facts.layout.count == 4 && meaning.learned == nil)
    guard case .failure? = meaning.tolerated else { return #expect(Bool(false), "\(meaning)") }
  }

  // MARK: - Composite checksums

  private let etag = "\"0123456789abcdef-3\""

  /// A completely stored object of three parts, whose server has described it with these fields.
  private func stored(_ type: String?, _ checksum: String?) -> TransferFacts {
    var facts = answered(told(3, "bytes 0-41943039/\(size)"), begun(etag)).0
    facts.storedChunks = facts.layout.count
    var fields: HTTPFields = [.eTag: etag]
    fields[HTTPField.Name("x-amz-checksum-type")!] = type
    fields[HTTPField.Name("x-amz-checksum-crc32c")!] = checksum
    let probe = StepRequest.probe(marker: nil)
    _ = facts.apply(proto.interpret(reply(200, fields), to: probe, facts, Scene.context()), to: probe, proto.abilities)
    return facts
  }

  private func list(_ lengths: [Int64], from first: Int = 1, etag: String = "0123456789abcdef-3") -> TransferReply {
    var answer = reply(200, [:])
    let parts = lengths.enumerated().map { n, length in
      "<Part><PartNumber>\(first + n)</PartNumber><Size>\(length)</Size></Part>"
    }
    let xml = "<GetObjectAttributesResponse><ETag>\(etag)</ETag><ObjectParts>"
    answer.body = Array((xml + parts.joined() + "</ObjectParts></GetObjectAttributesResponse>").utf8)
    return answer
  }

  private let listed = StepRequest.probe(marker: "checksums")

  private func proof(_ facts: TransferFacts) -> TransferModel.Confirmation? {
    guard case .place(let proof) = proto.nextStep(facts) else { return nil }
    return proof.confirmation
  }

  /// The list comes page by page; only with all of it the checksum says of which bytes it is.
  @Test func aCompositeChecksumIsUsedIfAllPartsAreKnown() throws {
    var facts = stored("COMPOSITE", "AAAAAQ==-3")
    let long = 40 * Self.mib
    let pages: [(TransferReply, String?)] = [(list([long]), nil), (list([long, 20 * Self.mib], from: 2), "1")]
    for (page, after) in pages {
      #expect(proto.nextStep(facts) == .control(listed) && proto.partedDigest(facts) == nil)
      let request = try proto.request(listed, facts, Scene.context())
      #expect(request.method == .get && request.url.hasSuffix("/k?attributes="))
      #expect(request.fields[HTTPField.Name("x-amz-part-number-marker")!] == after)
      #expect(request.fields[HTTPField.Name("x-amz-object-attributes")!] == "ETag,ObjectParts")
      _ = facts.apply(proto.interpret(page, to: listed, facts, Scene.context()), to: listed, proto.abilities)
    }
    #expect(proof(facts) == .digest)
    #expect(proto.partedDigest(facts) == PartedDigest(partLength: long, Digest(.crc32c, [0, 0, 0, 1])))
  }

  /// A checksum of the whole object is better, and one without the number of parts is not one of parts.
  @Test(
    arguments: [("FULL_OBJECT", "AAAAAQ=="), ("COMPOSITE", "AAAAAQ=="), ("COMPOSITE", "AAAAAQ==-2"), (nil, nil)]
      as [(String?, String?)])
  func otherChecksumsAskForNoList(_ type: String?, _ checksum: String?) {
    #expect(proof(stored(type, checksum)) == (type == "FULL_OBJECT" ? .digest : .size))
  }

  /// Parts of different lengths, gaps, of another version, and lists that are none.
  @Test func aListThatDoesNotFitProvesNothing() {
    let (long, short) = (40 * Self.mib, 20 * Self.mib)
    let wrong = [
      list([long, short, long]), list([long, long, short + 1]), list([long, long, long]), list([long, long], from: 2),
      list([long, long, short], etag: "other-3"), list([]), list([0, long, short]), reply(200, [:]), reply(404, [:]),
    ]
    for (n, answer) in wrong.enumerated() {
      var facts = stored("COMPOSITE", "AAAAAQ==-3")
      _ = facts.apply(proto.interpret(answer, to: listed, facts, Scene.context()), to: listed, proto.abilities)
      #expect(proof(facts) == .size, "\(n)")
    }
  }

  @Test(arguments: [(403, true), (501, true), (404, false), (503, false)])
  func aRefusedListIsRemembered(_ status: Int, _ isRemembered: Bool) {
    var facts = stored("COMPOSITE", "AAAAAQ==-3")
    let meaning = proto.interpret(reply(status, [:]), to: listed, facts, Scene.context())
    #expect((meaning.learned?.refusesPartLists ?? false) == isRemembered)
    facts.learned.refusesPartLists = true
    #expect(proof(facts) == .size)
  }

  /// A disturbance does not decide how well the content is proven: the list is requested again, a few times.
  @Test(arguments: [500, 503])
  func aDisturbedListIsRequestedAgain(_ status: Int) {
    var (facts, context) = (stored("COMPOSITE", "AAAAAQ==-3"), Scene.context())
    let meaning = proto.interpret(reply(status, [:]), to: listed, facts, context)
    guard case .failed(_, .retry) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
    _ = facts.apply(meaning, to: listed, proto.abilities)
    #expect(proto.nextStep(facts) == .control(listed))
    context.failures = 4
    _ = facts.apply(proto.interpret(reply(status, [:]), to: listed, facts, context), to: listed, proto.abilities)
    #expect(proof(facts) == .size)
  }

  @Test func anExpiredCredentialDoesNotEndTheQuestions() {
    var answer = reply(400, [:])
    answer.body = Array("<Error><Code>ExpiredToken</Code></Error>".utf8)
    let facts = stored("COMPOSITE", "AAAAAQ==-3")
    let meaning = proto.interpret(answer, to: listed, facts, Scene.context())
    guard case .failed(_, .refreshCredential) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
    #expect(meaning.learned == nil && meaning.notes.isEmpty)
  }

  @Test func noListIsRequestedBesideOtherDigests() {
    var facts = stored("COMPOSITE", "AAAAAQ==-3")
    #expect(proto.asksForChecksums(facts))
    facts.file.expected.digests = [Digest(.sha256, Array(repeating: 1, count: 32))]
    #expect(!proto.asksForChecksums(facts))
    facts.file.expected.digests = []
    facts.file.expected.pieces = PieceDigests(.sha1, length: size, bytes: Array(repeating: 1, count: 20))
    #expect(!proto.asksForChecksums(facts))
  }

  /// Those with a length are not the beginning of the file.
  @Test func answersToQuestionsContainNothingOfTheFile() {
    let facts = begun("\"0123456789abcdef-13\"")
    let range: HTTPFields = [.contentRange: "bytes 0-8388607/\(size)", .contentLength: "8388608"]
    for (step, status) in [(asked, 206), (listed, 200), (StepRequest.probe(marker: nil), 200)] {
      guard case .other = proto.content(status: status, range, of: step, facts) else {
        #expect(Bool(false), "\(step)")
        continue
      }
    }
  }

  @Test(
    arguments: [
      // Parts, wanted, least, most, length of the chunks.
      (8, 32, 1, 48, 32), (5, 32, 1, 48, 30), (40, 32, 1, 48, 40), (64, 32, 1, 48, 32), (50, 32, 1, 32, 25),
      (5, 8, 12, 12, 15), (8, 4, 5, 4, nil), (49, 24, 1, 36, 7), (47, 12, 1, 12, nil),
    ] as [(Int64, Int64, Int64, Int64, Int64?)])
  func theLengthOfChunks(_ part: Int64, _ wanted: Int64, _ least: Int64, _ most: Int64, _ length: Int64?) {
    #expect(StoredParts(length: part).chunkLength(near: wanted, least: least, most: most) == length)
  }
}
