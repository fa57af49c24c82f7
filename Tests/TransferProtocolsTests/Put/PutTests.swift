import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct PutTests {
  private let facts = Scene.facts(key: "in/a b")
  private let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc32c))

  private func interpret(
    _ reply: TransferReply, _ destination: String = "http://h/in/", step: StepRequest? = nil,
    facts: TransferFacts? = nil,
    change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> String {
    let proto = try Scene.web(destination, change: change)
    return text(proto.interpret(reply, to: step ?? chunk, facts ?? self.facts, Scene.context(nil)))
  }

  private func wire(_ request: TransferRequest) -> [String] {
    ["\(request.method) \(request.url)"] + request.fields.map { "\($0.name.canonicalName): \($0.value)" }
  }

  @Test func requests() throws {
    let put = try Scene.web("http://h/in/").request(chunk, facts, Scene.context(nil))
    #expect(
      wire(put) == ["PUT http://h/in/a%20b", "content-type: application/octet-stream", "want-repr-digest: crc32c=10"])
    let all = try Scene.web("https://h/in/") {
      $0.ifNoneMatch = true
      $0.expectContinue = true
    }.request(chunk, facts, Scene.context(.basic(user: "u", password: "p:ü")))
    #expect(
      wire(all) == [
        "PUT https://h/in/a%20b", "authorization: Basic dTpwOsO8", "content-type: application/octet-stream",
        "want-repr-digest: crc32c=10", "if-none-match: *", "expect: 100-continue",
      ])
    let post = try Scene.web("post+http://h/u?n={name}").request(chunk, facts, Scene.context(.bearer(token: "t0")))
    #expect(wire(post).prefix(2) == ["POST http://h/u?n=a%20b", "authorization: Bearer t0"])
    #expect(post.method == .post)
  }

  @Test(arguments: [
    Credential.bearer(token: ""), .bearer(token: "a b"), .bearer(token: "a\r\nX: y"), .basic(user: "a:b", password: ""),
    .basic(user: "a", password: "b\n"), .aws(accessKey: "a", secretKey: "b", sessionToken: nil),
  ])
  func credentialsThatNoFieldCarries(_ credential: Credential) throws {
    #expect(throws: Failure.self) { try Scene.web("http://h/in/").request(chunk, facts, Scene.context(credential)) }
  }

  @Test func whatConfirms() throws {
    let crc = base64(Scene.digest("hello", .crc32c).bytes)
    let digest = ("Repr-Digest", "sha-256=:AAAA:, crc32c=:\(crc):")
    #expect(try interpret(Scene.reply(201, [digest])) == "stored 0 digest whole digest")
    #expect(try interpret(Scene.reply(204, [digest])) == "stored 0 digest whole digest")
    #expect(try interpret(Scene.reply(202, [digest])) == "proto.lost_answer unknown")
    #expect(
      try interpret(Scene.reply(200, [("ETag", "\"5d41402abc4b2a76b9719d911017c592\"")])) == "stored 0 none whole none")
    #expect(
      try interpret(Scene.reply(200, [("Repr-Digest", "crc32c=:AAAAAA==:")]))
        == "integrity.mismatch retry(isThrottled: false)")
    for garbage in ["", "crc32c", "crc32c=AAAAAA==", "crc32c=:AAAA", "crc32c=:AAAA:", "xcrc32c=:AAAAAA==:"] {
      #expect(try interpret(Scene.reply(200, [("Repr-Digest", garbage)])) == "stored 0 none whole none", "\(garbage)")
    }
  }

  @Test(arguments: [
    (401, "auth.refused permanent"), (403, "http.403 permanent"), (404, "http.404 permanent"),
    (405, "http.4xx permanent"),
    (408, "http.4xx retry(isThrottled: false)"), (409, "http.409 permanent"), (411, "http.4xx permanent"),
    (412, "http.412 permanent"),
    (413, "http.413 permanent"), (415, "http.4xx permanent"), (423, "http.423 retry(isThrottled: false)"),
    (429, "http.429 retry(isThrottled: true)"),
    (500, "http.500 retry(isThrottled: false)"), (501, "http.5xx permanent"),
    (502, "http.502 retry(isThrottled: false)"),
    (503, "http.503 retry(isThrottled: true)"), (504, "http.504 retry(isThrottled: false)"),
    (507, "http.507 retry(isThrottled: false)"),
    (511, "http.5xx permanent"), (302, "http.redirect permanent"), (307, "http.redirect permanent"),
    (304, "http.redirect permanent"),
    (100, "proto.bad_reply permanent"),
  ])
  func statuses(_ status: Int, _ expected: String) throws {
    #expect(try interpret(Scene.reply(status)) == expected)
  }

  @Test func retryAfterIsPassedOn() throws {
    let meaning = try Scene.web("http://h/").interpret(
      Scene.reply(503, [("Retry-After", "2")]), to: chunk, facts, Scene.context(nil))
    #expect(failure(meaning)?.retryAfterMs == 2000)
  }

  @Test func redirectsNameTheOriginAndNothingElse() throws {
    func message(_ location: String) throws -> String {
      let reply = Scene.reply(307, [("Location", location)])
      return failure(try Scene.web("http://h/").interpret(reply, to: chunk, facts, Scene.context(nil)))!.message
    }
    #expect(try message("https://other.example:8443/x?token=CANARY").contains("points to https://other.example:8443;"))
    for location in ["/x?CANARY", "http://u:CANARY@h/", "javascript:CANARY", "http://[CANARY"] {
      #expect(try !message(location).contains("CANARY"), "\(location)")
    }
  }

  @Test func aPostIsNeverRepeatedInDoubt() throws {
    let post = "post+http://h/u"
    #expect(try interpret(Scene.broken(), post) == "proto.lost_answer unknown")
    #expect(try interpret(Scene.broken(mayHaveArrived: false), post) == "net.refused retry(isThrottled: false)")
    #expect(try interpret(Scene.reply(500), post) == "http.500 unknown")
    #expect(try interpret(Scene.reply(504), post) == "http.504 unknown")
    #expect(try interpret(Scene.reply(503), post) == "http.503 unknown")
    #expect(try interpret(Scene.reply(400), post) == "http.400 permanent")
    #expect(
      try interpret(Scene.reply(200, [("Repr-Digest", "crc32c=:AAAAAA==:")]), post) == "integrity.mismatch permanent")
    #expect(try interpret(Scene.broken()) == "net.reset retry(isThrottled: false)")
    #expect(try !Scene.web(post).abilities.repeatable)
    #expect(try Scene.web("http://h/").abilities.repeatable)
  }

  @Test func aRefusalToReplace() throws {
    let once: (inout BatchSettings) -> Void = { $0.ifNoneMatch = true }
    #expect(try interpret(Scene.reply(412), change: once) == "policy.exists permanent")
    var lost = facts
    lost.lostAnswer = .part
    #expect(try interpret(Scene.reply(412), facts: lost, change: once) == "proto.lost_answer unknown")
  }

  @Test func missingParentsAreMadeFromTheTop() throws {
    let dav = try Scene.web("dav+http://h/in/")
    var facts = Scene.facts(key: "in/a b/c")
    #expect(try interpret(Scene.reply(409), "dav+http://h/in/", facts: facts) == "http.409 makeParents")
    #expect(try interpret(Scene.reply(404), "dav+http://h/in/", facts: facts) == "http.404 makeParents")
    #expect(try interpret(Scene.reply(404), "http://h/in/", facts: facts) == "http.404 permanent")
    #expect(dav.nextStep(facts) == .chunks)
    facts.parentsMade = 0
    #expect(dav.nextStep(facts) == .control(.makeParent(depth: 1)))
    facts.parentsMade = 1
    #expect(dav.nextStep(facts) == .control(.makeParent(depth: 2)))
    let request = try dav.request(.makeParent(depth: 2), facts, Scene.context(nil))
    #expect(wire(request) == ["MKCOL http://h/in/a%20b/"])
    for status in [201, 405, 301, 403] {
      #expect(try interpret(Scene.reply(status), "dav+http://h/in/", step: .makeParent(depth: 1)) == "settled")
    }
    #expect(
      try interpret(Scene.reply(401), "dav+http://h/in/", step: .makeParent(depth: 1)) == "auth.refused permanent")
    #expect(
      try interpret(Scene.broken(), "dav+http://h/in/", step: .makeParent(depth: 1))
        == "net.reset retry(isThrottled: false)")
    facts.parentsMade = 2
    #expect(dav.nextStep(facts) == .chunks)
    #expect(try interpret(Scene.reply(409), "dav+http://h/in/", facts: facts) == "http.409 permanent")
    #expect(try interpret(Scene.reply(404), "dav+http://h/in/", facts: facts) == "http.404 permanent")
  }

  @Test func oneChunkWhateverTheSize() throws {
    let put = try Scene.web("http://h/")
    #expect(try put.layout(size: 5 << 40).count == 1)
    #expect(ProtocolInUse(put).digestsAhead(LearnedFacts(), ChunkLayout(whole: 5)).isEmpty)
    #expect(put.sentDigest == .crc32c)
  }
}
