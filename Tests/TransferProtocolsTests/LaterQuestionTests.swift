import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// What answers say about files that are done: confirmed, different, gone, or nothing.
@Suite struct LaterQuestionTests {
  /// The object `hello`, as it was confirmed.
  private func object(
    _ algorithm: DigestAlgorithm = .crc64nvme, etag: String = "\"v1\"", session: SessionFacts? = nil
  ) -> StoredObject {
    let facts = Scene.facts { facts in
      (facts.storedChunks, facts.acked, facts.isPlanned, facts.session) = (1, 5, true, session)
    }
    let digest = Scene.digest("hello", algorithm)
    return StoredObject(facts, FileProof(confirmation: .digest, digest: digest, remoteDigest: digest, etag: etag))
  }

  private func words(_ answer: ObjectAnswer) -> String {
    switch answer.outcome {
    case .finding(let found): "\(found.outcome) \(found.proof.confirmation)"
    case .settled: "settled"
    case .inconclusive: "inconclusive"
    case .failed(let failure, let remedy): "\(failure.code.rawValue) \(remedy)"
    }
  }

  private func s3(_ status: Int, _ fields: (String, String)..., etag: String = "\"v1\"") throws -> String {
    words(
      try Scene.s3().answer(
        Scene.reply(status, fields), to: .verify, about: object(etag: etag), Scene.context()))
  }

  private static func checksum(_ text: String) -> (String, String) {
    ("x-amz-checksum-crc64nvme", base64(Scene.digest(text, .crc64nvme).bytes))
  }

  @Test func s3TellsByDigestETagOrSize() throws {
    let size = ("content-length", "5")
    #expect(try s3(200, size, Self.checksum("hello"), ("etag", "\"other\"")) == "found digest")
    #expect(try s3(200, size, Self.checksum("hallo"), ("etag", "\"v1\"")) == "differs none")
    #expect(try s3(200, ("content-length", "6"), Self.checksum("hello")) == "differs none")
    #expect(try s3(200, size, ("etag", "\"v1\"")) == "found etag")
    #expect(try s3(200, size, ("etag", "v1")) == "found etag")
    #expect(try s3(200, size, ("etag", "\"other\"")) == "inconclusive")
    #expect(try s3(200, size, ("etag", "W/\"v1\"")) == "found size")
    #expect(try s3(200, size, ("etag", "\"v1\""), etag: "") == "found size")
    #expect(try s3(200, ("etag", "W/\"v1\"")) == "inconclusive")
    let composite = ("x-amz-checksum-type", "COMPOSITE")
    #expect(try s3(200, size, Self.checksum("hallo"), composite) == "found size")
  }

  @Test func cannotTellIsNotAbsent() throws {
    #expect(try s3(404) == "lost none")
    #expect(try s3(403) == "inconclusive")
    #expect(try s3(405) == "inconclusive")
    #expect(try s3(503).hasSuffix("retry(isThrottled: true)"))
    #expect(try s3(500).hasSuffix("retry(isThrottled: false)"))
    let lost = try Scene.s3().answer(Scene.broken(), to: .verify, about: object(), Scene.context())
    #expect(words(lost).hasSuffix("retry(isThrottled: false)"))
  }

  private func web(_ destination: String, _ status: Int, _ fields: (String, String)...) throws -> String {
    let proto = try Scene.web(destination)
    #expect(proto.question(about: object(.crc32c)) == .verify)
    return words(
      proto.answer(Scene.reply(status, fields), to: .verify, about: object(.crc32c), Scene.context(nil)))
  }

  @Test(arguments: ["http://h/in/", "dav+http://h/in/"]) func aWebServerIsAskedByHEAD(_ destination: String) throws {
    let proto = try Scene.web(destination)
    let request = try proto.request(.verify, about: object(.crc32c), Scene.context(nil))
    #expect(request.method == .head && request.url == "http://h/k")
    let crc = base64(Scene.digest("hello", .crc32c).bytes)
    let size = ("content-length", "5")
    #expect(try web(destination, 200, size, ("repr-digest", "crc32c=:\(crc):")) == "found digest")
    #expect(try web(destination, 200, size, ("repr-digest", "crc32c=:AAAAAA==:")) == "differs none")
    #expect(try web(destination, 200, size, ("etag", "\"v1\"")) == "found etag")
    #expect(try web(destination, 200, ("content-length", "4"), ("etag", "\"v1\"")) == "differs none")
    #expect(try web(destination, 200, ("content-length", "4"), ("content-encoding", "gzip")) == "inconclusive")
    #expect(try web(destination, 200, size, ("content-type", "text/html")) == "inconclusive")
    #expect(try web(destination, 404) == "lost none")
    #expect(try web(destination, 410) == "lost none")
    #expect(try web(destination, 403) == "inconclusive")
    #expect(try web(destination, 302).hasSuffix("permanent"))
  }

  /// The answers of Apache httpd 2.4 and nginx 1.22 to a range of an empty file, and those of an object with content.
  @Test func anEmptyObjectIsAskedByGET() throws {
    let proto = try Scene.web("http://h/in/")
    var empty = object(.crc32c)
    empty.facts = Scene.facts(size: 0)
    empty.proof = FileProof(confirmation: .size)
    let request = try proto.request(.verify, about: empty, Scene.context(nil))
    #expect(request.method == .get && request.fields[.range] == "bytes=0-0")
    func found(_ status: Int, _ fields: (String, String)...) -> String {
      words(proto.answer(Scene.reply(status, fields), to: .verify, about: empty, Scene.context(nil)))
    }
    #expect(found(200, ("content-length", "0")) == "found size")
    #expect(found(416, ("content-range", "bytes */0")) == "found size")
    #expect(found(206, ("content-range", "bytes 0-0/7"), ("content-length", "1")) == "differs none")
    #expect(found(416, ("content-length", "300")) == "inconclusive")
    #expect(found(200, ("content-length", "20"), ("content-encoding", "gzip")) == "inconclusive")
    #expect(found(404) == "lost none")
  }

  @Test func whatHasNoWayToBeAskedIsNotAsked() throws {
    #expect(try Scene.web("post+http://h/in/").question(about: object()) == nil)
    let form = try AllProtocols.make(BatchSettings(destination: "form+http://h/in/"), credentialsRegion: nil)
    #expect(ProtocolInUse(form).laterQuestions == nil)
    let tus = try later("tus+http://h/files/")
    #expect(tus.question(about: object()) == nil)
    // The session ID as in a copy for auditors.
    let hidden = SessionFacts(remoteID: "hidden:5", intendedAtMs: 0)
    #expect(tus.question(about: object(session: hidden)) == nil)
  }

  private func later(_ destination: String) throws -> any LaterQuestions {
    let proto = try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil)
    return try #require(ProtocolInUse(proto).laterQuestions)
  }

  /// A finished upload that the server forgot may be a file that was moved to its final name.
  @Test(arguments: ["tus+http://h/files/", "resumable+http://h/files/"])
  func anUploadIsAskedForByItsURL(_ destination: String) throws {
    let proto = try later(destination)
    let known = object(.crc32c, session: SessionFacts(remoteID: "http://h/files/u1", intendedAtMs: 0))
    #expect(proto.question(about: known) == .verify)
    let request = try proto.request(.verify, about: known, Scene.context(nil))
    #expect(request.method == .head && request.url == "http://h/files/u1")
    func answer(_ status: Int, _ fields: (String, String)...) -> String {
      words(proto.answer(Scene.reply(status, fields), to: .verify, about: known, Scene.context(nil)))
    }
    #expect(answer(200, ("upload-offset", "5"), ("upload-length", "5")) == "found size")
    #expect(answer(200, ("upload-offset", "4"), ("upload-length", "5")) == "differs none")
    #expect(answer(200) == "inconclusive")
    #expect(answer(404) == "inconclusive")
    #expect(answer(410) == "inconclusive")
    #expect(answer(403) == "inconclusive")
  }

  private func profile(_ require: String) throws -> ProfileProtocol {
    try ProfileDriver.of(
      """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v, success: {require: [\(require)]}}
      """
    ).proto
  }

  private func verified(_ proto: ProfileProtocol, _ status: Int, _ body: String) -> String {
    let context = Scene.context(.inputs([:]))
    let reply = Scene.reply(status, [("content-type", "application/json")], body)
    return words(proto.answer(reply, to: .verify, about: object(.crc32c, session: Self.session), context))
  }

  private static let session = SessionFacts(
    remoteID: "s", intendedAtMs: 0, notes: [SessionNotes.proved: Confirmation.digest.rawValue])

  /// What was proven at the time of sending says nothing about the present.
  @Test func aProfileTellsWhatItsVerifyCompares() throws {
    let proto = try profile(#"{json: $.size, eq: "{{file.size}}"}"#)
    #expect(proto.question(about: object(.crc32c, session: Self.session)) == .verify)
    #expect(verified(proto, 200, #"{"size":5}"#) == "found size")
    #expect(verified(proto, 200, #"{"size":6}"#) == "differs none")
    #expect(verified(proto, 200, "{}") == "inconclusive")
    #expect(verified(proto, 404, "") == "lost none")
    #expect(verified(proto, 403, "") == "inconclusive")
    let bare = try profile("")
    #expect(verified(bare, 200, "{}") == "inconclusive")
  }

  /// A query that names only facts of the upload says nothing about the file once the upload is forgotten.
  @Test(arguments: ["/v?id={{uuid}}", "/v/{{session.id}}", "/v/{{session.token}}"])
  func aProfileThatAsksAboutTheUploadAccusesNoFile(_ url: String) throws {
    let proto = try ProfileDriver.of(
      """
      steps:
        init: {method: POST, url: /i, extract: {session.id: {json: $.id}, session.token: {json: $.t}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        verify: {method: GET, url: "\(url)", success: {require: [{json: $.size, eq: "{{file.size}}"}]}}
      """
    ).proto
    #expect(verified(proto, 200, #"{"size":5}"#) == "found size")
    #expect(verified(proto, 200, #"{"size":6}"#) == "differs none")
    #expect(verified(proto, 404, "") == "inconclusive")
    #expect(verified(proto, 410, "") == "inconclusive")
    let reply = Scene.reply(404, [])
    let answer = proto.answer(
      reply, to: .verify, about: object(.crc32c, session: Self.session), Scene.context(.inputs([:])))
    guard case .inconclusive(let text) = answer.outcome else { return }
    #expect(text == "the server does not know the upload any more (404); the file may be there")
  }

  @Test(arguments: [404, 410]) func aRefreshThatFindsNothingAccusesNoFile(_ status: Int) throws {
    let proto = try ProfileDriver.of(
      """
      inputs: [{name: key, secret: true}]
      auth:
        headers: {Authorization: "Bearer {{secret.token | default(input.key)}}"}
        refresh: {method: POST, url: /token, auth: off, extract: {secret.token: {json: $.t, required: true}}}
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v, success: {require: [{json: $.size, eq: "{{file.size}}"}]}}
      """, 5, ["key": "old"]
    ).proto
    let answer = proto.answer(
      Scene.reply(status, []), to: .discover, about: object(.crc32c, session: Self.session),
      Scene.context(.inputs(["key": "old"])))
    #expect(!words(answer).hasPrefix("lost"), "\(words(answer))")
  }

  @Test func aProfileWithoutVerifyCannotBeAsked() throws {
    let proto = try ProfileDriver.of("steps:\n  chunk: {method: PUT, url: /x, body: {kind: raw}}").proto
    #expect(proto.question(about: object(.crc32c, session: Self.session)) == nil)
  }
}
