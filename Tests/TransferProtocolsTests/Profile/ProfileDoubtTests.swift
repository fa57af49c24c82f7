import StrictYAML
import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What is queried before anything is sent again, and how an answer that says nothing is interpreted.
@Suite struct ProfileDoubtTests {
  typealias Turn = ProfileDriver.Turn

  // MARK: - The last chunk

  private static let session =
    #"{"uploadUrl":"https://other.example/s","expirationDateTime":"2030-01-01T00:00:00.000Z","nextExpectedRanges":["0-"]}"#
  private let create = Turn.on("POST https://graph.example/v1.0/drives", 200, session)
  private let put = "PUT https://other.example/s"
  private let ask = "GET https://other.example/s"
  private let item = "GET https://graph.example/v1.0/drives/D/items/root:/d/a%20b.txt?%24select=id%2Csize%2Cfile"

  private func graph(_ size: Int) throws -> ProfileDriver {
    try ProfileDriver(
      builtin("graph", "https://graph.example/v1.0", ["drive": "D"], partSize: 320 << 10), content: pattern(size),
      secrets: ["token": "T"])
  }

  private func found(_ size: Int, _ content: [UInt8]? = nil) -> Turn {
    let hash = base64(RunningDigest.of(content ?? pattern(size), .quickxor).bytes)
    return .on(item, 200, #"{"size":\#(size),"file":{"hashes":{"quickXorHash":"\#(hash)"}}}"#)
  }

  @Test func aLostLastAnswerIsAskedAboutByTheItem() throws {
    let end = try graph(10).run([create, .lost(put), found(10)])
    #expect(end.isDone(.digest))
    guard case .done(let proof) = end else { return }
    #expect(proof.digest == RunningDigest.of(pattern(10), .quickxor) && proof.digest == proof.remoteDigest)
    #expect(try graph(10).run([create, .on(put, 504), found(10)]).isDone(.digest))
  }

  @Test func anotherItemIsNotOurs() throws {
    let again = [Turn.on(ask, 200, #"{"nextExpectedRanges":["0-"]}"#), .on(put, 201, #"{"size":10}"#)]
    #expect(try graph(10).run([create, .lost(put), .on(item, 404)] + again).isDone(.size))
    #expect(try graph(10).run([create, .lost(put), found(9)] + again).isDone(.size))
    #expect(try graph(10).run([create, .lost(put), found(10, pattern(9) + [0])] + again).isDone(.size))
  }

  @Test func anItemThatMayNotBeLookedAtIsUnknownWhenItsSessionIsGone() throws {
    let end = try graph(10).run([create, .lost(put), .on(item, 403), .on(ask, 404)])
    #expect(end.unknown?.code == .protoLostAnswer, "\(end)")
    let unsaid = try graph(10).run([create, .lost(put), .on(item, 200, #"{"size":10}"#), .on(ask, 404)])
    #expect(unsaid.unknown?.code == .protoLostAnswer, "a missing digest is not a mismatch: \(unsaid)")
  }

  @Test func anEarlierChunkIsAskedAboutAtTheSession() throws {
    let size = 400 << 10
    let end = try graph(size).run([
      create, .lost(put), .on(ask, 200, #"{"nextExpectedRanges":["327680-"]}"#), .on(put, 201, #"{"size":\#(size)}"#),
    ])
    #expect(end.isDone(.size))
  }

  @Test func theDigestOfTheFileIsComputedOnlyWhereItIsCompared() throws {
    let driver = try graph(10)
    #expect(driver.proto.fileDigests(for: .create, driver.facts) == [])
    #expect(driver.proto.fileDigests(for: .verify, driver.facts) == [.quickxor])
  }

  // MARK: - What the last answer says about the whole file

  private func google(_ size: Int, _ last: String) throws -> ProfileDriver.End {
    let driver = try ProfileDriver(
      builtin("google", "https://g.example/upload", partSize: 256 << 10), content: pattern(size),
      secrets: ["token": "T"])
    let begin = Turn.on("POST https://g.example/upload?uploadType=resumable", 200, "", ["Location": "/up/1"]) {
      _, body in #expect(String(decoding: body, as: UTF8.self) == #"{"name":"d/a b.txt"}"#)
    }
    let put = "PUT https://g.example/up/1"
    let parts = (0..<(size - 1) / (256 << 10)).map { n in
      Turn.on(put, 308, "", ["Range": "bytes=0-\((n + 1) * (256 << 10) - 1)"])
    }
    return driver.run([begin] + parts + [.on(put, 200, last)])
  }

  @Test(arguments: [10, 600 << 10]) func theChecksumOfTheObjectIsTheProof(_ size: Int) throws {
    let crc = base64(RunningDigest.of(pattern(size), .crc32c).bytes)
    let end = try google(size, #"{"size":"\#(size)","crc32c":"\#(crc)"}"#)
    #expect(end.isDone(.digest))
    if case .done(let proof) = end { #expect(proof.digest == RunningDigest.of(pattern(size), .crc32c)) }
    #expect(try google(size, #"{"size":"\#(size)"}"#).isDone(.size))
  }

  @Test func anotherChecksumIsSentAnew() throws {
    let driver = try ProfileDriver(
      builtin("google", "https://g.example/upload"), content: pattern(10), secrets: ["token": "T"])
    let begin = Turn.on("POST https://g.example/upload", 200, "", ["Location": "/up/1"])
    let wrong = Turn.on("PUT https://g.example/up/1", 200, #"{"size":"10","crc32c":"AAAAAA=="}"#)
    #expect(driver.run([begin, wrong, begin, wrong, begin, wrong]).failure?.code == .integrityMismatch)
  }

  @Test func tooFastIsNotForbidden() throws {
    let driver = try ProfileDriver(
      builtin("google", "https://g.example/upload"), content: pattern(10), secrets: ["token": "T"])
    let begin = Turn.on("POST https://g.example/upload", 200, "", ["Location": "/up/1"])
    let fast = Turn.on(
      "PUT https://g.example/up/1", 403, #"{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}"#)
    #expect(driver.run([begin, fast, .on("PUT https://g.example/up/1", 200, "{}")]).isDone())
    let denied = Turn.on("PUT https://g.example/up/1", 403, #"{"error":{"errors":[{"reason":"forbidden"}]}}"#)
    let other = try ProfileDriver(
      builtin("google", "https://g.example/upload"), content: pattern(10), secrets: ["token": "T"])
    #expect(other.run([begin, denied]).failure?.code == .http403)
  }

  // MARK: - Verify answers that say nothing

  private func merged(_ complete: String, _ verify: String = "") throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        complete: {method: \(complete), url: /c}
        verify: {method: HEAD, url: /v, success: {require: [{header: Content-Length, eq: "{{file.size}}"}]}\(verify)}
      """)
  }

  private let stored = Turn.on("PUT https://h.example/api/x", 200)
  private func look(_ status: Int, _ fields: [String: String] = [:]) -> Turn {
    .on("HEAD https://h.example/api/v", status, "", fields)
  }

  @Test(arguments: [400, 403, 405, 501]) func aLastStepThatCannotBeAskedAboutIsNotAbsent(_ status: Int) throws {
    let post = Turn.lost("POST https://h.example/api/c")
    #expect(try merged("POST").run([stored, post, look(status)]).unknown?.code == .protoLostAnswer)
    let again = Turn.on("PUT https://h.example/api/c", 200)
    #expect(
      try merged("PUT").run([stored, .lost("PUT https://h.example/api/c"), look(status), again, look(status)]).isDone())
  }

  @Test func aLengthThatIsNotToldIsNotAnotherLength() throws {
    let post = "POST https://h.example/api/c"
    #expect(try merged("POST").run([stored, .on(post, 200), look(200)]).isDone(TransferModel.Confirmation.none))
    #expect(try merged("POST").run([stored, .lost(post), look(200)]).unknown?.code == .protoLostAnswer)
    let other = try merged("POST").run([stored, .on(post, 200), look(200, ["Content-Length": "4"])])
    #expect(other.failure?.code == .integrityMismatch)
    #expect(other.failure?.message.contains(#"header Content-Length is "4"; the profile requires "3""#) == true)
  }

  @Test func aChecksumThatIsNotToldIsNoDamage() throws {
    let driver = try ProfileDriver.of(
      """
      chunk: {hash: [md5]}
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}, success: {require: [{json: $.md5, eq: "{{chunk.md5}}"}]}}
      """)
    let end = driver.run([.on("PUT https://h.example/api/x", 200, "{}")])
    #expect(end.failure?.code == .protoBadReply)
    #expect(end.failure?.message.contains("$.md5 is missing; the profile requires \"") == true)
  }

  @Test func verifyInDoubtIsAskedOnlyThen() throws {
    let post = "POST https://h.example/api/c"
    #expect(try merged("POST", ", in_doubt: true").run([stored, .on(post, 200)]).isDone())
    let size = ["Content-Length": "3"]
    #expect(try merged("POST", ", in_doubt: true").run([stored, .lost(post), look(200, size)]).isDone(.size))
  }

  /// A step has to follow the chunks, yet the file may already be there: a query that no older version satisfies is
  /// sent first.
  @Test(arguments: ["sequential", "parallel"]) func aLostChunkIsAskedAboutBeforeTheStepBehindIt(mode: String) throws {
    func driver(_ requirement: String) throws -> ProfileDriver {
      try ProfileDriver.of(
        """
        file: {need: [sha256]}
        chunk: {mode: \(mode), size: 4}
        steps:
          chunk: {method: PUT, url: /x, body: {kind: raw}}
          complete: {method: POST, url: /c}
          verify: {in_doubt: true, method: GET, url: /v, success: {require: [\(requirement)]}}
        """)
    }
    let (put, ask) = ("PUT https://h.example/api/x", "GET https://h.example/api/v")
    let end = Turn.on("POST https://h.example/api/c", 200)
    let content = #"{json: $.sha, eq: "{{file.sha256 | raw | base64}}"}"#
    let digest = base64(RunningDigest.of(pattern(3), .sha256).bytes)
    #expect(try driver(content).run([.lost(put), .on(ask, 200, #"{"sha":"\#(digest)"}"#)]).isDone(.digest))
    #expect(try driver(content).run([.lost(put), .on(ask, 404), .on(put, 200), end]).isDone())
    // An older version would satisfy this query, too.
    let size = #"{json: $.size, eq: "{{file.size}}"}"#
    #expect(try driver(size).run([.lost(put), .on(put, 200), end]).isDone())
  }

  // MARK: - Parent folders

  @Test func missingFoldersAreMadeOnce() throws {
    func driver(_ key: String) throws -> ProfileDriver {
      try ProfileDriver(
        builtin("nextcloud", "https://c.example/dav", ["user": "u"]), content: pattern(3), secrets: ["login": "u:p"],
        key: key)
    }
    let begin = [
      Turn.on("MKCOL https://c.example/dav/uploads/u/", 201), .on("PUT https://c.example/dav/uploads/u/", 201),
    ]
    let move = "MOVE https://c.example/dav/uploads/u/"
    let missing = begin + [.on(move, 409)]
    let look = Turn.on("HEAD https://c.example/dav/files/u/a/b%20c/d.bin", 200, "", ["Content-Length": "3"])
    let made = try driver("a/b c/d.bin").run(
      missing + [
        .on("MKCOL https://c.example/dav/files/u/a", 405), .on("MKCOL https://c.example/dav/files/u/a/b%20c", 201),
        .on(move, 201), look,
      ])
    #expect(made.isDone(.size), "\(made)")
    let refused = try driver("a/d.bin").run(
      missing + [.on("MKCOL https://c.example/dav/files/u/a", 201), .on(move, 409)])
    #expect(refused.failure?.code == .http409)
  }

  // MARK: - Skipped steps

  private func optional(_ size: Int) throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      chunk: {idempotent: true}
      steps:
        init: {method: POST, url: /i}
        prepare_chunk: {when: "file.size > 3", method: GET, url: /p}
        chunk: {when: "file.size > 0", method: PATCH, url: /x, body: {kind: raw}}
        abort: {when: "file.size > 3", method: DELETE, url: /a}
      """, size)
  }

  @Test func anEmptyFileNeedsNoBody() throws {
    let (make, patch) = (Turn.on("POST https://h.example/api/i", 201), Turn.on("PATCH https://h.example/api/x", 204))
    #expect(try optional(0).run([make]).isDone())
    #expect(try optional(3).run([make, patch]).isDone())
    #expect(try optional(0).proto.plannedRequests(size: 0) == 1)
    #expect(try optional(3).proto.plannedRequests(size: 3) == 2)
    #expect(try optional(4).run([make, .on("GET https://h.example/api/p", 200), patch]).isDone())
  }

  @Test func anAbortMayBeLeftOut() throws {
    for (size, count) in [(3, 0), (4, 1)] {
      let driver = try optional(size)
      driver.facts.session = SessionFacts(remoteID: "u", intendedAtMs: 0)
      #expect(driver.proto.abortTargets(driver.facts).count == count)
    }
  }

  @Test(arguments: ["POST", "PATCH"]) func whetherAChunkMayBeSentTwiceHasToBeSaid(_ method: String) throws {
    func faults(_ chunk: String) -> String {
      let text = "profile: 1\nname: x\n\(chunk)steps: {chunk: {method: \(method), url: /x, body: {kind: raw}}}\n"
      do {
        _ = try Profile.read(Array(text.utf8), file: "f")
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(faults("").contains("\(method) is not idempotent by definition"))
    for word in ["true", "false"] { #expect(faults("chunk: {idempotent: \(word)}\n") == "") }
  }
}
