import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// The last steps: what their answers prove, and what happens after an answer was lost.
@Suite struct ProfileEndingTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"
  private let complete = "POST https://h.example/api/c"
  private let commit = "POST https://h.example/api/s"
  private let verify = "GET https://h.example/api/v"

  // MARK: - Verified

  private func merged(_ looks: [Turn]) throws -> ProfileDriver.End {
    let driver = try ProfileDriver(builtin("numbered-chunks", "https://h.example/c"), content: pattern(3))
    let merge = [Turn.on("POST https://h.example/c/upload", 200), .on("POST https://h.example/c/merge", 200, "{}")]
    return driver.run(merge + looks)
  }

  private func look(_ status: Int, _ body: String = "") -> Turn {
    .on("GET https://h.example/c/merge?uploadId=", status, body)
  }

  @Test func aFileThatIsDifferentAfterItsEndIsNotDone() throws {
    for body in [#"{"size":5,"crc32c":"00000000"}"#, #"{"size":3,"crc32c":"00000000"}"#, #"{"size":5}"#] {
      #expect(try merged([look(200, body)]).failure?.code == .integrityMismatch, "\(body)")
    }
  }

  @Test func aFileThatIsNotFoundAfterItsEndIsLookedForAgainAndNotDone() throws {
    #expect(try merged([look(404), look(410), look(200, #"{"size":3}"#)]).isDone(.size))
    let missing = [Turn](repeating: look(404), count: ProfileProtocol.mostLooks + 1)
    #expect(try merged(missing).failure?.message.contains("does not find it") == true)
  }

  @Test func withoutALastStepWhatIsVerifiedHasToBeThere() throws {
    let text = """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v, success: {require: [{json: $.size, eq: "{{file.size}}"}]}}
      """
    #expect(try ProfileDriver.of(text).run([.on(put, 200), .on(verify, 200, #"{"size":3}"#)]).isDone(.size))
    let end = try ProfileDriver.of(text).run([.on(put, 200), .on(verify, 200, #"{"size":4}"#)])
    #expect(end.failure?.code == .integrityMismatch)
  }

  private func nextcloud(_ turns: [Turn]) throws -> ProfileDriver.End {
    let driver = try ProfileDriver(
      builtin("nextcloud", "https://c.example/dav", ["user": "u"]), content: pattern(3), secrets: ["login": "u:p"])
    return driver.run([.on("MKCOL https://c.example/dav/", 201), .on("PUT https://c.example/dav/", 201)] + turns)
  }

  private func head(_ length: Int, _ time: String) -> Turn {
    .on(
      "HEAD https://c.example/dav/files/u/d/a%20b.txt", 200, "",
      ["Content-Length": "\(length)", "Last-Modified": time])
  }

  private static let ours = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let other = "Mon, 07 Nov 1994 08:49:37 GMT"

  @Test func aServerThatSetsItsOwnTimesHasTheFileAllTheSame() throws {
    let move = "MOVE https://c.example/dav/uploads/u/"
    #expect(try nextcloud([.on(move, 201), head(3, Self.ours)]).isDone(.size))
    #expect(try nextcloud([.on(move, 201), head(3, Self.other)]).isDone(.size))
    #expect(try nextcloud([.on(move, 201), head(4, Self.ours)]).failure?.code == .integrityMismatch)
    // The modification time decides only while it is unknown whose file it is.
    #expect(try nextcloud([.lost(move), head(3, Self.ours)]).isDone(.size))
    #expect(try nextcloud([.lost(move), head(3, Self.other), .on(move, 201), head(3, Self.other)]).isDone(.size))
  }

  // MARK: - Two last steps

  private func both(_ rest: String, _ last: String = "") throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        complete: {method: POST, url: /c\(last)}
        commit: {method: POST, url: /s, success: {require: [{json: $.size, eq: "{{file.size}}", if_present: true}]}}
        \(rest)
      """)
  }

  private static let done =
    "probe: {method: GET, url: /v, have: {done: {json: {path: $.done, eq: true}}, offset: {json: $.n}}}"

  @Test func aVerifiedCompleteIsSavedAllTheSame() throws {
    let driver = try both("verify: {method: GET, url: /v}")
    let saved = Turn.on(commit, 200, #"{"size":3}"#)
    #expect(driver.run([.on(put, 200), .lost(complete), .on(verify, 200), saved]).isDone(.size))
    let unsaid = try both("verify: {method: GET, url: /v}")
    #expect(
      unsaid.run([.on(put, 200), .lost(complete), .on(verify, 200), .on(commit, 200), .on(verify, 200)]).isDone())
    let lost = try both("verify: {method: GET, url: /v}")
    #expect(lost.run([.on(put, 200), .on(complete, 200), .lost(commit), .on(verify, 200)]).isDone())
  }

  @Test func aProbeThatFindsTheUploadCompleteLeavesTheSaveCall() throws {
    let driver = try both(Self.done)
    let end = driver.run([
      .on(put, 200), .lost(complete), .on(verify, 200, #"{"done":true}"#), .on(commit, 200, #"{"size":3}"#),
    ])
    #expect(end.isDone(.size))
  }

  @Test func nobodyCanBeAskedAboutASaveCallButVerify() throws {
    let driver = try both(Self.done)
    #expect(driver.proto.abilities.unrepeatable == [.save])
    #expect(driver.run([.on(put, 200), .on(complete, 200), .lost(commit)]).unknown?.code == .protoLostAnswer)
    #expect(try both("verify: {method: GET, url: /v}").proto.abilities.unrepeatable == [])
    let perhaps = try both("verify: {method: GET, url: /v, when: \"file.size > 5\"}")
    #expect(perhaps.proto.abilities.unrepeatable == [.finish, .save])
    #expect(perhaps.run([.on(put, 200), .lost(complete)]).unknown != nil)
  }

  @Test func aSessionThatEndedWithALostCompleteIsNotSentAgain() throws {
    let driver = try both(Self.done)
    let end = driver.run([.on(put, 200), .lost(complete), .on(verify, 404)])
    #expect(end.unknown?.message.hasPrefix("the answer to the complete was lost") == true, "\(end)")
    let harmless = try both(Self.done, ", idempotent: true")
    #expect(harmless.run([.on(put, 200), .lost(complete), .on(verify, 404)] + again).isDone())
  }

  private var again: [Turn] {
    [.on(verify, 404), .on(put, 200), .on(complete, 200), .on(commit, 200)]
  }

  @Test func aSaveCallThatIsNotFoundIsFinal() throws {
    for status in [404, 410] {
      let end = try both("").run([.on(put, 200), .on(complete, 200), .on(commit, status)])
      #expect(end.failure?.code == (status == 404 ? .http404 : .http410))
    }
  }

  @Test func aMergeThatIsNotFoundCostsOneUploadMore() throws {
    let driver = try ProfileDriver(builtin("dropzone", "https://h.example/d"), content: pattern(3))
    let (upload, merge) = (
      Turn.on("POST https://h.example/d/upload", 200), Turn.on("POST https://h.example/d/merge", 404)
    )
    #expect(driver.run([upload, merge, merge, merge, upload, merge]).failure != nil)
  }

  // MARK: - Mismatches

  @Test func anObjectThatDiffersIsSentAnewAtOnce() throws {
    let driver = try ProfileDriver(
      builtin("dropbox", "https://d.example/2/files"), content: pattern(3), secrets: ["token": "T"])
    let place = "POST https://d.example/2/files/upload_session/"
    let sent = [Turn.on(place + "start", 200, #"{"session_id":"S"}"#), .on(place + "append_v2", 200, "null")]
    let end = driver.run(
      sent + [.on(place + "finish", 200, #"{"size":9}"#)] + sent + [.on(place + "finish", 200, #"{"size":3}"#)])
    #expect(end.isDone(.size))
  }

  // MARK: - Polls

  private static let polling = """
    steps:
      chunk: {method: PUT, url: /x, body: {kind: raw}}
      complete:
        method: POST
        url: /c
        poll: {while: {status: 202}, every: 1s, request: {method: GET, url: /v}}
    """

  @Test func aLostQuestionIsAskedAgain() throws {
    let driver = try ProfileDriver.of(Self.polling)
    #expect(driver.proto.abilities.unrepeatable == [.finish])
    let end = driver.run([.on(put, 200), .on(complete, 202), .lost(verify), .on(verify, 502), .on(verify, 200)])
    #expect(end.isDone())
    #expect(try ProfileDriver.of(Self.polling).run([.on(put, 200), .lost(complete)]).unknown != nil)
    let asking = try ProfileDriver.of(Self.polling)
    _ = asking.run([.on(put, 200), .on(complete, 202), .on(verify, 400)])
    #expect(asking.proto.abilities(asking.facts).unrepeatable == [])
  }
}
