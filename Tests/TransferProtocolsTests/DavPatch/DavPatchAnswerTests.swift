import Testing
import TransferModel

@testable import TransferProtocols

/// How answers are interpreted.
@Suite struct DavPatchAnswerTests {
  private func interpret(
    _ reply: TransferReply, _ step: StepRequest, _ facts: TransferFacts = DavPatchScene.facts(),
    change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> String {
    text(
      try DavPatchScene.davPatch(change: change).interpret(reply, to: step, facts, DavPatchScene.context(facts)))
  }

  private static let doubted = #"noted ["doubted=1"], proto.lost_answer unknown"#

  private func length(_ count: Int) -> (String, String) { ("Content-Length", "\(count)") }

  @Test func discovery() throws {
    let proto = try DavPatchScene.davPatch()
    let facts = DavPatchScene.facts()
    func finds(_ reply: TransferReply) -> Bool? {
      let meaning = proto.interpret(reply, to: .discover, facts, DavPatchScene.context(facts))
      guard case .settled = meaning.outcome else { return nil }
      return meaning.learned?.discovered?[DavPatchProtocol.feature] != nil
    }
    #expect(finds(Scene.reply(200, [("DAV", "1, 3, extended-mkcol, sabredav-partialupdate")])) == true)
    #expect(finds(Scene.reply(204, [("DAV", "1,sabredav-partialupdate,2")])) == true)
    #expect(finds(Scene.reply(200, [("DAV", "1, 2")])) == false)
    #expect(finds(Scene.reply(200, [("DAV", "x-sabredav-partialupdate-not")])) == false)
    #expect(finds(Scene.reply(204)) == false)
    // The collection does not exist yet.
    #expect(finds(Scene.reply(404)) == true)
    for status in [302, 401, 403, 503] { #expect(finds(Scene.reply(status)) == nil, "\(status)") }
  }

  @Test func creation() throws {
    let facts = DavPatchScene.facts(notes: [:])
    for status in [200, 201, 204, 412] {
      #expect(try interpret(Scene.reply(status), .create, facts) == #"noted ["made=1"], settled"#, "\(status)")
    }
    let empty = DavPatchScene.facts(size: 0, notes: [:])
    #expect(try interpret(Scene.reply(201), .create, empty) == #"noted ["made=1"], offset 0"#)
    #expect(try interpret(Scene.reply(404), .create, facts) == "http.404 makeParents")
    #expect(try interpret(Scene.reply(409), .create, facts) == "http.409 makeParents")
    let made = DavPatchScene.facts(notes: [:]) { $0.parentsMade = 1 }
    #expect(try interpret(Scene.reply(404), .create, made) == "http.404 permanent")
    #expect(try interpret(Scene.reply(409), .create, made) == "http.409 permanent")
    #expect(try interpret(Scene.reply(403), .create, facts) == "http.403 permanent")
    #expect(try interpret(Scene.reply(202), .create, facts) == "proto.bad_reply retry(isThrottled: false)")
    let page = Scene.reply(200, [("Content-Type", "text/html")], "<html>")
    #expect(try interpret(page, .create, facts) == "proto.bad_reply permanent")
    #expect(try interpret(Scene.reply(405), .makeParent(depth: 1), facts) == "settled")
    #expect(try interpret(Scene.reply(401), .makeParent(depth: 1), facts) == "auth.refused permanent")
  }

  @Test(arguments: [
    (200, "stored 1 none"), (201, "stored 1 none"), (204, "stored 1 none"),
    (202, "proto.bad_reply retry(isThrottled: false)"), (207, "proto.bad_reply probe"),
    (302, "http.redirect permanent"), (400, "http.400 permanent"), (401, "auth.refused permanent"),
    (403, "http.403 permanent"), (404, "proto.session_gone sessionGone"), (410, "proto.session_gone sessionGone"),
    (405, "proto.unsupported permanent"), (415, "proto.unsupported permanent"), (501, "proto.unsupported permanent"),
    (409, "http.409 probe"), (416, "http.4xx probe"), (411, "http.4xx permanent"),
    (413, "http.413 permanent"), (423, "http.423 retry(isThrottled: false)"),
    (429, "http.429 retry(isThrottled: true)"), (500, "http.500 retry(isThrottled: false)"),
    (503, "http.503 retry(isThrottled: true)"), (507, "http.507 retry(isThrottled: false)"),
  ])
  func bodies(_ status: Int, _ expected: String) throws {
    let chunk = StepRequest.chunk(DavPatchScene.chunk(1, 6..<11))
    #expect(try interpret(Scene.reply(status), chunk) == expected)
  }

  @Test func bodiesThatArePieces() throws {
    var chunk = DavPatchScene.chunk(1, 100..<200, acked: 10)
    chunk.body = ByteRange(offset: 110, length: 30)
    #expect(try interpret(Scene.reply(204), .chunk(chunk)) == "advanced to 40")
    let page = Scene.reply(200, [("Content-Type", "text/html")], "<html>")
    #expect(try interpret(page, .chunk(chunk)) == "proto.bad_reply permanent")
    #expect(try interpret(Scene.broken(), .chunk(chunk)) == "net.reset retry(isThrottled: false)")
    let large = DavPatchScene.chunk(0, 0..<(12 << 20))
    #expect(try interpret(Scene.reply(413), .chunk(large)) == #"noted ["body=6291456"], http.413 probe"#)
  }

  /// A gap beyond the end of an object is filled with zeros: an object longer than what was sent cannot be correct.
  @Test func theLengthIsTheTruth() throws {
    let facts = DavPatchScene.facts {
      $0.storedChunks = 1
      $0.acked = 6
    }
    func probe(_ reply: TransferReply, _ facts: TransferFacts) throws -> String {
      try interpret(reply, .probe(marker: nil), facts)
    }
    for count in [0, 3, 6, 11] { #expect(try probe(Scene.reply(200, [length(count)]), facts) == "offset \(count)") }
    #expect(try probe(Scene.reply(200, [length(12)]), facts) == "proto.offset permanent")
    let first = DavPatchScene.facts()
    #expect(try probe(Scene.reply(200, [length(6)]), first) == "offset 6")
    #expect(try probe(Scene.reply(200, [length(7)]), first) == "proto.offset sessionGone")
    #expect(try probe(Scene.reply(200), facts) == "inconclusive")
    #expect(try probe(Scene.reply(200, [("Content-Length", "-1")]), facts) == "inconclusive")
    #expect(try probe(Scene.reply(200, [("Content-Encoding", "gzip"), length(3)]), facts) == "inconclusive")
    for status in [404, 410] { #expect(try probe(Scene.reply(status), facts) == "proto.session_gone sessionGone") }
    for status in [400, 403, 405, 501] { #expect(try probe(Scene.reply(status), facts) == "inconclusive") }
    #expect(try probe(Scene.reply(503), facts) == "http.503 retry(isThrottled: true)")
  }

  private var digest: (String, String) {
    ("Repr-Digest", "crc32c=:\(base64(Scene.digest("hello world", .crc32c).bytes)):")
  }
  private let otherDigest = ("Repr-Digest", "crc32c=:AAAAAA==:")

  /// The doubt about an earlier MOVE is over.
  private func absent(_ tag: String) -> String { #"noted ["doubted=", "etag=\#(tag)"], absent"# }

  @Test func theTemporaryObjectIsWhatWasSent() throws {
    let facts = DavPatchScene.stored()
    let asked = DavPatchScene.stored { $0.lostAnswer = .finish }
    let refused = DavPatchScene.stored(["made": "1", "asked": "1"])
    let tag = ("ETag", "\"e\"")
    for facts in [facts, asked] {
      #expect(try interpret(Scene.reply(200, [length(11), tag]), .verify, facts) == absent(#"\"e\""#))
      #expect(try interpret(Scene.reply(200, [length(11), digest]), .verify, facts) == absent(""))
      #expect(try interpret(Scene.reply(200), .verify, facts) == absent(""))
      #expect(try interpret(Scene.reply(200, [length(10)]), .verify, facts) == "proto.offset sessionGone")
      #expect(try interpret(Scene.reply(200, [length(12)]), .verify, facts) == "proto.offset permanent")
      #expect(try interpret(Scene.reply(200, [length(11), otherDigest]), .verify, facts) == "proto.offset sessionGone")
      #expect(try interpret(Scene.reply(500), .verify, facts) == "http.500 retry(isThrottled: false)")
    }
    #expect(try interpret(Scene.reply(404), .verify, facts) == "proto.session_gone sessionGone")
    #expect(try interpret(Scene.reply(404), .verify, asked) == #"noted ["moved=missing"], settled"#)
    #expect(try interpret(Scene.reply(404), .verify, refused) == #"noted ["moved=missing"], settled"#)
    #expect(try interpret(Scene.reply(410), .verify, asked) == #"noted ["moved=missing"], settled"#)
    for status in [400, 403, 405, 501] {
      #expect(try interpret(Scene.reply(status), .verify, facts) == "inconclusive")
      #expect(try interpret(Scene.reply(status), .verify, asked) == Self.doubted)
    }
  }

  @Test func moves() throws {
    let facts = DavPatchScene.stored()
    let asked = #"noted ["asked=1"], "#
    for status in [201, 204] {
      #expect(try interpret(Scene.reply(status), .finish, facts) == #"noted ["moved=told"], settled"#)
    }
    for status in [200, 202, 207] {
      #expect(try interpret(Scene.reply(status), .finish, facts) == asked + "proto.bad_reply retry(isThrottled: false)")
    }
    #expect(try interpret(Scene.reply(404), .finish, facts) == asked + "proto.session_gone sessionGone")
    #expect(try interpret(Scene.reply(412), .finish, facts) == asked + "proto.session_gone sessionGone")
    let exists = try interpret(Scene.reply(412), .finish, facts) { $0.ifNoneMatch = true }
    #expect(exists == "policy.exists permanent")
    #expect(try interpret(Scene.reply(403), .finish, facts) == asked + "http.403 permanent")
    #expect(try interpret(Scene.broken(), .finish, facts) == "net.reset retry(isThrottled: false)")
  }

  @Test func theObjectIsWhatWasSent() throws {
    let told = DavPatchScene.stored(["made": "1", "etag": "\"e\"", "moved": "told"])
    let missing = DavPatchScene.stored(["made": "1", "etag": "\"e\"", "moved": "missing"])
    #expect(try interpret(Scene.reply(200, [length(11)]), .verify, told) == "finished size")
    #expect(try interpret(Scene.reply(200), .verify, told) == "finished none")
    #expect(try interpret(Scene.reply(405), .verify, told) == "inconclusive")
    for facts in [told, missing] {
      #expect(try interpret(Scene.reply(200, [length(11), ("ETag", "\"e\"")]), .verify, facts) == "finished size")
      #expect(try interpret(Scene.reply(200, [length(11), digest]), .verify, facts) == "finished digest")
      #expect(try interpret(Scene.reply(404), .verify, facts) == "proto.session_gone sessionGone")
    }
    // The server did not confirm the move: an older object has the name.
    let tag = ("ETag", "\"f\"")
    for fields in [[length(10)], [length(11), otherDigest]] {
      #expect(try interpret(Scene.reply(200, fields), .verify, told) == "integrity.mismatch permanent")
      #expect(try interpret(Scene.reply(200, fields), .verify, missing) == "proto.session_gone sessionGone")
    }
    #expect(try interpret(Scene.reply(200, [length(11), tag]), .verify, told) == "finished size")
    #expect(try interpret(Scene.reply(200, [length(11), tag]), .verify, missing) == "proto.session_gone sessionGone")
  }

  /// After a lost answer to MOVE, an object of the same length may be an older one.
  @Test func theLengthAloneDoesNotShowThatItWasMoved() throws {
    let tagged = DavPatchScene.stored(["made": "1", "etag": "\"e\"", "moved": "missing"])
    let bare = DavPatchScene.stored(["made": "1", "etag": "", "moved": "missing"])
    for facts in [tagged, bare] {
      for fields in [[], [length(11)]] {
        #expect(try interpret(Scene.reply(200, fields), .verify, facts) == Self.doubted)
      }
      for status in [400, 403, 405, 501] {
        #expect(try interpret(Scene.reply(status), .verify, facts) == Self.doubted)
      }
    }
    let tag = ("ETag", "\"f\"")
    #expect(try interpret(Scene.reply(200, [length(11), tag]), .verify, bare) == Self.doubted)
    #expect(try interpret(Scene.reply(200, [length(11), digest]), .verify, bare) == "finished digest")
    #expect(try interpret(Scene.reply(200, [length(10)]), .verify, bare) == "proto.session_gone sessionGone")
  }

  @Test func inDoubtAfterARetryTheFileIsSentAgain() throws {
    let asked = DavPatchScene.stored(["made": "1", "asked": "1", "doubted": "1"])
    let missing = DavPatchScene.stored(["made": "1", "etag": "", "moved": "missing", "doubted": "1"])
    #expect(try interpret(Scene.reply(405), .verify, asked) == "proto.session_gone sessionGone")
    for reply in [Scene.reply(200, [length(11)]), Scene.reply(405)] {
      #expect(try interpret(reply, .verify, missing) == "proto.session_gone sessionGone")
    }
    #expect(try interpret(Scene.reply(200, [length(11), digest]), .verify, missing) == "finished digest")
  }

  @Test func aborts() throws {
    let step = StepRequest.abort(remoteID: "http://h/x")
    for status in [200, 204, 404, 405, 410, 501] { #expect(try interpret(Scene.reply(status), step) == "settled") }
    #expect(try interpret(Scene.reply(401), step) == "auth.refused permanent")
    #expect(try interpret(Scene.reply(500), step) == "http.500 retry(isThrottled: false)")
  }
}
