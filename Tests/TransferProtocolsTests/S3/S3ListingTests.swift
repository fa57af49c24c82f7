import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Objects below a prefix, as servers list them.
@Suite struct S3ListingTests {
  private let proto: GetProtocol

  init() throws {
    var settings = BatchSettings(
      destination: "s3://examplebucket/", download: DownloadSettings(folder: NameBytes("/in")))
    settings.options["endpoint-url"] = .text("http://127.0.0.1:5100")
    proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
  }

  private func facts(_ prefix: String = "d e/") -> TransferFacts {
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes(prefix), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    guard case .openSession(let id, let notes) = proto.nextStep(facts) else { return facts }
    facts.session = SessionFacts(remoteID: id, intendedAtMs: 0, notes: notes)
    return facts
  }

  private func list(_ body: String, _ facts: TransferFacts, status: Int = 200) -> Interpretation {
    var reply = TransferReply()
    (reply.status, reply.body) = (status, Array(body.utf8))
    return proto.interpret(reply, to: .probe(marker: nil), facts, Scene.context())
  }

  private func page(_ inner: String, _ facts: inout TransferFacts) throws -> ListedPage {
    let meaning = list("<ListBucketResult>\(inner)</ListBucketResult>", facts)
    _ = facts.apply(meaning, to: .probe(marker: nil), proto.abilities)
    guard case .listed(let page) = meaning.outcome else { throw Failure(.engineBug, "\(meaning.outcome)") }
    return page
  }

  private func query(_ facts: TransferFacts) throws -> String {
    #expect(proto.nextStep(facts) == .control(.probe(marker: nil)))
    let request = try proto.request(.probe(marker: nil), facts, Scene.context())
    #expect(request.method == .get)
    #expect(request.url.hasPrefix("http://127.0.0.1:5100/examplebucket?"))
    return String(request.url.split(separator: "?")[1])
  }

  @Test func pagesFollowEachOther() throws {
    var facts = facts()
    let first = "encoding-type=url&list-type=2&max-keys=1000&prefix=d%20e%2F"
    #expect(try query(facts) == first)
    let page1 = try page(
      """
      <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t+/=</NextContinuationToken>
      <Contents><Key>d+e/a%2Bb</Key><Size>7</Size><ETag>&quot;x&quot;</ETag></Contents>
      <Contents><Key>d+e/</Key><Size>0</Size></Contents><Contents><Key>d+e/sub/</Key><Size>0</Size></Contents>
      """, &facts)
    #expect(page1.objects == [ListedObject(key: NameBytes("d e/a+b"), path: NameBytes("a+b"), size: 7, etag: "\"x\"")])
    #expect(!page1.isLast && page1.found == 3 && page1.skipped == 2)
    #expect(try query(facts) == "continuation-token=t%2B%2F%3D&" + first)
    let page2 = try page(
      "<IsTruncated>false</IsTruncated><Contents><Key>d e/sub/x+y</Key><Size>1</Size></Contents>", &facts)
    #expect(page2.objects.map(\.path) == [NameBytes("sub/x+y")] && page2.isLast && page2.found == 4)
  }

  @Test(arguments: ["True", "TRUE", "1"])
  func aPageThatIsTruncatedInAnyWordIsNotTheLast(_ word: String) throws {
    var facts = facts("")
    let page = try page(
      "<IsTruncated>\(word)</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
        + "<Contents><Key>a</Key></Contents>", &facts)
    #expect(!page.isLast)
    #expect(try query(facts).hasPrefix("continuation-token=t&"))
  }

  /// Whether a list is complete is not guessed.
  @Test(arguments: ["<IsTruncated>False</IsTruncated>", "<IsTruncated>yes</IsTruncated>", ""])
  func aPageThatContradictsItselfIsRefused(_ statement: String) throws {
    let meaning = list(
      "<ListBucketResult>\(statement)<NextContinuationToken>t</NextContinuationToken>"
        + "<Contents><Key>a</Key></Contents></ListBucketResult>", facts(""))
    guard case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .protoBadReply)
  }

  private func keys(_ keys: [String], below prefix: String, _ statement: String = "") throws -> [NameBytes] {
    var facts = facts(prefix)
    let contents = keys.map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
    return try page(statement + contents, &facts).objects.map(\.key)
  }

  /// Some servers encode keys as they are asked to, and do not say so.
  @Test func keysThatAreEncodedWithoutSayingSoAreDecoded() throws {
    #expect(
      try keys(["d%20e/a%2Bb", "d%20e/plain"], below: "d e/") == [NameBytes("d e/a+b"), NameBytes("d e/plain")])
    #expect(try keys(["x", "%C3%A9"], below: "") == [NameBytes("x"), NameBytes("\u{e9}")])
    #expect(try keys(["a%2Bb"], below: "", "<EncodingType>URL</EncodingType>") == [NameBytes("a+b")])
  }

  /// A key with a byte that an encoder would not have left shows that the page is not encoded.
  @Test(arguments: [["a%20b", "c d"], ["a%20b", "c+d"], ["a%20b", "100%"], ["a%20b", "\u{e9}"]])
  func keysThatAreNotEncodedStay(_ names: [String]) throws {
    #expect(try keys(names, below: "") == names.map { NameBytes($0) })
  }

  @Test func keysThatBeginWithThePrefixOnlyAsTheyAreStay() throws {
    #expect(try keys(["100%25/a%20b"], below: "100%25/") == [NameBytes("100%25/a%20b")])
  }

  /// Servers that know only the first version of the call send no token.
  @Test func withoutATokenTheLastKeyLeadsOn() throws {
    var facts = facts("")
    _ = try page("<IsTruncated>true</IsTruncated><Contents><Key>a b</Key></Contents>", &facts)
    #expect(try query(facts) == "encoding-type=url&list-type=2&marker=a%20b&max-keys=1000&prefix=&start-after=a%20b")
    #expect(throws: Failure.self) {
      _ = try page("<IsTruncated>true</IsTruncated><Contents><Key>a b</Key></Contents>", &facts)
    }
  }

  /// Keys are bytes, and the key that continues the list is sent as it was received.
  @Test func aKeyThatIsNotUTF8LeadsOn() throws {
    var facts = facts("")
    _ = try page(
      "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><Contents><Key>a%FFb</Key></Contents>", &facts)
    #expect(try query(facts) == "encoding-type=url&list-type=2&marker=a%FFb&max-keys=1000&prefix=&start-after=a%FFb")
    var reply = TransferReply()
    (reply.status, reply.body) = (200, Array("<ListBucketResult><Contents><Key>".utf8) + [0xFF])
    reply.body += Array("</Key></Contents></ListBucketResult>".utf8)
    guard
      case .failed(let failure, .permanent) = proto.interpret(reply, to: .probe(marker: nil), facts, Scene.context())
        .outcome
    else { return #expect(Bool(false)) }
    #expect(failure.message.contains("not UTF-8"))
  }

  /// Markers form a cycle, keys repeat while the markers are always new, no key comes at all, or only keys before the
  /// marker come.
  @Test(arguments: [1, 2, 3, 7, 100], ["token", "key", "nothing", "order"])
  func aListThatDoesNotGetOnIsEnded(_ length: Int, _ kind: String) throws {
    var (facts, pages) = (facts(""), 0)
    let failure = #expect(throws: Failure.self) {
      while pages < 5_000 {
        let place = pages % length
        let key = kind == "token" ? "k\(pages)" : kind == "order" ? "k\(9_000 - pages)" : "k\(place)"
        let token = kind == "token" ? "t\(place)" : "t\(pages)"
        _ = try page(
          "<IsTruncated>true</IsTruncated>"
            + (kind == "order" ? "" : "<NextContinuationToken>\(token)</NextContinuationToken>")
            + (kind == "nothing" ? "" : "<Contents><Key>\(key)</Key></Contents>"), &facts)
        pages += 1
      }
    }
    #expect(failure != nil)
    #expect(pages < (kind == "nothing" ? 1_000 : kind == "order" ? 2 : 3 * length + 3), "\(pages)")
  }

  /// A list that makes progress may have any length, with pages in between that name nothing.
  @Test func aLongListComesToItsEnd() throws {
    var facts = facts("")
    for n in 0..<3_000 {
      let object = n % 900 == 0 ? "<Contents><Key>k\(n)</Key></Contents>" : ""
      let end = n < 2_999 ? "<NextContinuationToken>t\(n)</NextContinuationToken>" : ""
      #expect(try page("<IsTruncated>\(!end.isEmpty)</IsTruncated>\(end)\(object)", &facts).isLast == end.isEmpty)
    }
    #expect((facts.session?.notes ?? [:]).values.map(\.utf8.count).reduce(0, +) < 100)
  }

  @Test(arguments: [
    "<Error><Code>x</Code></Error>", "<ListBucketResult>", "<ListBucketResult><Contents/></ListBucketResult>",
    "<ListBucketResult><Contents><Key>other/x</Key></Contents></ListBucketResult>",
    "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>d%20e/%zz</Key></Contents></ListBucketResult>",
    "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
  ])
  func whatIsNoListNamesNothing(_ body: String) {
    guard case .failed = list(body, facts()).outcome else { return #expect(Bool(false)) }
  }

  /// Sizes that no sum could hold are unknown sizes.
  @Test(
    arguments: [
      ("9007199254740992", 9_007_199_254_740_992), ("9007199254740993", nil), ("9223372036854775807", nil), ("-1", nil),
    ] as [(String, Int64?)])
  func absurdSizesAreUnknown(_ text: String, _ size: Int64?) throws {
    var facts = facts()
    let page = try page(
      "<IsTruncated>false</IsTruncated><Contents><Key>d e/x</Key><Size>\(text)</Size></Contents>", &facts)
    #expect(page.objects.map(\.size) == [size])
  }

  @Test func errorsMeanWhatTheyMeanToFiles() {
    let meaning = list("<Error><Code>SlowDown</Code></Error>", facts(), status: 503)
    guard case .failed(_, .retry(isThrottled: true)) = meaning.outcome else { return #expect(Bool(false)) }
    let missing = list("<Error><Code>NoSuchBucket</Code></Error>", facts(), status: 404)
    guard case .failed(let failure, .permanent) = missing.outcome else { return #expect(Bool(false)) }
    #expect(failure.code == .protoNoDestination)
  }
}
