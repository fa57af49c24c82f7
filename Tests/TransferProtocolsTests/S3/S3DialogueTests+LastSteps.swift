import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// How an upload is completed, listed, found again and aborted.
extension S3DialogueTests {
  // MARK: - Finishing

  func result(_ inner: String) -> TransferReply {
    Scene.reply(
      200, [("Date", Scene.date), ("x-amz-request-id", "R1")],
      "<CompleteMultipartUploadResult>\(inner)</CompleteMultipartUploadResult>")
  }

  @Test func whatConfirmsAMultipartFile() throws {
    let whole = base64(Scene.digest("hello world", .crc64nvme).bytes)
    let tag = "<ETag>&quot;\(MultipartProof(Scene.stored().parts).etag!)&quot;</ETag>"
    let meaning = try Scene.s3().interpret(
      result("<ETag>\"a-2\"</ETag><ChecksumCRC64NVME>\(whole)</ChecksumCRC64NVME>"), to: .finish, Scene.stored(),
      Scene.context())
    guard case .finished(let proof) = meaning.outcome else { Issue.record("\(meaning)"); return }
    #expect(
      proof
        == FileProof(
          confirmation: .digest, digest: Scene.digest("hello world", .crc64nvme),
          remoteDigest: Scene.digest("hello world", .crc64nvme), etag: "\"a-2\"", requestID: "R1",
          serverDate: Scene.date))
    #expect(try interpret(result(tag), .finish, Scene.stored(.etag)) == "finished etag")
    #expect(try interpret(result("<ETag>x</ETag>"), .finish, Scene.stored(.etag)) == "finished etag")
    #expect(try interpret(result("<ETag>x</ETag>"), .finish, Scene.stored(.none, md5: false)) == "finished none")
    var mixed = Scene.stored()
    mixed.parts[1] = Scene.part(1, "world", .none, md5: false)
    #expect(try interpret(result("<ETag>x</ETag>"), .finish, mixed) == "finished none")
    let wrong = base64([UInt8](repeating: 1, count: 8))
    #expect(
      try interpret(result("<ETag>x</ETag><ChecksumCRC64NVME>\(wrong)</ChecksumCRC64NVME>"), .finish, Scene.stored())
        == "integrity.mismatch permanent")
    let moto = Scene.reply(200, [], "<CompleteMultipartUploadResponse>\(tag)</CompleteMultipartUploadResponse>")
    #expect(try interpret(moto, .finish, Scene.stored(.etag)) == "finished etag")
  }

  /// A 200 that is not a success: the defect that lost data in s3cmd, s3fs, arrow and others.
  @Test(arguments: [
    ("", "proto.bad_reply probe"), ("   \n ", "proto.bad_reply probe"),
    ("<html><body>ok</body></html>", "proto.bad_reply probe"),
    ("<CompleteMultipartUploadResult><ETag>x</ETag>", "proto.bad_reply probe"),
    ("<CompleteMultipartUploadResult/>", "proto.bad_reply probe"),
    ("<CompleteMultipartUploadResult><ETag>\"\"</ETag></CompleteMultipartUploadResult>", "proto.bad_reply probe"),
    (" \n <Error><Code>InternalError</Code></Error>", "http.500 probe"),
    ("<Error><Code>SlowDown</Code></Error>", "http.500 retry(isThrottled: true)"),
    ("<Error><Code>InvalidPart</Code></Error>", "proto.offset probe"),
    ("<Error><Code>NoSuchUpload</Code></Error>", "noted [\"gone=1\"], proto.session_gone probe"),
    ("<Error><Code>AccessDenied</Code></Error>", "http.500 permanent"), ("<Error/>", "http.500 probe"),
  ])
  func completeAnswers200(_ body: String, _ expected: String) throws {
    #expect(try interpret(Scene.reply(200, [], body), .finish, Scene.stored()) == expected)
  }

  @Test func aCutAnswerIsNoAnswer() throws {
    var reply = result("<ETag>x</ETag>")
    reply.isBodyTruncated = true
    #expect(try interpret(reply, .finish, Scene.stored()) == "proto.bad_reply probe")
  }

  @Test func aForgottenUploadIsLookedForBeforeItIsSentAgain() throws {
    let gone = Scene.error(404, "NoSuchUpload")
    var facts = Scene.stored()
    #expect(try interpret(gone, .finish, facts) == "noted [\"gone=1\"], proto.session_gone probe")
    facts.isAbsent = true
    #expect(try interpret(gone, .finish, facts) == "proto.session_gone sessionGone")
    #expect(try interpret(gone, .probe(marker: nil), facts) == "proto.session_gone sessionGone")
    #expect(try interpret(Scene.error(412, "PreconditionFailed"), .finish, facts) == "policy.exists permanent")
    #expect(try interpret(Scene.error(400, "BadDigest"), .finish, facts) == "integrity.mismatch permanent")
    #expect(try interpret(Scene.error(400, "EntityTooSmall"), .finish, facts) == "http.400 permanent")
  }

  // MARK: - Probes

  private func listing(_ parts: String, _ more: String = "<IsTruncated>false</IsTruncated>") -> TransferReply {
    Scene.reply(200, [], "<a:ListPartsResult xmlns:a=\"x\">\(parts)\(more)</a:ListPartsResult>")
  }

  func listed(_ number: Int, _ etag: String, _ size: Int) -> String {
    "<Part><ETag>\(etag)</ETag><Size>\(size)</Size><PartNumber>\(number)</PartNumber></Part>"
  }

  @Test func pagesOfParts() throws {
    let page = listing(
      listed(1, "a", 6) + listed(2, "b", 5),
      "<IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker>")
    #expect(try interpret(page, .probe(marker: nil), multi) == "parts [\"0:6\", \"1:5\"] next 2")
    #expect(try interpret(page, .probe(marker: "2"), multi) == "proto.bad_reply retry(isThrottled: false)")
    let unmarked = listing(listed(3, "a", 6), "<IsTruncated>true</IsTruncated>")
    #expect(try interpret(unmarked, .probe(marker: "2"), multi) == "parts [\"2:6\"] next -")
    #expect(try interpret(listing(listed(10_000, "a", 6)), .probe(marker: nil), multi) == "parts [] next -")
    #expect(
      try interpret(listing("<Part><ETag>x</ETag></Part>"), .probe(marker: nil), multi)
        == "proto.bad_reply retry(isThrottled: false)")
    #expect(
      try interpret(Scene.reply(200, [], "<html/>"), .probe(marker: nil), multi)
        == "proto.bad_reply retry(isThrottled: false)")
    #expect(
      try interpret(Scene.error(404, "NoSuchUpload"), .probe(marker: nil), multi) == "proto.session_gone sessionGone")
  }

  /// The answer was lost: a listed part of this number and length says nothing about its content.
  @Test func aListedPartIsAdoptedOnlyByADigestOfWhatWasSent() throws {
    let s3 = try Scene.s3()
    let chunk = Scene.chunk(1, "hello", .crc64nvme, .md5)
    func proof(_ etag: String, length: Int64 = 5, checksum: Digest? = nil) -> TransferModel.Confirmation? {
      var part = ListedPart(seq: 1, length: length, etag: etag)
      part.checksum = checksum
      return s3.receipt(of: chunk, in: part)?.confirmation
    }
    let md5 = "\"\(hexText(Scene.digest("hello", .md5).bytes))\""
    #expect(proof(md5) == .etag)
    #expect(proof("\"0123456789abcdef0123456789abcdef\"") == nil && proof("\"not an MD5\"") == nil)
    #expect(proof(md5, length: 6) == nil)
    #expect(proof("\"x\"", checksum: Scene.digest("hello", .crc64nvme)) == .digest)
    #expect(proof(md5, checksum: Scene.digest("other", .crc64nvme)) == nil)
  }

  @Test func aPartWithAnotherETagIsNotOurs() throws {
    let facts = Scene.stored()
    let ours = hexText(Scene.digest("hello ", .md5).bytes)
    let page = listing(listed(1, "&quot;\(ours)&quot;", 6) + listed(2, "\"other\"", 5))
    #expect(try interpret(page, .probe(marker: nil), facts) == "parts [\"0:6\"] next -")
  }

  @Test func unlistedUploadsAreOursOnlyWhenKeyTimeAndEmptinessSaySo() throws {
    let facts = Scene.facts(key: "a b", size: 40 << 20, parts: 3, session: .some(nil)) { $0.lostAnswer = .create }
    func upload(_ id: String, _ key: String, _ initiated: String) -> String {
      "<Upload><UploadId>\(id)</UploadId><Key>\(key)</Key><Initiated>\(initiated)</Initiated></Upload>"
    }
    let uploads = [
      upload("late", "a+b", "2013-05-23T23:59:30.000Z"), upload("grace", "a%20b", "2013-05-23T23:58:56.000Z"),
      upload("early", "a+b", "2013-05-23T23:58:54.000Z"), upload("longer", "a+b/c", "2013-05-23T23:59:30.000Z"),
      upload("moto", "a+b", "2010-11-10T20:48:33.000Z"),
    ]
    let reply = Scene.reply(
      200, [("Date", Scene.date)],
      "<ListMultipartUploadsResult><EncodingType>url</EncodingType>\(uploads.joined())</ListMultipartUploadsResult>")
    #expect(try interpret(reply, .probe(marker: nil), facts) == "unlisted [] next late,grace,moto&")
    let s3 = try Scene.s3()
    let first = try s3.request(.probe(marker: nil), facts, Scene.context())
    #expect(first.url.hasSuffix("amazonaws.com/?encoding-type=url&prefix=a%20b&uploads="))
    let check = try s3.request(.probe(marker: "late,grace&"), facts, Scene.context())
    #expect(check.url.hasSuffix("/a%20b?max-parts=1&uploadId=late"))
    #expect(try interpret(listing(""), .probe(marker: "late,grace&"), facts) == "unlisted [\"late\"] next grace&")
    #expect(try interpret(listing(listed(1, "e", 1)), .probe(marker: "grace&"), facts) == "unlisted [] next -")
    #expect(try interpret(Scene.error(404, "NoSuchUpload"), .probe(marker: "grace&"), facts) == "unlisted [] next -")
    #expect(try interpret(Scene.error(403, "AccessDenied"), .probe(marker: nil), facts) == "unlisted [] next -")
    #expect(try interpret(Scene.reply(503), .probe(marker: nil), facts) == "http.503 retry(isThrottled: true)")
  }

  /// A server whose markers form a cycle is not queried forever.
  @Test func aListOfUploadsComesToAnEnd() throws {
    let facts = Scene.facts(key: "a", size: 40 << 20, parts: 3, session: .some(nil)) { $0.lostAnswer = .create }
    var (marker, pages): (String?, Int) = (nil, 0)
    repeat {
      let reply = Scene.reply(
        200, [("Date", Scene.date)],
        "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>"
          + "<NextUploadIdMarker>u\(pages % 2)</NextUploadIdMarker></ListMultipartUploadsResult>")
      let meaning = try Scene.s3().interpret(reply, to: .probe(marker: marker), facts, Scene.context())
      guard case .unlistedUploads(_, let next) = meaning.outcome else { return #expect(Bool(false), "\(meaning)") }
      (marker, pages) = (next, pages + 1)
    } while marker != nil && pages < 1_000
    #expect(pages == UnlistedUploadSearch.mostPages)
  }

  /// A server may percent-encode on request without saying so, or not encode at all.
  @Test(arguments: [
    ("a b", "a%20b", "", true), ("a b", "a+b", "", true), ("a b", "a b", "", true), ("a b", "a%20b", "url", true),
    ("a%20b", "a%2520b", "", true), ("a%20b", "a%20b", "", true), ("a%20b", "a%20b", "url", false),
    ("a+b", "a+b", "", true), ("a+b", "a%2Bb", "", true), ("a+b", "a+b", "url", true), ("ü", "%C3%BC", "", true),
    ("a b", "a%20b%2Fc", "", false), ("a b", "a%20bc", "", false), ("50%", "50%", "", true), ("50%", "50%25", "", true),
  ])
  func aListedKeyIsReadInEitherForm(_ key: String, _ listed: String, _ encoding: String, _ isOurs: Bool) throws {
    let facts = Scene.facts(key: key, size: 40 << 20, parts: 3, session: .some(nil)) { $0.lostAnswer = .create }
    let type = encoding.isEmpty ? "" : "<EncodingType>\(encoding)</EncodingType>"
    let reply = Scene.reply(
      200, [("Date", Scene.date)],
      "<ListMultipartUploadsResult>\(type)<Upload><UploadId>u</UploadId><Key>\(listed)</Key></Upload></ListMultipartUploadsResult>"
    )
    #expect(try interpret(reply, .probe(marker: nil), facts) == "unlisted [] next \(isOurs ? "u&" : "-")")
  }

  @Test func theServersClockDecidesWhatIsLate() {
    #expect(
      !UnlistedUploadSearch.isCandidate(initiated: "2013-05-24T00:00:00Z", intendedAtMs: Scene.wallMs, skewMs: 60_000))
    #expect(
      UnlistedUploadSearch.isCandidate(initiated: "2013-05-24T00:00:56Z", intendedAtMs: Scene.wallMs, skewMs: 60_000))
  }

  @Test func markersComeBackAsTheyWent() {
    var search = UnlistedUploadSearch()
    search.candidates = ["a+b/==", "x,y&z"]
    search.page = .init(key: "ü &,", uploadID: "u=", number: 7)
    #expect(UnlistedUploadSearch(marker: search.marker) == search)
    #expect(UnlistedUploadSearch(marker: "nonsense") == nil)
  }

  @Test func abortIsDoneWhenNothingIsThere() throws {
    #expect(try interpret(Scene.reply(204), .abort(remoteID: "x"), multi) == "settled")
    #expect(try interpret(Scene.error(404, "NoSuchUpload"), .abort(remoteID: "x"), multi) == "settled")
    #expect(
      try interpret(Scene.error(404, "NoSuchBucket"), .abort(remoteID: "x"), multi) == "proto.no_destination permanent")
    #expect(try interpret(Scene.reply(500), .abort(remoteID: "x"), multi) == "http.500 retry(isThrottled: false)")
  }

  @Test func sessionsOpen() throws {
    let body = "<InitiateMultipartUploadResult><UploadId> a+b== </UploadId></InitiateMultipartUploadResult>"
    #expect(try interpret(Scene.reply(200, [], body), .create, multi) == "opened a+b==")
    #expect(try interpret(Scene.reply(200, [], "<html/>"), .create, multi) == "proto.bad_reply probe")
  }
}
