import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ResumableAnswerTests {
  typealias R = ResumableScene
  private let done = ("Upload-Complete", "?1")
  private let open = ("Upload-Complete", "?0")

  private func interpret(
    _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts, failures: Int = 0,
    _ proto: ResumableProtocol? = nil
  ) throws -> String {
    let context = TusScene.context(facts, failures: failures)
    return text(try (proto ?? R.proto()).interpret(reply, to: step, facts, context))
  }

  private func make(
    _ status: Int, _ fields: (String, String)..., facts: TransferFacts? = nil, proto: ResumableProtocol? = nil
  ) throws -> String {
    try interpret(Scene.reply(status, fields), .chunk(TusScene.chunk(0, 0..<5)), facts ?? R.fresh(size: 5), proto)
  }

  private func append(
    _ status: Int, _ fields: [(String, String)] = [], _ body: String = "", chunk: ChunkFacts? = nil, failures: Int = 0,
    proto: ResumableProtocol? = nil
  ) throws -> String {
    let chunk = chunk ?? TusScene.chunk(1, 4..<8)
    return try interpret(
      Scene.reply(status, fields, body), .chunk(chunk), R.facts(size: 10, chunk: 4), failures: failures, proto)
  }

  @Test func whatTheServerIs() throws {
    func found(_ reply: TransferReply, _ discovered: [String: String]? = nil) throws -> [String: String]? {
      let facts = R.facts(size: 5, url: nil, discovered: discovered)
      let meaning = try R.proto().interpret(reply, to: .discover, facts, TusScene.context(facts))
      guard let learned = meaning.learned, case .settled = meaning.outcome else { return nil }
      return learned.discovered
    }
    let limits = ("Upload-Limit", "max-size=100, min-append-size=5, what=else, max-age=7")
    #expect(
      try found(Scene.reply(200, [limits]))
        == ["speaks": "9", "max-size": "100", "min-append-size": "5", "max-age": "7"])
    #expect(
      try found(Scene.reply(204, [("Upload-Limit", "min-size=0"), ("Upload-Draft-Interop-Version", "8")]))
        == ["speaks": "8", "min-size": "0"])
    #expect(try found(Scene.reply(200)) == ["tried": "9"])
    #expect(try found(Scene.reply(405, [limits])) == ["tried": "9"])
    #expect(try found(Scene.reply(200), ["tried": "9"]) == ["tried": "8"])
    // A limit of the wrong type voids all limits.
    #expect(try found(Scene.reply(200, [("Upload-Limit", "max-size=?1")])) == ["tried": "9"])
    #expect(try found(Scene.reply(200, [("Upload-Limit", "max-size=-1")])) == ["tried": "9"])
    #expect(try found(Scene.reply(503)) == nil)
  }

  @Test func emptyCreation() throws {
    func create(_ status: Int, _ fields: (String, String)...) throws -> String {
      try interpret(Scene.reply(status, fields), .create, R.fresh(size: R.large))
    }
    #expect(try create(201, ("Location", "/up/1"), open) == "opened http://h/up/1")
    #expect(try create(201, ("Location", "/up/1")) == "opened http://h/up/1")
    #expect(
      try create(201, ("Location", "/up/1"), ("Upload-Limit", "max-append-size=9"))
        == #"noted ["max-append=9"], opened http://h/up/1"#)
    #expect(try create(201) == "proto.bad_reply permanent")
    #expect(try create(201, ("Location", "http://other/1")) == "http.redirect permanent")
    #expect(try create(400, done) == "http.400 permanent")
    #expect(try create(200, done).hasSuffix("permanent"))
    #expect(try create(404) == "http.404 permanent")
    #expect(try create(500) == "http.500 retry(isThrottled: false)")
    #expect(try create(307, ("Location", "/x")) == "http.redirect permanent")
    #expect(try interpret(Scene.broken(), .create, R.fresh(size: R.large)) == "net.reset retry(isThrottled: false)")
  }

  @Test func aNameThatCameAheadHasToStay() throws {
    let heard = R.facts(size: R.large)
    #expect(
      try interpret(Scene.reply(201, [("Location", "/up/2")]), .create, heard) == "proto.bad_reply permanent")
    #expect(try interpret(Scene.reply(201, [("Location", "/up/1")]), .create, heard) == "opened http://h/up/1")
    #expect(try interpret(Scene.reply(201), .create, heard) == "opened http://h/up/1")
  }

  @Test func theWholeFileInOneRequest() throws {
    #expect(try make(201, done) == "stored 0 none whole none")
    #expect(try make(422, done) == "http.4xx permanent")
    #expect(try make(500, done) == "http.500 permanent")
    // A server that does not know resumable uploads.
    #expect(try make(201) == "stored 0 none whole none")
    let page = ("Content-Type", "text/html")
    #expect(try make(201, page) == "stored 0 none whole none")
    #expect(try make(200, page) == "proto.bad_reply permanent")
    #expect(try make(200, page, done) == "stored 0 none whole none")
    #expect(try make(500) == "http.500 retry(isThrottled: false)")
    #expect(try make(201, open, ("Location", "/up/1")) == "opened http://h/up/1, proto.offset probe")
    let crc = base64(Scene.digest("x", .crc32c).bytes)
    #expect(try make(201, done, ("Repr-Digest", "crc32c=:\(crc):")) == "stored 0 digest whole digest")
    #expect(try make(201, done, ("Repr-Digest", "crc32c=:AAAAAA==:")) == "integrity.mismatch retry(isThrottled: false)")
    let post = try R.proto { $0.method = "post" }
    let plain = R.fresh(size: 5, discovered: R.plain)
    #expect(try make(500, facts: plain, proto: post) == "http.500 unknown")
    #expect(
      try interpret(Scene.broken(), .chunk(TusScene.chunk(0, 0..<5)), plain, post) == "proto.lost_answer unknown")
    #expect(
      try interpret(Scene.broken(), .chunk(TusScene.chunk(0, 0..<5)), R.fresh(size: 5))
        == "net.reset retry(isThrottled: false)")
    #expect(
      try interpret(Scene.reply(412), .chunk(TusScene.chunk(0, 0..<5)), R.fresh(size: 5), R.proto(ifNoneMatch: true))
        == "policy.exists permanent")
  }

  /// A 104 named the upload while the request ran: after a failure it can be resumed, even a POST.
  @Test func aRequestThatBecameResumable() throws {
    let heard = R.facts(size: 5, discovered: R.plain)
    let post = try R.proto { $0.method = "post" }
    #expect(
      try interpret(Scene.broken(), .chunk(TusScene.chunk(0, 0..<5)), heard, post)
        == "net.reset retry(isThrottled: false)")
    #expect(try make(500, facts: heard, proto: post) == "http.500 retry(isThrottled: false)")
    #expect(try make(201, open, facts: heard) == "opened http://h/up/1, proto.offset probe")
    #expect(try make(201, ("Location", "/object"), facts: heard) == "stored 0 none whole none")
    #expect(try make(404, facts: heard) == "proto.session_gone sessionGone")
  }

  @Test(
    arguments: [
      (104, "9", "/up/7", "http://h/up/7"), (104, "8", "/up/7", nil), (104, nil, "/up/7", nil),
      (103, "9", "/up/7", nil), (104, "9", nil, nil), (104, "9", "http://other/7", nil),
      (104, "9", "http://u:p@h/7", nil),
    ] as [(Int, String?, String?, String?)])
  func interimAnswers(_ status: Int, _ version: String?, _ location: String?, _ expected: String?) throws {
    var fields = HTTPFields()
    if let version { fields[.init("upload-draft-interop-version")!] = version }
    if let location { fields[.location] = location }
    let facts = R.fresh(size: 5)
    let opened = try R.proto().interpretInterim(
      InterimReply(status: status, fields: fields), to: .chunk(TusScene.chunk(0, 0..<5)), facts, TusScene.context(facts)
    )
    #expect(opened?.remoteID == expected)
  }

  @Test func aNameIsHeardOnceAndOnlyWhenAnUploadIsMade() throws {
    var fields = HTTPFields()
    fields[.init("upload-draft-interop-version")!] = "9"
    fields[.location] = "/up/7"
    fields[.init("upload-limit")!] = "max-age=10"
    let reply = InterimReply(status: 104, fields: fields)
    func hear(_ step: StepRequest, _ facts: TransferFacts) throws -> OpenedSession? {
      try R.proto().interpretInterim(reply, to: step, facts, TusScene.context(facts))
    }
    #expect(try hear(.chunk(TusScene.chunk(1, 4..<8)), R.facts(size: 10, chunk: 4)) == nil)
    #expect(try hear(.finish, R.facts(size: 10)) == nil)
    #expect(try hear(.create, R.fresh(size: 10))?.expiresAtMs == Scene.wallMs + 10_000)
  }

  @Test(
    arguments: [
      (nil, "stored 1 size"), ("8", "stored 1 size"), ("6", "advanced to 2"), ("4", "proto.offset probe"),
      ("9", "proto.offset probe"), ("11", "proto.offset permanent"), ("-1", "stored 1 size"), ("?1", "stored 1 size"),
      ("1234567890123456", "stored 1 size"), ("6;a=b", "advanced to 2"),
    ] as [(String?, String)])
  func offsetsAfterABody(_ offset: String?, _ expected: String) throws {
    #expect(try append(204, (offset.map { [("Upload-Offset", $0)] } ?? []) + [open]) == expected)
    #expect(try append(204, offset.map { [("Upload-Offset", $0)] } ?? []) == expected)
  }

  @Test func theLastBody() throws {
    let last = TusScene.chunk(2, 8..<10)
    #expect(try append(200, [done], chunk: last) == "stored 2 size")
    #expect(try append(200, chunk: last) == "stored 2 size")
    #expect(try append(500, [done], chunk: last) == "http.500 permanent")
    #expect(try append(204, [open], chunk: last) == "stored 2 size")
    #expect(try append(200, [done]) == "proto.bad_reply permanent")
    let facts = R.facts(size: 10, chunk: 4)
    func receipt(_ fields: (String, String)...) throws -> [String: String] {
      let meaning = try R.proto().interpret(
        Scene.reply(201, fields), to: .chunk(last), facts, TusScene.context(facts))
      guard case .stored(let part, nil) = meaning.outcome else { return [:] }
      return part.remote
    }
    #expect(
      try receipt(done, ("ETag", "\"e\""), ("Date", Scene.date), ("Repr-Digest", "crc32c=:AAAAAA==:"))
        == ["complete": "201", "etag": "\"e\"", "date": Scene.date, "crc32c": "crc32c:00000000"])
    // All bytes are stored, but the upload has not ended.
    #expect(try receipt(open).isEmpty)
  }

  @Test func theDigestOfTheWhole() throws {
    let facts = R.facts(size: 10, chunk: 4)
    var context = TusScene.context(facts)
    context.fileDigests[.sha256] = Scene.digest("hello", .sha256)
    let proto = try R.proto { $0.digest = "sha-256" }
    let wrong = Scene.reply(201, [done, ("Repr-Digest", "sha-256=:\(base64(Scene.digest("x", .sha256).bytes)):")])
    #expect(
      text(proto.interpret(wrong, to: .chunk(TusScene.chunk(2, 8..<10)), facts, context))
        == "integrity.mismatch permanent")
    let right = Scene.reply(201, [done, ("Repr-Digest", "sha-256=:\(base64(Scene.digest("hello", .sha256).bytes)):")])
    #expect(text(proto.interpret(right, to: .chunk(TusScene.chunk(2, 8..<10)), facts, context)) == "stored 2 digest")
  }

  @Test(arguments: [
    (409, "http.409 probe"), (404, "proto.session_gone sessionGone"), (410, "proto.session_gone sessionGone"),
    (400, "http.400 permanent"), (401, "auth.refused permanent"), (403, "http.403 permanent"),
    (415, "http.4xx permanent"), (423, "http.423 retry(isThrottled: false)"),
    (429, "http.429 retry(isThrottled: true)"),
    (500, "http.500 retry(isThrottled: false)"), (503, "http.503 retry(isThrottled: true)"),
    (507, "http.507 retry(isThrottled: false)"), (301, "http.redirect permanent"), (308, "http.redirect permanent"),
  ])
  func refusals(_ status: Int, _ expected: String) throws {
    #expect(try append(status) == expected)
  }

  @Test func anUploadThatIsGoneMayBeDone() throws {
    let post = try R.proto { $0.method = "post" }
    let last = TusScene.chunk(2, 8..<10)
    #expect(try append(404, chunk: last) == "proto.session_gone sessionGone")
    #expect(try append(404, chunk: last, proto: post) == "proto.session_gone sessionGone")
    #expect(try append(404, proto: post) == "proto.session_gone sessionGone")
    let lost = R.facts(size: 10, chunk: 4) { $0.lostAnswer = .part }
    #expect(try interpret(Scene.reply(404), .probe(marker: nil), lost, post) == "proto.lost_answer unknown")
    #expect(try interpret(Scene.reply(404), .chunk(last), lost, post) == "proto.lost_answer unknown")
    #expect(try interpret(Scene.reply(404), .probe(marker: nil), lost) == "proto.session_gone sessionGone")
  }

  @Test func problems() throws {
    let type = ("Content-Type", "application/problem+json")
    let body = #"{"type":"about:blank","title":"digest mismatch","detail":"a\u001b[2Jb","status":[]}"#
    #expect(try append(400, [type], body) == "integrity.mismatch retry(isThrottled: false)")
    #expect(try append(400, [type], body, failures: 2) == "integrity.mismatch permanent")
    let complete = #"{"type":"https://iana.org/assignments/http-problem-types#completed-upload"}"#
    #expect(try append(400, [type], complete) == "http.400 probe")
    #expect(try append(400, [("Content-Type", "application/json")], body) == "http.400 permanent")
    let facts = R.facts(size: 10, chunk: 4)
    let meaning = try R.proto().interpret(
      Scene.reply(402, [type], body), to: .probe(marker: nil), facts, TusScene.context(facts))
    #expect(failure(meaning)?.message == "the server answered 402 (digest mismatch: a [2Jb)")
    for broken in ["", "{", "[]", #"{"title":7}"#, String(repeating: "[", count: 5_000)] {
      #expect(try append(400, [type], broken) == "http.400 permanent")
    }
  }

  @Test func bodiesThatAreTooLong() throws {
    func refused(_ length: Int64, _ fields: (String, String)...) throws -> String {
      let facts = R.facts(size: length) { $0.isProbed = true }
      return try interpret(Scene.reply(413, fields), .chunk(TusScene.chunk(0, 0..<length)), facts)
    }
    #expect(try refused(64 << 20) == "noted [\"body=\(32 << 20)\"], http.413 probe")
    #expect(try refused(64 << 20, ("Upload-Limit", "max-append-size=1000")) == "policy.limit permanent")
    #expect(try refused(60_000, ("Upload-Limit", "max-append-size=1000")) == "noted [\"body=1000\"], http.413 probe")
    #expect(
      try refused(64 << 20, ("Upload-Limit", "min-append-size=50000000")) == "noted [\"body=50000000\"], http.413 probe"
    )
    #expect(try refused(1 << 20) == "http.413 permanent")
    #expect(try refused(50_000_000, ("Upload-Limit", "min-append-size=50000000")) == "http.413 permanent")
  }

  @Test(arguments: [
    (204, ["Upload-Offset": "0"], "offset 0"), (200, ["Upload-Offset": "5", "Upload-Length": "10"], "offset 5"),
    (204, ["Upload-Offset": "10", "Upload-Complete": "?0"], "offset 10"),
    (204, ["Upload-Offset": "10", "Upload-Complete": "?1"], #"noted ["ended=1"], offset 10"#),
    (204, ["Upload-Offset": "9", "Upload-Complete": "?1"], "proto.offset permanent"),
    (204, ["Upload-Offset": "11"], "proto.offset permanent"),
    (204, ["Upload-Offset": "5", "Upload-Length": "11"], "proto.session_gone sessionGone"),
    (204, ["Upload-Offset": "5", "Upload-Limit": "max-append-size=3"], #"noted ["max-append=3"], offset 5"#),
    (200, [:], "proto.bad_reply retry(isThrottled: false)"),
    (200, ["Content-Type": "text/html"], "proto.bad_reply permanent"),
    (200, ["Upload-Offset": "-5"], "proto.bad_reply retry(isThrottled: false)"),
    (404, [:], "proto.session_gone sessionGone"), (403, [:], "inconclusive"), (400, [:], "inconclusive"),
    (405, [:], "inconclusive"),
    (500, [:], "http.500 retry(isThrottled: false)"),
    (429, [:], "http.429 retry(isThrottled: true)"),
  ])
  func probes(_ status: Int, _ fields: [String: String], _ expected: String) throws {
    let reply = Scene.reply(status, fields.map { ($0.key, $0.value) })
    #expect(try interpret(reply, .probe(marker: nil), R.facts(size: 10, chunk: 4)) == expected)
  }

  @Test func aServerWithOneURLSaysWhatWouldWork() throws {
    func words(_ status: Int, _ size: Int64, ifNoneMatch: Bool = false, _ method: String = "put") throws -> String {
      let facts = R.fresh(size: size)
      let step: StepRequest = size > 1_000 ? .create : .chunk(TusScene.chunk(0, 0..<size))
      let proto = try R.proto(ifNoneMatch: ifNoneMatch) { $0.method = method }
      return failure(proto.interpret(Scene.reply(status), to: step, facts, TusScene.context(facts)))?.message ?? ""
    }
    for size in [5, R.large] {
      #expect(try words(405, size).contains("--method post, or {path} in the query"))
      #expect(try words(405, size, "post").contains("--method put"))
      #expect(try words(412, size).contains("--interop 6"))
      #expect(try !words(412, size, ifNoneMatch: true).contains("--interop"))
    }
  }

  @Test func anUploadThatForgotWhatItHeldIsOfNoUse() throws {
    let zero = Scene.reply(204, [("Upload-Offset", "0")])
    func look(_ method: String, _ change: (inout TransferFacts) -> Void) throws -> String {
      try interpret(
        zero, .probe(marker: nil), R.facts(size: 10, chunk: 4, change: change), R.proto { $0.method = method })
    }
    #expect(try look("put") { _ in } == "offset 0")
    #expect(try look("put") { $0.acked = 4 } == "proto.offset sessionGone")
    #expect(try look("post") { $0.session?.mayHoldBytes = true } == "proto.offset sessionGone")
    #expect(
      try look("post") {
        $0.acked = 8; $0.lostAnswer = .part
      } == "proto.lost_answer unknown", "the last byte may have arrived")
  }

  @Test func whereTheOffsetIsNotToldTheNextBodyTells() throws {
    func refused(_ status: Int, _ method: String) throws -> String {
      let facts = R.facts(size: 10, chunk: 4) { $0.inconclusive = [.probe] }
      return try interpret(
        Scene.reply(status), .chunk(TusScene.chunk(1, 4..<8)), facts, R.proto { $0.method = method })
    }
    #expect(try refused(409, "put") == "proto.session_gone sessionGone")
    #expect(try refused(403, "put") == "proto.session_gone sessionGone")
    #expect(try refused(409, "post") == "proto.lost_answer unknown")
  }

  @Test func completenessOfTheOldestVersionIsTurnedRound() throws {
    let proto = try R.proto { $0.interop = "3" }
    let facts = R.facts(size: 10, chunk: 4, discovered: nil)
    func look(_ value: String) throws -> String {
      try interpret(
        Scene.reply(204, [("Upload-Offset", "10"), ("Upload-Incomplete", value)]), .probe(marker: nil), facts, proto)
    }
    #expect(try look("?0") == #"noted ["ended=1"], offset 10"#)
    #expect(try look("?1") == "offset 10")
  }

  @Test func theEndWithoutABody() throws {
    func finish(_ status: Int, _ fields: (String, String)..., ended: Bool = false, post: Bool = false) throws -> String
    {
      let facts = R.facts(size: 10, chunk: 4) { facts in
        facts.storedChunks = facts.layout.count
        if ended { facts.session?.notes["ended"] = "1" }
      }
      return try interpret(Scene.reply(status, fields), .finish, facts, R.proto { $0.method = post ? "post" : nil })
    }
    #expect(try finish(201, done) == "finished size")
    #expect(try finish(204) == "finished size")
    #expect(try finish(422, done) == "http.4xx permanent")
    #expect(try finish(204, open) == "proto.offset probe")
    #expect(try finish(409) == "http.409 probe")
    #expect(try finish(404) == "proto.session_gone sessionGone")
    #expect(try finish(404, post: true) == "proto.session_gone sessionGone")
    for status in [400, 404, 409, 410] { #expect(try finish(status, ended: true) == "finished size") }
    #expect(try finish(500, ended: true) == "http.500 retry(isThrottled: false)")
    #expect(try finish(422, done, ended: true) == "http.4xx permanent")
  }

  @Test func theEndOfACancelledUpload() throws {
    let facts = R.facts(size: 5)
    for status in [200, 204, 404, 410, 405, 501] {
      #expect(try interpret(Scene.reply(status), .abort(remoteID: "http://h/up/1"), facts) == "settled")
    }
    #expect(try interpret(Scene.reply(500), .abort(remoteID: "x"), facts) == "http.500 retry(isThrottled: false)")
    #expect(try ProtocolInUse(R.proto()).abortTargets(facts) == ["http://h/up/1"])
  }
}
