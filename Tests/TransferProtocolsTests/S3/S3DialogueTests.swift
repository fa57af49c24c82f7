import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Facts and a reply in, their consequence out.
@Suite struct S3DialogueTests {
  let whole = Scene.facts()
  let multi = Scene.facts(size: 40 << 20, parts: 3, session: "U")

  func interpret(
    _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts,
    change: (inout BatchSettings) -> Void = { _ in }, learned: (inout LearnedFacts) -> Void = { _ in }
  ) throws -> String {
    text(try Scene.s3(change: change).interpret(reply, to: step, facts, Scene.context(learned: learned)))
  }

  private func put(
    _ fields: [(String, String)], _ digests: DigestAlgorithm..., learned: (inout LearnedFacts) -> Void = { _ in }
  ) throws -> String {
    var chunk = Scene.chunk()
    for algorithm in digests { chunk.digests[algorithm] = Scene.digest("hello", algorithm) }
    return try interpret(Scene.reply(200, fields), .chunk(chunk), whole, learned: learned)
  }

  let etag = ("ETag", "\"5d41402abc4b2a76b9719d911017c592\"")
  private var echo: (String, String) {
    ("x-amz-checksum-crc64nvme", base64(Scene.digest("hello", .crc64nvme).bytes))
  }

  // MARK: - Chunks

  @Test func whatConfirmsAWholeFile() throws {
    #expect(try put([etag, echo], .crc64nvme, .md5) == "learned(- 0 confirmed untried) stored 0 digest whole digest")
    #expect(try put([etag], .crc64nvme, .md5) == "learned(- 0 ignored untried) stored 0 etag whole etag")
    #expect(try put([("ETag", "\"x\"")], .crc64nvme, .md5) == "learned(- 0 ignored untried) stored 0 none whole none")
    #expect(try put([etag], .crc64nvme, .md5) { $0.checksums = .refused } == "stored 0 etag whole etag")
    #expect(try put([etag, echo], .crc64nvme) { $0.checksums = .confirmed } == "stored 0 digest whole digest")
    #expect(
      try put([etag], .crc64nvme) { $0.checksums = .confirmed }
        == "learned(- 0 ignored untried) stored 0 none whole none")
  }

  @Test func anotherChecksumIsACorruption() throws {
    let wrong = ("x-amz-checksum-crc64nvme", base64([UInt8](repeating: 7, count: 8)))
    #expect(try put([etag, wrong], .crc64nvme, .md5) == "integrity.mismatch retry(isThrottled: false)")
    let unreadable = ("x-amz-checksum-crc64nvme", "dsLl6w==")
    #expect(try put([etag, unreadable], .crc64nvme, .md5).hasSuffix("stored 0 etag whole etag"))
    // The engine counts such answers.
    #expect(try put([echo], .crc64nvme) == "proto.bad_reply retry(isThrottled: false)")
    let silent = try Scene.s3().interpret(Scene.reply(200, [echo]), to: .chunk(Scene.chunk()), whole, Scene.context())
    #expect(silent.isUnusableSuccess)
  }

  @Test func partsLearnForThemselves() throws {
    var chunk = Scene.chunk(1, "hello", .crc64nvme, .md5)
    #expect(
      try interpret(Scene.reply(200, [etag]), .chunk(chunk), multi) { _ in
      } learned: {
        $0.checksums = .confirmed
      }
        == "learned(- 0 confirmed ignored) stored 1 etag")
    chunk.digests[.md5] = nil
    #expect(try interpret(Scene.error(404, "NoSuchUpload"), .chunk(chunk), multi) == "proto.session_gone sessionGone")
    #expect(try interpret(Scene.error(404, "NoSuchBucket"), .chunk(chunk), multi) == "proto.no_destination permanent")
  }

  @Test func digestsAheadFollowWhatWasLearned() throws {
    let tls = try Scene.s3()
    let plain = try Scene.s3 { $0.endpointURL = "http://h:1" }
    let (one, many) = (whole.layout, multi.layout)
    var learned = LearnedFacts()
    #expect(tls.digestsAhead(learned, one) == [.crc64nvme, .md5])
    #expect(plain.digestsAhead(learned, one) == [.crc64nvme, .md5, .sha256])
    learned.checksums = .confirmed
    #expect(tls.digestsAhead(learned, one) == [.crc64nvme])
    #expect(tls.digestsAhead(learned, many) == [.crc64nvme, .md5])
    learned.partChecksums = .ignored
    #expect(tls.digestsAhead(learned, many) == [.md5])
    #expect(
      try Scene.s3 {
        $0.endpointURL = "http://h:1"; $0.unsignedPayload = true
      }.digestsAhead(learned, one) == [.crc64nvme])
  }

  @Test func refusedChecksumsAreLeftOutOnce() throws {
    let refusal = Scene.error(400, "InvalidRequest")
    let chunk = Scene.chunk(0, "hello", .crc64nvme, .md5)
    #expect(try interpret(refusal, .chunk(chunk), whole) == "learned(- 0 refused untried) http.400 repair")
    #expect(
      try interpret(refusal, .chunk(chunk), whole) { _ in
      } learned: {
        $0.checksums = .refused
      } == "http.400 permanent")
    #expect(try interpret(refusal, .create, multi) == "learned(- 0 untried refused) http.400 repair")
  }

  @Test func anyBadRequestIsTriedOnceWithoutChecksum() throws {
    let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc64nvme, .md5))
    for reply in [Scene.reply(400), Scene.error(400, "BadRequest"), Scene.error(400, "UnknownHeader")] {
      #expect(try interpret(reply, chunk, whole) == "learned(- 0 refused untried) http.400 repair")
      #expect(try interpret(reply, .create, multi) == "learned(- 0 untried refused) http.400 repair")
      #expect(
        try interpret(reply, chunk, whole) { _ in
        } learned: {
          $0.checksums = .confirmed
        } == "http.400 permanent")
    }
  }

  @Test func theSizeOfTheWholeIsLeftOutWhereItIsNotKnown() throws {
    let s3 = try Scene.s3()
    let reply = Scene.error(501, "NotImplemented")
    let meaning = s3.interpret(reply, to: .finish, Scene.stored(), Scene.context())
    guard let learned = meaning.learned, case .failed(_, .repair) = meaning.outcome else {
      Issue.record("\(meaning)")
      return
    }
    #expect(learned.refusesObjectSize)
    let name = HTTPField.Name("x-amz-mp-object-size")!
    #expect(try s3.request(.finish, Scene.stored(), Scene.context()).fields[name] == "11")
    #expect(try s3.request(.finish, Scene.stored(), Scene.context { $0.refusesObjectSize = true }).fields[name] == nil)
    #expect(
      try interpret(reply, .finish, Scene.stored()) { _ in
      } learned: {
        $0.refusesObjectSize = true
      } == "http.5xx permanent")
  }

  @Test(arguments: [
    (503, "SlowDown", "http.503 retry(isThrottled: true)"),
    (500, "InternalError", "http.500 retry(isThrottled: false)"),
    (400, "RequestTimeout", "http.400 retry(isThrottled: false)"),
    (400, "BadDigest", "integrity.mismatch retry(isThrottled: false)"),
    (400, "XAmzContentSHA256Mismatch", "integrity.mismatch retry(isThrottled: false)"),
    (400, "ThrottlingException", "http.400 retry(isThrottled: true)"),
    (409, "OperationAborted", "http.409 retry(isThrottled: false)"),
    (400, "ExpiredToken", "auth.expired refreshCredential"), (403, "SignatureDoesNotMatch", "auth.refused permanent"),
    (403, "AccessDenied", "http.403 permanent"), (404, "NoSuchBucket", "proto.no_destination permanent"),
    (404, "InvalidAccessKeyId", "auth.refused permanent"),
    (400, "EntityTooLarge", "http.400 permanent"),
    (413, "", "http.413 permanent"), (502, "", "http.502 retry(isThrottled: false)"),
    (429, "", "http.429 retry(isThrottled: true)"),
    (507, "XMinioStorageFull", "http.507 retry(isThrottled: false)"), (401, "", "auth.refused permanent"),
    (301, "PermanentRedirect", "http.redirect permanent"),
    (408, "", "http.4xx retry(isThrottled: false)"),
  ])
  func errorCodes(_ status: Int, _ code: String, _ expected: String) throws {
    let reply = code.isEmpty ? Scene.reply(status) : Scene.error(status, code)
    #expect(try interpret(reply, .chunk(Scene.chunk(0, "hello", .crc64nvme)), whole) == expected)
  }

  @Test func failuresSayWhatTheServerSaidOnOneLine() throws {
    let reply = Scene.error(403, "AccessDenied", fields: [("Retry-After", "7")])
    let found = failure(try Scene.s3().interpret(reply, to: .chunk(Scene.chunk()), whole, Scene.context()))
    #expect(found?.message == "the server answered 403 (AccessDenied: because)")
    #expect(found?.retryAfterMs == 7000)
    let hostile = Scene.reply(400, [], "<Error><Code>X</Code><Message>a\u{1B}[2J\nb</Message></Error>")
    let text = failure(try Scene.s3().interpret(hostile, to: .create, whole, Scene.context()))?.message
    #expect(text == "the server answered 400 (X: a [2J b)")
  }

  // MARK: - Repairs

  @Test func theRegionIsLearnedOnce() throws {
    let malformed = Scene.error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")
    let chunk = StepRequest.chunk(Scene.chunk())
    #expect(try interpret(malformed, chunk, whole) == "learned(eu-west-1 0 untried untried) http.redirect repair")
    #expect(
      try interpret(malformed, chunk, whole) { _ in
      } learned: {
        $0.region = "eu-west-1"
      } == "http.redirect permanent")
    let head = Scene.reply(301, [("x-amz-bucket-region", "eu-west-1")])
    #expect(try interpret(head, .verify, whole) == "learned(eu-west-1 0 untried untried) http.redirect repair")
    let hostile = Scene.error(400, "AuthorizationHeaderMalformed", "<Region>evil.example/</Region>")
    #expect(try interpret(hostile, chunk, whole) == "http.redirect permanent")
  }

  @Test func theClockIsLearnedOnce() throws {
    let reply = Scene.error(403, "RequestTimeTooSkewed", fields: [("Date", "Fri, 24 May 2013 01:00:00 GMT")])
    #expect(try interpret(reply, .create, multi) == "learned(- 3600000 untried untried) http.403 repair")
    #expect(
      try interpret(reply, .create, multi) { _ in
      } learned: {
        $0.clockSkewMs = 3_600_000
      } == "http.403 retry(isThrottled: false)")
  }

  // MARK: - Lost answers

  @Test func repeatingAPartIsHarmlessAndCreatingIsNot() throws {
    #expect(try interpret(Scene.broken(), .chunk(Scene.chunk()), multi) == "net.reset retry(isThrottled: false)")
    #expect(try interpret(Scene.broken(), .create, multi) == "net.reset probe")
    #expect(try interpret(Scene.broken(), .finish, Scene.stored()) == "net.reset probe")
    #expect(
      try interpret(Scene.broken(mayHaveArrived: false), .finish, Scene.stored())
        == "net.refused retry(isThrottled: false)"
    )
    #expect(try interpret(Scene.reply(500), .create, multi) == "http.500 probe")
    #expect(try interpret(Scene.reply(504), .finish, Scene.stored()) == "http.504 probe")
    var certificate = Scene.broken(mayHaveArrived: false)
    certificate.curlCode = 60
    #expect(try interpret(certificate, .create, multi) == "net.cert permanent")
  }

  @Test func theOrderOfSteps() throws {
    let s3 = try Scene.s3()
    func step(_ change: (inout TransferFacts) -> Void) -> TransferStep {
      var facts = multi
      change(&facts)
      return s3.nextStep(facts)
    }
    #expect(s3.nextStep(whole) == .chunks)
    #expect(step { $0.session = nil } == .control(.create))
    #expect(step { _ in } == .chunks)
    #expect(step { $0.session?.remoteID = nil } == .control(.create))
    #expect(
      step {
        $0.session?.remoteID = nil; $0.lostAnswer = .create
      } == .control(.probe(marker: nil)))
    #expect(
      step {
        $0.session?.remoteID = nil
        $0.lostAnswer = .create
        $0.probeMarker = "m"
      } == .control(.probe(marker: "m")))
    #expect(
      step {
        $0.session?.remoteID = nil
        $0.isProbed = true
        $0.unlistedUploads = ["x", "y"]
      } == .control(.abort(remoteID: "x")))
    #expect(step { $0.lostAnswer = .part } == .control(.probe(marker: nil)))
    #expect(
      step {
        $0.lostAnswer = .part; $0.isProbed = true
      } == .chunks)
    #expect(step { $0.storedChunks = $0.layout.count } == .control(.finish))
    #expect(
      step {
        $0.storedChunks = $0.layout.count; $0.lostAnswer = .finish
      } == .control(.verify))
    #expect(
      step {
        $0.storedChunks = $0.layout.count; $0.lostAnswer = .verify
      } == .control(.verify))
    #expect(
      step {
        $0.storedChunks = $0.layout.count; $0.isAbsent = true
      } == .control(.probe(marker: nil)))
    #expect(
      step {
        $0.storedChunks = $0.layout.count; $0.isAbsent = true; $0.isProbed = true; $0.lostAnswer = .finish
      } == .control(.finish))
  }

  @Test func aRefusalToReplaceIsLookedAtBeforeItCounts() throws {
    let exists = Scene.error(412, "PreconditionFailed")
    let once: (inout BatchSettings) -> Void = { $0.ifNoneMatch = true }
    #expect(try interpret(exists, .chunk(Scene.chunk()), whole, change: once) == "policy.exists probe")
    var facts = whole
    facts.lostAnswer = .part
    #expect(try Scene.s3(change: once).nextStep(facts) == .control(.verify))
    let other = Scene.reply(200, [("Content-Length", "5"), ("ETag", "\"z\"")])
    #expect(try interpret(other, .verify, facts, change: once) == "policy.exists permanent")
    facts.isAbsent = true
    #expect(try Scene.s3(change: once).nextStep(facts) == .chunks)
    #expect(try interpret(exists, .chunk(Scene.chunk()), facts, change: once) == "policy.exists permanent")
    let unknown = Scene.reply(501)
    #expect(
      try interpret(unknown, .chunk(Scene.chunk()), whole, change: once) { $0.checksums = .ignored }
        == "proto.unsupported permanent")
  }

  @Test func verifyKnowsOursByUIDOrDigest() throws {
    let uid = ("x-amz-meta-transfers-uid", Scene.uid.description)
    let stored = Scene.stored()
    #expect(
      try interpret(Scene.reply(200, [uid, ("Content-Length", "11"), ("ETag", "\"z-2\"")]), .verify, stored)
        == "finished digest")
    let unproved = Scene.stored(.none, md5: false)
    #expect(try interpret(Scene.reply(200, [uid, ("Content-Length", "11")]), .verify, unproved) == "finished size")
    #expect(
      try interpret(Scene.reply(200, [uid, ("Content-Length", "10")]), .verify, stored)
        == "integrity.mismatch retry(isThrottled: false)")
    #expect(
      try interpret(Scene.reply(200, [("Content-Length", "11"), ("ETag", "\"z-2\"")]), .verify, stored) == "absent")
    let etag = MultipartProof(stored.parts).etag!
    #expect(
      try interpret(
        Scene.reply(200, [("Content-Length", "11"), ("ETag", "\"\(etag)\"")]), .verify, Scene.stored(.etag))
        == "finished etag")
    #expect(try interpret(Scene.reply(404), .verify, stored) == "absent")
    #expect(try interpret(Scene.reply(500), .verify, stored) == "http.500 retry(isThrottled: false)")
  }

  @Test(arguments: [400, 403, 405, 501]) func whatCannotBeAskedIsNotAbsent(_ status: Int) throws {
    #expect(try interpret(Scene.reply(status), .verify, Scene.stored()) == "inconclusive")
    #expect(try interpret(Scene.reply(status), .probe(marker: nil), multi) == "inconclusive")
    let facts = Scene.facts(size: 40 << 20, parts: 3, session: .some(nil)) { $0.lostAnswer = .create }
    #expect(try interpret(Scene.reply(status), .probe(marker: "a,b&"), facts) == "unlisted [] next b&")
  }

  /// HEAD is not allowed after a lost answer to Complete: Complete is repeated, and the state of the upload tells.
  @Test func aLostCompleteThatNobodyMayLookForIsAskedByCompleteAgain() throws {
    let s3 = try Scene.s3()
    let gone = Scene.error(404, "NoSuchUpload")
    var facts = Scene.stored()
    facts.lostAnswer = .finish
    #expect(s3.nextStep(facts) == .control(.verify))
    facts.inconclusive = [.verify]
    #expect(s3.nextStep(facts) == .control(.finish))
    #expect(try interpret(gone, .finish, facts) == "finished none")
    #expect(try interpret(Scene.reply(404), .finish, facts) == "finished none")
    #expect(try interpret(result("<ETag>x</ETag>"), .finish, facts) == "finished digest")
    facts.session?.intendedAtMs = Scene.wallMs - 86_400_000
    #expect(try interpret(gone, .finish, facts) == "proto.lost_answer unknown", "a rule may have removed it")
  }

  @Test func anUploadThatWasGoneBeforeTheFirstCompleteWasNotCompletedByUs() throws {
    let gone = Scene.error(404, "NoSuchUpload")
    var facts = Scene.stored()
    #expect(try interpret(gone, .finish, facts) == "noted [\"gone=1\"], proto.session_gone probe")
    facts.session?.notes = ["gone": "1"]
    facts.lostAnswer = .finish
    facts.inconclusive = [.verify]
    #expect(try interpret(gone, .finish, facts) == "proto.session_gone sessionGone")
  }

  @Test func somethingThatMayBeOursAndCannotBeLookedAtIsUnknown() throws {
    let once: (inout BatchSettings) -> Void = { $0.ifNoneMatch = true }
    let s3 = try Scene.s3(change: once)
    var facts = whole
    facts.lostAnswer = .part
    facts.inconclusive = [.verify]
    #expect(s3.nextStep(facts) == .chunks)
    let exists = Scene.error(412, "PreconditionFailed")
    #expect(try interpret(exists, .chunk(Scene.chunk()), facts, change: once) == "proto.lost_answer unknown")
    var stored = Scene.stored()
    stored.lostAnswer = .finish
    stored.inconclusive = [.verify]
    #expect(try interpret(exists, .finish, stored, change: once) == "proto.lost_answer unknown")
  }

  @Test func aPartThatWentOutWholeIsLookedForInTheList() throws {
    let chunk = Scene.chunk(1, "hello", .crc64nvme, .md5)
    var lost = Scene.broken()
    lost.bytesSent = 5
    #expect(
      try interpret(lost, .chunk(chunk), multi)
        == "doubted [\"crc64nvme\", \"md5\"], net.reset retry(isThrottled: false)")
    lost.bytesSent = 4
    #expect(try interpret(lost, .chunk(chunk), multi) == "net.reset retry(isThrottled: false)", "it cannot be there")
    var gateway = Scene.reply(502)
    gateway.bytesSent = 5
    #expect(try interpret(gateway, .chunk(chunk), multi) == "doubted [\"crc64nvme\", \"md5\"], http.502 probe")
    lost.bytesSent = 5
    #expect(try interpret(lost, .chunk(Scene.chunk(0, "hello", .md5)), whole) == "net.reset retry(isThrottled: false)")
  }

  @Test func aPartInDoubtIsStoredWhenTheListShowsItsDigest() throws {
    let (crc, md5) = (Scene.digest("hello", .crc64nvme), Scene.digest("hello", .md5))
    var facts = Scene.facts(size: 15, parts: 3, session: "U")
    func receipts(_ remote: [String: String], _ part: String) throws -> [TransferModel.Confirmation?] {
      facts.doubts = [ChunkDoubt(seq: 1, length: 5, remote: remote, isBackingOff: true)]
      let reply = Scene.reply(200, [], "<ListPartsResult>\(part)</ListPartsResult>")
      guard
        case .partsListed(let parts, _) = try Scene.s3().interpret(
          reply, to: .probe(marker: nil), facts, Scene.context()
        ).outcome
      else { return [] }
      return parts.map { $0.receipt?.confirmation }
    }
    let both = ["crc64nvme": crc.description, "md5": md5.description]
    let tag = hexText(md5.bytes)
    func checked(_ digest: Digest) -> String {
      listed(2, "x", 5).replacing(
        "</Part>", with: "<ChecksumCRC64NVME>\(base64(digest.bytes))</ChecksumCRC64NVME></Part>")
    }
    #expect(try receipts(both, checked(crc)) == [.digest])
    #expect(try receipts(both, checked(Scene.digest("other", .crc64nvme))) == [nil])
    #expect(try receipts(both, listed(2, tag, 5)) == [.etag])
    #expect(try receipts(["crc64nvme": crc.description], listed(2, tag, 5)) == [nil])
    #expect(try receipts(both, listed(2, tag, 4)) == [nil])
    #expect(try receipts(both, listed(1, tag, 5)) == [nil])
    // Named twice, it is one part; with two contents it is none.
    #expect(try receipts(both, listed(2, tag, 5) + listed(2, tag, 5)) == [.etag])
    #expect(try receipts(both, listed(2, tag, 5) + listed(2, "x", 5)) == [])
    #expect(try receipts(both, listed(2, tag, 5) + listed(2, tag, 4)) == [])
  }
}
