import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// A file is done only when the server confirmed it: answers that say nothing, or something else, do not confirm it.
@Suite struct ProfileTruthTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"

  private static func cut(_ line: String, _ status: Int, _ body: String) -> Turn {
    var turn = Turn.on(line, status, body)
    turn.reply.isBodyTruncated = true
    return turn
  }

  // MARK: - Probes

  private func resumedGraph() throws -> ProfileDriver {
    let driver = try ProfileDriver(
      builtin("graph", "https://graph.example/v1.0", ["drive": "D"]), content: pattern(10), secrets: ["token": "T"])
    driver.facts.session = SessionFacts(
      remoteID: "x", intendedAtMs: 1, notes: ["s.url": "\"https://other.example/s\""])
    driver.claimAgain()
    return driver
  }

  @Test(arguments: [
    "{}", #"{"expirationDateTime":"2030-01-01T00:00:00Z"}"#, #"{"nextExpectedRanges":null}"#,
    #"{"nextExpectedRanges":[null]}"#, #"{"nextExpectedRanges":[{}]}"#,
  ])
  func anAnswerWithoutRangesDoesNotSayThatNothingIsMissing(_ body: String) throws {
    let turn = Turn.on("GET https://other.example/s", 200, body)
    let end = try resumedGraph().run([Turn](repeating: turn, count: 8))
    #expect(end.failure?.code == .protoBadReply, "\(end)")
  }

  @Test func anEmptyListOfRangesSaysThatAllIsThere() throws {
    let end = try resumedGraph().run([.on("GET https://other.example/s", 200, #"{"nextExpectedRanges":[]}"#)])
    #expect(end.isDone())
  }

  private func resumed(_ have: String, _ chunk: String = "{size: 4}", _ size: Int = 10) throws -> ProfileDriver {
    let driver = try probing(have, chunk, size)
    driver.facts.session = SessionFacts(remoteID: "u", intendedAtMs: 1, notes: ["uuid": "u"])
    driver.claimAgain()
    return driver
  }

  private func probing(_ have: String, _ chunk: String, _ size: Int) throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      chunk: \(chunk)
      steps:
        probe: {method: GET, url: /p, have: \(have)}
        chunk: {method: PUT, url: "/x{{chunk.number}}", body: {kind: raw}}
      """, size)
  }

  private let ask = "GET https://h.example/api/p"

  @Test(arguments: [
    ("{ranges_missing: {json: '$.r[*]', regex: '^b=(.*)$'}}", #"{"r":["4-9"]}"#),
    ("{ranges_missing: {json: '$.r[*]'}}", "{}"), ("{ranges_missing: {xml: //r}}", "<a/>"),
    ("{numbers: {json: '$.u[*]', required: true}}", "{}"), ("{numbers: {json: $.u, required: true}}", #"{"u":null}"#),
  ])
  func aListThatIsNotThereIsNotEmpty(_ have: String, _ body: String) throws {
    let end = try resumed(have).run([Turn](repeating: .on(ask, 200, body), count: 8))
    #expect(end.failure?.code == .protoBadReply, "\(end)")
  }

  @Test func aPatternIsAppliedToEachElementOfAList() throws {
    let driver = try resumed("{ranges_missing: {json: $.r, regex: '^b=(.*)$'}}")
    let end = driver.run([
      .on(ask, 200, #"{"r":["b=8-9"]}"#), .on(put + "3", 200) { _, body in #expect(body == Array(pattern(10)[8...])) },
    ])
    #expect(end.isDone())
  }

  @Test(arguments: [
    ("{json: {path: $.state, ne: uploading}}", #"{"state":"upl"#),
    ("{json: {path: $.left, exists: false}}", #"{"left":"#), ("{xml: {path: //left, exists: false}}", "<a><left>"),
  ])
  func anAnswerThatWasCutIsNotDone(_ done: String, _ body: String) throws {
    let driver = try resumed("{done: \(done), offset: {json: $.n}}", "{}", 3)
    let end = driver.run([Turn](repeating: Self.cut(ask, 200, body), count: 8))
    #expect(end.failure?.code == .protoBadReply, "\(end)")
  }

  @Test(arguments: [("next: {json: $.n}", #"{"n":3}"#), ("numbers: {json: $.n}", #"{"n":[1,2]}"#)])
  func theLastChunkIsThereWithItsRemainder(_ have: String, _ body: String) throws {
    let driver = try resumed("{\(have)}", "{size: 4, remainder: last_absorbs}")
    #expect(driver.chunks.count == 2)
    #expect(driver.run([.on(ask, 200, body)]).isDone())
  }

  @Test func numbersOfNoChunkAreNobodys() throws {
    let driver = try resumed("{numbers: {json: '$.u[*].n'}}", "{size: 4, mode: parallel, number_base: 1}")
    let end = driver.run([
      .on(ask, 200, #"{"u":[{"n":-9223372036854775808},{"n":9223372036854775807},{"n":0}]}"#), .on(put + "1", 200),
      .on(put + "2", 200), .on(put + "3", 200),
    ])
    #expect(end.isDone())
  }

  @Test func theLargestSizeOfChunksIsOneChunk() throws {
    let driver = try ProfileDriver.of(
      """
      chunk: {size: {from: session.n}}
      steps:
        init: {method: POST, url: /i, extract: {session.n: {json: $.n, required: true}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
      """)
    let end = driver.run([.on("POST https://h.example/api/i", 200, #"{"n":9223372036854775807}"#), .on(put, 200)])
    #expect(end.isDone())
  }

  @Test func aPageIsNoChunk() throws {
    let driver = try ProfileDriver(builtin("resumablejs", "https://h.example/up"), content: pattern(3))
    let (get, post) = ("GET https://h.example/up", "POST https://h.example/up")
    let end = driver.run([
      .lost(post), .on(get, 200, "<!doctype html><p>Sign in"), .on(get, 404, "<!doctype html><p>Not found"),
      .on(post, 200),
    ])
    #expect(end.isDone())
  }

  @Test func whatASuccessOfAProbeRequiresIsRequired() throws {
    let driver = try ProfileDriver.of(
      """
      steps:
        probe_chunk:
          {method: GET, url: /p, have: {exists: {status: 200}}, success: {require: [{json: $.ok, eq: true}]}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
      """)
    #expect(driver.run([.lost(put), .on(ask, 200, #"{"ok":false}"#)]).failure?.code == .protoBadReply)
  }

  // MARK: - Rules

  @Test func aRuleAboutAnAnswerNeedsOne() throws {
    let text = """
      errors: [{if: {json: {path: $.code, ne: 0}}, do: fail}]
      steps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}
      """
    #expect(try ProfileDriver.of(text).run([.lost(put), .on(put, 200, #"{"code":0}"#)]).isDone())
    #expect(try ProfileDriver.of(text).run([.on(put, 200, "{}")]).isDone())
    #expect(try ProfileDriver.of(text).run([.on(put, 200, #"{"code":1}"#)]).failure != nil)
    let absent = text.replacing("{json: {path: $.code, ne: 0}}", with: "{json: {path: $.code, exists: false}}")
    #expect(try ProfileDriver.of(absent).run([.lost(put), .on(put, 200, #"{"code":0}"#)]).isDone())
    let curl = text.replacing("{json: {path: $.code, ne: 0}}", with: "{curl: [56]}")
    #expect(try ProfileDriver.of(curl).run([.lost(put)]).failure?.code == .netReset)
  }
}
