import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// How answers are interpreted for an upload that is sent body by body.
@Suite struct TusAnswerTests {
  private func interpret(
    _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts, failures: Int = 0
  ) throws -> String {
    text(try TusScene.tus().interpret(reply, to: step, facts, TusScene.context(facts, failures: failures)))
  }

  private func create(_ status: Int, _ fields: (String, String)..., size: Int64 = 5) throws -> String {
    try interpret(Scene.reply(status, fields), .create, TusScene.facts(size: size, url: nil))
  }

  private func patch(
    _ status: Int, _ fields: [(String, String)] = [], _ body: String = "", chunk: ChunkFacts? = nil,
    facts: TransferFacts? = nil, failures: Int = 0
  ) throws -> String {
    let chunk = chunk ?? TusScene.chunk(1, 4..<8)
    return try interpret(
      Scene.reply(status, fields, body), .chunk(chunk), facts ?? TusScene.facts(size: 10, chunk: 4), failures: failures)
  }

  @Test func discovery() throws {
    let tus = try TusScene.tus()
    func found(_ reply: TransferReply) -> String {
      let meaning = tus.interpret(
        reply, to: .discover, TusScene.facts(size: 5), TusScene.context(TusScene.facts(size: 5)))
      guard let learned = meaning.learned, case .settled = meaning.outcome else { return text(meaning) }
      let features = TusFeatures(learned.discovered!)
      return "\(features.extensions.sorted()) \(features.maxSize ?? -1) \(features.algorithms) \(features.versions)"
    }
    let all = [
      ("Tus-Version", "1.0.0, 0.2.2"), ("Tus-Extension", "creation, Checksum"), ("Tus-Max-Size", "7"),
      ("Tus-Checksum-Algorithm", "sha1, MD5"),
    ]
    #expect(found(Scene.reply(204, all)) == #"["checksum", "creation"] 7 ["sha1", "md5"] ["1.0.0", "0.2.2"]"#)
    #expect(found(Scene.reply(200, [("Tus-Version", "1.0.0")])) == #"[] -1 [] ["1.0.0"]"#)
    for status in [200, 401, 404, 405, 500] {
      #expect(found(Scene.reply(status)) == #"["creation"] -1 [] []"#, "\(status)")
    }
    #expect(found(Scene.reply(503)) == "http.503 retry(isThrottled: true)")
    #expect(found(Scene.reply(302, [("Location", "http://other/")])) == "http.redirect permanent")
  }

  @Test(arguments: [
    ("/files/abc", "http://h/files/abc"), ("abc", "http://h/files/abc"),
    ("http://h/files/a+b~c:d", "http://h/files/a+b~c:d"),
    ("//h/x%2Fy?z", "http://h/x%2Fy?z"), ("HTTP://H:80/x", "http://H:80/x"),
  ])
  func locationsAbsoluteAndRelative(_ location: String, _ url: String) throws {
    #expect(try create(201, ("Location", location)) == "opened \(url)")
  }

  @Test(arguments: [
    "http://other/files/1", "https://h/files/1", "http://h:81/files/1", "http://user:pw@h/files/1", "ftp://h/x",
    "http://h/a b", "http://h/\u{FC}", "javascript:alert(1)", "http://h/" + String(repeating: "x", count: 5_000),
  ])
  func locationsThatAreRefused(_ location: String) throws {
    #expect(try create(201, ("Location", location)).hasSuffix("permanent"))
  }

  @Test func creation() throws {
    #expect(try create(201) == "proto.bad_reply permanent")
    #expect(try create(200, ("Content-Type", "text/html")) == "proto.bad_reply permanent")
    #expect(try create(201, ("Location", "/1"), size: 0) == "opened http://h/1, offset 0")
    #expect(try create(413) == "http.413 permanent")
    #expect(try create(412, ("Tus-Version", "0.2")) == "proto.unsupported permanent")
    #expect(try create(409) == "http.409 retry(isThrottled: false)")
    #expect(try create(423) == "http.423 retry(isThrottled: false)")
    #expect(try create(503) == "http.503 retry(isThrottled: true)")
    #expect(try create(403) == "http.403 permanent")
    #expect(try create(307, ("Location", "http://other/")) == "http.redirect permanent")
    #expect(
      try interpret(Scene.broken(), .create, TusScene.facts(size: 5, url: nil)) == "net.reset retry(isThrottled: false)"
    )
  }

  @Test func expiryByTheClockOfTheServer() throws {
    // The server's clock is an hour ahead.
    let reply = Scene.reply(
      201,
      [
        ("Location", "/1"), ("Date", "Fri, 24 May 2013 01:00:00 GMT"),
        ("Upload-Expires", "Fri, 24 May 2013 03:00:00 GMT"),
      ])
    let facts = TusScene.facts(size: 5, url: nil)
    let meaning = try TusScene.tus().interpret(reply, to: .create, facts, TusScene.context(facts))
    #expect(meaning.opened?.expiresAtMs == Scene.wallMs + 7_200_000)
  }

  @Test func creationWithTheBody() throws {
    let facts = TusScene.facts(size: 5, extensions: "creation-with-upload", url: nil)
    func made(_ fields: (String, String)..., status: Int = 201) throws -> String {
      try interpret(Scene.reply(status, [("Location", "/1")] + fields), .chunk(TusScene.chunk(0, 0..<5)), facts)
    }
    #expect(try made(("Upload-Offset", "5")) == "opened http://h/1, stored 0 size")
    #expect(try made(("Upload-Offset", "3")) == "opened http://h/1, advanced to 3")
    // A server that ignores the body: the upload exists, and the next body is a PATCH.
    #expect(try made().hasSuffix("opened http://h/1, proto.offset repair"))
    #expect(try made(("Upload-Offset", "6")) == "opened http://h/1, proto.offset probe")
    #expect(try made(status: 413) == "http.413 permanent")
    #expect(try made(status: 460) == "integrity.mismatch retry(isThrottled: false)")
    #expect(
      try interpret(Scene.broken(), .chunk(TusScene.chunk(0, 0..<5)), facts) == "net.reset retry(isThrottled: false)")
  }

  @Test(arguments: [
    ("8", "stored 1 size"), ("7", "advanced to 3"), ("5", "advanced to 1"), ("4", "proto.offset probe"),
    ("3", "proto.offset probe"), ("9", "proto.offset probe"), ("10", "proto.offset probe"),
    ("11", "proto.offset permanent"), ("-1", "proto.bad_reply probe"),
    ("99999999999999999999", "proto.bad_reply probe"),
    ("8 ", "stored 1 size"), ("8,8", "proto.bad_reply probe"), ("", "proto.bad_reply probe"),
    ("+8", "proto.bad_reply probe"), ("0x8", "proto.bad_reply probe"),
  ])
  func offsetsAfterABody(_ offset: String, _ expected: String) throws {
    #expect(try patch(204, [("Upload-Offset", offset)]) == expected)
  }

  @Test func aBodyThatIsNotTheWholeChunk() throws {
    var chunk = TusScene.chunk(0, 0..<4, acked: 1)
    chunk.body = ByteRange(offset: 1, length: 2)
    #expect(try patch(204, [("Upload-Offset", "3")], chunk: chunk) == "advanced to 3")
    #expect(try patch(204, [("Upload-Offset", "4")], chunk: chunk) == "proto.offset probe")
    #expect(try patch(204, [("Upload-Offset", "1")], chunk: chunk) == "proto.offset probe")
  }

  @Test func aCheckedBodyIsConfirmedByItsDigest() throws {
    var chunk = TusScene.chunk(0, 0..<4)
    chunk.digests[.sha1] = Scene.digest("x", .sha1)
    let facts = TusScene.facts(size: 10, chunk: 4, extensions: "checksum", checksums: "sha1")
    #expect(try patch(204, [("Upload-Offset", "4")], chunk: chunk, facts: facts) == "stored 0 digest")
    chunk.acked = 1
    #expect(try patch(204, [("Upload-Offset", "4")], chunk: chunk, facts: facts) == "stored 0 size")
  }

  @Test func theExpiryMoves() throws {
    let fields = [("Upload-Offset", "8"), ("Upload-Expires", "Fri, 24 May 2013 00:00:10 GMT")]
    #expect(try patch(204, fields) == "noted [\"expires=\(Scene.wallMs + 10_000)\"], stored 1 size")
  }

  @Test(arguments: [
    (409, "", "http.409 probe"), (423, "ERR_UPLOAD_LOCKED: x", "http.423 retry(isThrottled: false)"),
    (404, "", "proto.session_gone sessionGone"), (410, "", "proto.session_gone sessionGone"),
    (403, "ERR_MODIFY_FINAL: no", "http.403 permanent"), (412, "", "proto.unsupported permanent"),
    (415, "", "http.4xx permanent"), (401, "", "auth.refused permanent"),
    (460, "", "integrity.mismatch retry(isThrottled: false)"),
    (400, "ERR_UPLOAD_INTERRUPTED: upload has been interrupted", "http.400 probe"),
    (400, "ERR_UNEXPECTED_EOF: x", "http.400 probe"), (400, "ERR_UPLOAD_STOPPED: hook", "http.400 permanent"),
    (400, "Request aborted due to lock acquired", "http.400 probe"), (400, "", "http.400 permanent"),
    (500, "ERR_LOCK_TIMEOUT: x", "http.500 retry(isThrottled: false)"),
    (503, "ERR_SERVER_SHUTDOWN: x", "http.503 retry(isThrottled: true)"), (501, "", "http.5xx permanent"),
    (302, "", "http.redirect permanent"), (507, "", "http.507 retry(isThrottled: false)"),
  ])
  func refusals(_ status: Int, _ body: String, _ expected: String) throws {
    #expect(try patch(status, [], body) == expected)
  }

  @Test func aDamagedBodyIsNotSentForEver() throws {
    #expect(try patch(460, failures: 1) == "integrity.mismatch retry(isThrottled: false)")
    #expect(try patch(460, failures: 2) == "integrity.mismatch permanent")
  }

  @Test func anAlgorithmThatIsNotKnownAfterAll() throws {
    var chunk = TusScene.chunk(0, 0..<4)
    chunk.digests[.sha1] = Scene.digest("x", .sha1)
    let facts = TusScene.facts(size: 10, chunk: 4, extensions: "creation,checksum", checksums: "sha1")
    let meaning = try TusScene.tus().interpret(Scene.reply(400), to: .chunk(chunk), facts, TusScene.context(facts))
    guard let learned = meaning.learned, case .failed(_, .repair) = meaning.outcome else {
      return #expect(Bool(false), "\(meaning)")
    }
    #expect(learned.discovered?["extensions"] == "creation")
  }

  @Test func bodiesThatAreTooLong() throws {
    func refused(_ length: Int64, _ body: String = "") throws -> String {
      try patch(413, [], body, chunk: TusScene.chunk(0, 0..<length), facts: TusScene.facts(size: length))
    }
    #expect(try refused(64 << 20) == "noted [\"body=\(32 << 20)\"], http.413 probe")
    #expect(try refused(500 << 20) == "noted [\"body=\(64 << 20)\"], http.413 probe")
    #expect(try refused((1 << 20) + 1) == "noted [\"body=\(1 << 20)\"], http.413 probe")
    #expect(try refused(1 << 20) == "http.413 permanent")
    #expect(try refused(64 << 20, "ERR_MAX_SIZE_EXCEEDED: x") == "http.413 permanent")
  }

  @Test(arguments: [
    (200, ["Upload-Offset": "0"], "offset 0"), (204, ["Upload-Offset": "5", "Upload-Length": "10"], "offset 5"),
    (200, ["Upload-Offset": "10"], "offset 10"), (200, ["Upload-Offset": "11"], "proto.offset permanent"),
    (200, ["Upload-Offset": "5", "Upload-Length": "11"], "proto.session_gone sessionGone"),
    (200, [:], "proto.bad_reply retry(isThrottled: false)"),
    (200, ["Content-Type": "text/html; x"], "proto.bad_reply permanent"),
    (200, ["Upload-Offset": "-5"], "proto.bad_reply retry(isThrottled: false)"),
    (404, [:], "proto.session_gone sessionGone"), (410, [:], "proto.session_gone sessionGone"),
    (403, [:], "inconclusive"), (400, [:], "inconclusive"), (405, [:], "inconclusive"), (501, [:], "inconclusive"),
    (423, [:], "http.423 retry(isThrottled: false)"),
    (429, [:], "http.429 retry(isThrottled: true)"), (500, [:], "http.500 retry(isThrottled: false)"),
    (401, [:], "auth.refused permanent"),
  ])
  func probes(_ status: Int, _ fields: [String: String], _ expected: String) throws {
    let reply = Scene.reply(status, fields.map { ($0.key, $0.value) })
    #expect(try interpret(reply, .probe(marker: nil), TusScene.facts(size: 10, chunk: 4)) == expected)
  }

  @Test func aRefusedMethodSaysWhatWouldWork() throws {
    let facts = TusScene.facts(size: 10, chunk: 4)
    func words(_ step: StepRequest, _ tus: TusProtocol) -> String {
      failure(tus.interpret(Scene.reply(405), to: step, facts, TusScene.context(facts)))?.message ?? ""
    }
    let patch = StepRequest.chunk(TusScene.chunk(0, 0..<4))
    #expect(try words(.create, TusScene.tus()).contains("{path} in its query"))
    #expect(try words(patch, TusScene.tus()).contains("--method-override"))
    #expect(try !words(patch, TusScene.tus { $0.overridesMethod = true }).contains("--method-override"))
  }

  @Test func anUploadThatForgotWhatItHeldIsOfNoUse() throws {
    let zero = Scene.reply(200, [("Upload-Offset", "0")])
    func look(_ change: (inout TransferFacts) -> Void) throws -> String {
      try interpret(zero, .probe(marker: nil), TusScene.facts(size: 10, chunk: 4, change: change))
    }
    #expect(try look { _ in } == "offset 0")
    #expect(try look { $0.acked = 4 } == "proto.offset sessionGone")
    #expect(try look { $0.session?.mayHoldBytes = true } == "proto.offset sessionGone")
    let other = Scene.reply(200, [("Upload-Offset", "1")])
    #expect(
      try interpret(other, .probe(marker: nil), TusScene.facts(size: 10, chunk: 4) { $0.acked = 4 }) == "offset 1")
  }

  @Test func whereTheOffsetIsNotToldTheNextBodyTells() throws {
    let tus = try TusScene.tus()
    let facts = TusScene.facts(size: 10, chunk: 4) { facts in
      facts.isResumed = true
      facts.isProbed = true
      facts.inconclusive = [.probe]
    }
    #expect(tus.nextStep(facts) == .chunks)
    let step = StepRequest.chunk(TusScene.chunk(1, 4..<8))
    for status in [403, 404, 409, 410] {
      #expect(try interpret(Scene.reply(status), step, facts) == "proto.session_gone sessionGone")
    }
    #expect(try interpret(Scene.reply(403), step, TusScene.facts(size: 10, chunk: 4)) == "http.403 permanent")
  }

  @Test func theEndOfACancelledUpload() throws {
    let facts = TusScene.facts(size: 5)
    for status in [200, 204, 404, 410, 405, 501] {
      #expect(try interpret(Scene.reply(status), .abort(remoteID: "http://h/files/1"), facts) == "settled")
    }
    #expect(try interpret(Scene.reply(500), .abort(remoteID: "x"), facts) == "http.500 retry(isThrottled: false)")
    #expect(try TusScene.tus().abortTargets(facts) == ["http://h/files/1"])
    #expect(try TusScene.tus().abortTargets(TusScene.facts(size: 5, url: nil)).isEmpty)
  }

  @Test func waitsAreTheServersChoice() throws {
    let facts = TusScene.facts(size: 5)
    let meaning = try TusScene.tus().interpret(
      Scene.reply(503, [("Retry-After", "9")]), to: .chunk(TusScene.chunk(0, 0..<5)), facts, TusScene.context(facts))
    #expect(failure(meaning)?.retryAfterMs == 9_000)
  }
}
