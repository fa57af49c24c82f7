import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// Secrets of profiles: fetched when they expire, sent only where they belong.
@Suite struct ProfileAuthTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"

  private static let refreshing = """
    inputs: [{name: key, secret: true}]
    auth:
      headers: {Authorization: "Bearer {{secret.token | default(input.key)}}"}
      refresh: {method: POST, url: /token, auth: off, extract: {secret.token: {json: $.t, required: true}}}
    errors: [{if: {status: 403, body_regex: expired}, do: refresh_auth}]
    steps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}
    """

  @Test func anExpiredTokenIsFetchedOnce() throws {
    let driver = try ProfileDriver.of(Self.refreshing, 3, ["key": "old"])
    let token = Turn.on("POST https://h.example/api/token", 200, #"{"t":"new"}"#)
    let end = driver.run([
      .on(put, 403, "expired") { request, _ in #expect(request.fields[.authorization] == "Bearer old") }, token,
      .on(put, 200) { request, _ in #expect(request.fields[.authorization] == "Bearer new") },
    ])
    #expect(end.isDone())
    let other = try ProfileDriver.of(Self.refreshing, 3, ["key": "old"])
    #expect(other.run([.on(put, 401), token, .on(put, 401)]).failureText?.hasPrefix("auth.refused") == true)
  }

  @Test func requestsBesideTheOneThatIsRefusedAreSentAgainWithTheNewToken() throws {
    let proto = try ProfileDriver.of(Self.refreshing).proto
    let facts = TransferFacts(
      file: FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("k"), size: 3, mtimeMs: 0),
      layout: ChunkLayout(whole: 3))
    let chunk = StepRequest.chunk(ChunkFacts(seq: 0, range: facts.layout.range(0)))
    var reply = TransferReply()
    reply.status = 401
    func interpreted(_ learned: [String: String], _ whenSent: [String: String]) -> Interpretation {
      var context = RequestContext(wallMs: 1, credential: nil, learned: LearnedFacts())
      context.learned.discovered = learned
      context.learnedWhenSent = LearnedFacts()
      context.learnedWhenSent?.discovered = whenSent
      return proto.interpret(reply, to: chunk, facts, context)
    }
    let refused = [ProfileProtocol.refreshes(facts.file.uid): "1"]
    let due = refused.merging([ProfileProtocol.refreshIsDue: "1"]) { $1 }
    let new = refused.merging(["secret.token": "new"]) { $1 }
    for (learned, whenSent) in [(due, [:]), (new, refused), (new, ["secret.token": "old"])] {
      guard case .failed(_, .repair) = interpreted(learned, whenSent).outcome else {
        Issue.record("\(learned) \(whenSent)")
        continue
      }
    }
    let first = interpreted([:], [:])
    guard case .failed(_, .permanent) = interpreted(new, new).outcome, case .failed(_, .repair) = first.outcome,
      first.learned != nil
    else {
      Issue.record("the first refusal requests a token, and the refusal of a new one is final")
      return
    }
  }

  @Test func whatARefreshIsAnsweredIsNotQuoted() throws {
    let driver = try ProfileDriver.of(Self.refreshing, 3, ["key": "old"])
    let end = driver.run([.on(put, 401), .on("POST https://h.example/api/token", 400, "your key is old, try n3w")])
    #expect(end.failureText?.contains("n3w") == false)
  }

  @Test func credentialsStayWithTheServersThatAreNamed() throws {
    let text = """
      inputs: [{name: key, secret: true}]
      base_url: https://api.example
      steps:
        init: {method: POST, url: /i, extract: {session.u: {json: $.u}}}
        chunk: {method: PUT, url: "{{session.u}}", body: {kind: raw}STEP}
      """
    func end(_ url: String, _ step: String) throws -> String? {
      let driver = try ProfileDriver.of(text.replacing("STEP", with: step), 3, ["key": "k"])
      return driver.run([.on("POST https://api.example/i", 200, "{\"u\":\"\(url)\"}"), .on("PUT \(url)", 400)])
        .failureText
    }
    #expect(try end("https://api.example/1", "")?.hasPrefix("http.400") == true)
    #expect(try end("https://h.example/1", "")?.hasPrefix("http.400") == true)
    #expect(try end("https://b.example/1", ", auth: off")?.hasPrefix("http.400") == true)
    for (url, step) in [
      ("https://b.example/1", ""), ("http://b.example/1", ", auth: off"),
      ("https://b.example/1", ", auth: off, headers: {K: \"{{input.key}}\"}"), ("https://u:p@api.example/", ""),
    ] {
      let driver = try ProfileDriver.of(text.replacing("STEP", with: step), 3, ["key": "k"])
      let text = driver.run([.on("POST https://api.example/i", 200, "{\"u\":\"\(url)\"}")]).failureText
      #expect(text?.hasPrefix("proto.unsupported") == true, "\(url) \(step): \(text ?? "")")
    }
  }

  @Test func aQuestionThatCarriesASecretGoesToNoOtherServer() throws {
    let text = """
      inputs: [{name: key, secret: true}]
      steps:
        init: {method: POST, url: /i, extract: {session.u: {json: $.u}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        complete:
          method: POST
          url: /c
          poll: {while: {status: 202}, request: {method: GET, url: "{{session.u}}", auth: off HEADERS}}
      """
    let turns = { (url: String) -> [Turn] in
      [
        .on("POST https://h.example/api/i", 200, "{\"u\":\"\(url)\"}"), .on(self.put, 200),
        .on("POST https://h.example/api/c", 202),
      ]
    }
    let plain = text.replacing("HEADERS", with: "")
    let other = "https://evil.example/v"
    #expect(try ProfileDriver.of(plain, 3, ["key": "k"]).run(turns(other) + [.on("GET \(other)", 200)]).isDone())
    let secret = text.replacing("HEADERS", with: ", headers: {K: \"{{input.key}}\"}")
    let end = try ProfileDriver.of(secret, 3, ["key": "k"]).run(turns(other))
    #expect(end.failureText?.contains("points to another server") == true)
    let own = "https://h.example/v"
    #expect(try ProfileDriver.of(secret, 3, ["key": "k"]).run(turns(own) + [.on("GET \(own)", 200)]).isDone())
  }
}
