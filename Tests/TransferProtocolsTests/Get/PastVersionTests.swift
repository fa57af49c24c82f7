import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What is asked about a file that was fetched before, and which answers show that it is unchanged.
@Suite struct PastVersionTests {
  private let proto: GetProtocol
  private let old = "Fri, 20 Nov 2026 08:00:00 GMT"
  private let now = "Fri, 20 Nov 2026 10:00:00 GMT"

  init() throws {
    let settings = BatchSettings(
      destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in"), overwrites: true))
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func facts(_ head: HTTPFields, _ expected: ExpectedContent = ExpectedContent()) -> TransferFacts {
    let version = RemoteVersion(size: 1_000, head, isWhole: true, wallMs: 0)
    var facts = TransferFacts(
      file: FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: 0, mtimeMs: 0),
      layout: ChunkLayout(whole: 0))
    facts.file.expected = expected
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    facts.past = PastDownload(
      id: FileID(rawValue: 1), identity: SourceIdentity(size: 1_000, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1),
      session: SessionFacts(remoteID: version.name, intendedAtMs: 0, notes: version.notes),
      layout: ChunkLayout(size: 1_000, chunkSize: 300), proof: FileProof(confirmation: .size, digest: Self.digest),
      expected: ExpectedContent(digests: [Self.sha]))
    return facts
  }

  private static let digest = RunningDigest.of([1], .crc32c)
  private static let sha = RunningDigest.of([1], .sha256)

  private func context(holdsPast: Bool = true) -> RequestContext {
    var context = RequestContext(wallMs: 0, credential: nil, learned: LearnedFacts())
    context.holdsPast = holdsPast
    return context
  }

  private func head(_ etag: String?, modified: String? = nil) -> HTTPFields {
    var head: HTTPFields = [.date: now]
    (head[.eTag], head[.lastModified]) = (etag, modified ?? old)
    return head
  }

  private func conditions(_ facts: TransferFacts, _ context: RequestContext) throws -> [String?] {
    let request = try proto.request(.create, facts, context)
    return [request.fields[.ifNoneMatch], request.fields[.ifModifiedSince]]
  }

  @Test func aStrongValidatorIsAskedBy() throws {
    #expect(try conditions(facts(head("\"v1\"")), context()) == ["\"v1\"", nil])
    #expect(try conditions(facts(head(nil)), context()) == [nil, old])
    #expect(try conditions(facts(head("W/\"v1\"")), context()) == [nil, nil])
    // Modified so recently that another version could get the same ETag; a date within a minute of the answer.
    #expect(try conditions(facts(head("\"v1\"", modified: now)), context()) == [nil, nil])
    #expect(try conditions(facts(head(nil, modified: "Fri, 20 Nov 2026 09:59:30 GMT")), context()) == [nil, nil])
  }

  /// Nor does a digest of the whole file in the same answer help: a body that is not sent has no digest.
  @Test func aDigestDoesNotMakeAFreshTagLast() throws {
    var fresh = head("\"v1\"", modified: now)
    fresh[try #require(HTTPField.Name("repr-digest"))] = "crc32c=:yZRlqg==:"
    #expect(try conditions(facts(fresh), context()) == [nil, nil])
  }

  @Test func nothingIsAskedWhereItCouldBeOfNoUse() throws {
    let known = head("\"v1\"")
    #expect(try conditions(facts(known), context(holdsPast: false)) == [nil, nil])
    let other = ExpectedContent(digests: [RunningDigest.of([2], .sha256)])
    #expect(try conditions(facts(known, other), context()) == [nil, nil])
    #expect(try conditions(facts(known, ExpectedContent(size: 7)), context()) == [nil, nil])
    #expect(try conditions(facts(known, ExpectedContent(size: 1_000, digests: [Self.sha])), context()) != [nil, nil])
    var cut = facts(known)
    (cut.isPlanned, cut.layout) = (true, ChunkLayout(size: 1_000, chunkSize: 500))
    #expect(try conditions(cut, context()) == [nil, nil])
  }

  private func answered(
    _ status: Int, _ head: HTTPFields, _ facts: TransferFacts, _ context: RequestContext
  ) -> (Interpretation, TransferFacts) {
    var (reply, facts) = (TransferReply(), facts)
    (reply.status, reply.fields) = (status, head)
    if status == 206 { reply.bytesReceived = 1_000 }
    let meaning = proto.interpret(reply, to: .create, facts, context)
    _ = facts.apply(meaning, to: .create, proto.abilities)
    return (meaning, facts)
  }

  @Test func notModifiedLeadsToWhatIsHere() throws {
    var (_, after) = answered(304, [.eTag: "\"v1\""], facts(head("\"v1\"")), context())
    #expect(after.layout == ChunkLayout(size: 1_000, chunkSize: 300) && after.acked == 0)
    guard case .reuse(let proof) = proto.nextStep(after) else { return #expect(Bool(false)) }
    #expect(proof.confirmation == .size && proof.digest == Self.digest)
    after.reused([])
    #expect(proto.nextStep(after) == .chunks)
  }

  @Test(
    arguments: [("\"v2\"", nil), ("W/\"v1\"", nil), (nil, "Fri, 20 Nov 2026 08:00:01 GMT")] as [(String?, String?)])
  func notModifiedOfAnotherVersionIsAskedAgainWithoutACondition(_ etag: String?, _ modified: String?) throws {
    var told = HTTPFields()
    (told[.eTag], told[.lastModified]) = (etag, modified)
    let (meaning, after) = answered(304, told, facts(head("\"v1\"")), context())
    guard case .failed(_, .repair) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
    var again = context()
    again.learned = after.learned
    #expect(try conditions(after, again) == [nil, nil])
  }

  /// "Not later" is not "the same".
  @Test func notModifiedSinceADateHasToNameIt() {
    let (silent, _) = answered(304, [:], facts(head(nil)), context())
    guard case .failed(_, .repair) = silent.outcome else { return #expect(Bool(false)) }
    let (named, _) = answered(304, [.lastModified: old], facts(head(nil)), context())
    guard case .begun = named.outcome else { return #expect(Bool(false)) }
  }

  @Test(arguments: [300, 304, 305])
  func answersThatBringNoFileAreFinal(_ status: Int) {
    let (meaning, _) = answered(status, [.eTag: "\"v1\""], facts(head("\"v1\"")), context(holdsPast: false))
    guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.message.contains("\(status)") && !failure.message.contains("destination"))
  }

  /// Without the file, nothing is gained by the division of the earlier download.
  @Test(arguments: [true, false])
  func onlyAFileThatExistsDividesTheNextDownload(_ holdsPast: Bool) {
    var told = head("\"v1\"")
    told[.contentRange] = "bytes 0-99/1000"
    var reply = TransferReply()
    (reply.status, reply.fields, reply.bytesReceived) = (206, told, 100)
    let meaning = proto.interpret(reply, to: .create, facts(head("\"v1\"")), context(holdsPast: holdsPast))
    guard case .begun(let beginning) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
    #expect((beginning.layout == ChunkLayout(size: 1_000, chunkSize: 300)) == holdsPast)
  }

  /// A server that ignores conditions shows its version by what it sends.
  @Test(arguments: [("\"v1\"", true), ("\"v2\"", false), ("W/\"v1\"", false), (nil, false)] as [(String?, Bool)])
  func contentOfTheSameVersionShowsThatItIs(_ etag: String?, _ isSame: Bool) throws {
    var told = head(etag)
    told[.contentRange] = "bytes 0-999/1000"
    let past = try #require(PastVersion(facts(head("\"v1\""))))
    #expect(past.isSame(as: RemoteVersion(size: 1_000, told, isWhole: true, wallMs: 0)) == isSame)
    #expect(!past.isSame(as: RemoteVersion(size: 999, told, isWhole: true, wallMs: 0)))
  }

  @Test func aDigestThatNobodyCanForgeShowsItToo() throws {
    let past = try #require(PastVersion(facts(head("W/\"v1\""))))
    var now = RemoteVersion(size: 1_000, head("W/\"v2\""), isWhole: true, wallMs: 0)
    now.digests = [Self.digest]
    #expect(!past.isSame(as: now))
    now.digests = [Self.sha]
    #expect(past.isSame(as: now))
  }

  /// An ETag in a listing proves nothing if it is weak, or if another version could have got the same one since.
  @Test(
    arguments: [
      (["etag": "\"1\""], "\"1\"", true), (["etag": "\"1\""], "\"2\"", false), (["etag": "W/\"1\""], "W/\"1\"", false),
      (["etag": "\"1\"", "fresh": "yes"], "\"1\"", false), ([:], "", false),
      (["modified": "x", "date": "strong"], "", false),
      (["modified": "x", "date": "strong"], "x", false),
    ] as [([String: String], String, Bool)])
  func whatAListingTellsIsCompared(_ notes: [String: String], _ etag: String, _ isSame: Bool) throws {
    let settings = BatchSettings(destination: "dav+http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    let proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    #expect(proto.isSame(etag, as: notes.merging(["size": "7"]) { $1 }) == isSame)
  }
}
