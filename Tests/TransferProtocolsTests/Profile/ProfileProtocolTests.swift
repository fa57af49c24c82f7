import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct ProfileProtocolTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"

  /// Secrets appear as references, and differ from any literal value.
  @Test func theInputsAreOfThePlace() throws {
    func place(_ inputs: [String: String], _ url: String = "https://h/2/files") throws -> String {
      try builtin("dropbox", url, inputs).keyPlace
    }
    #expect(try place(["prefix": "/a b/"]) == "https://h/2/files/ via dropbox with prefix=/a%20b/&token=env:X")
    #expect(try place([:]) == place(["prefix": "/"]))
    #expect(try place([:], "https://h/2/files?team=1") != place([:], "https://h/2/files?team=2"))
    #expect(try place(["prefix": "/a/&token=env:X"]) != place(["prefix": "/a/"]))
    #expect(KeyPlace.setting("a", "env:X") != KeyPlace.reference("a", "env:X"))
  }

  /// Servers refuse a POST without a length (411).
  @Test func aPostWithoutABodySaysThatItHasNone() throws {
    let driver = try ProfileDriver.of(
      """
      steps:
        init: {method: POST, url: /i, extract: {session.id: {json: $.id, required: true}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        verify: {method: GET, url: /v}
      """)
    let end = driver.run([
      .on("POST https://h.example/api/i", 200, #"{"id":"a"}"#) { request, _ in #expect(Self.length(request) == 0) },
      .on(put, 200), .on("GET https://h.example/api/v", 200) { request, _ in #expect(Self.length(request) == nil) },
    ])
    #expect(end.isDone())
  }

  /// The `Content-Length` of a body that is sent from memory.
  private static func length(_ request: TransferRequest) -> Int? {
    if case .bytes(let bytes) = request.body { bytes.count } else { nil }
  }

  // MARK: - Layout

  @Test(arguments: [
    ("{size: 4}", 10, [4, 4, 2]), ("{size: 4}", 0, [0]), ("{size: 4}", 4, [4]),
    ("{size: 4, remainder: last_absorbs}", 10, [4, 6]), ("{size: 4, remainder: last_absorbs}", 3, [3]),
    ("{mode: single}", 10, [10]), ("{size: 4, max_count: 2}", 10, [5, 5]),
    ("{size: 4, multiple_of: 4, max_count: 2}", 10, [8, 2]),
  ])
  func filesAreCutAsTheProfileSays(_ chunk: String, _ size: Int, _ expected: [Int]) throws {
    let proto = try profile(ProfileReadTests.smallest("chunk: \(chunk)"))
    let layout = try proto.layout(size: Int64(size))
    #expect((0..<layout.count).map { Int(layout.range($0).length) } == expected)
  }

  @Test(arguments: [
    ("chunk: {size: 4, fixed: true}", 8, 10), ("chunk: {size: 4, max: 6}", 8, 10), ("chunk: {size: 8, min: 6}", 5, 10),
    ("chunk: {size: 4, multiple_of: 4}", 6, 10), ("chunk: {size: 4, fixed: true, max_count: 2}", 4, 10),
    ("file: {max_size: 9}", 4, 10), ("file: {min_size: 11}", 4, 10),
  ])
  func whatTheProfileDoesNotTakeIsSaid(_ top: String, _ partSize: Int64, _ size: Int64) throws {
    let profile = try ProfileReadTests.read(ProfileReadTests.smallest(top))
    #expect(throws: TransferError.self) {
      _ = try ProfileProtocol(profile: profile, url: "https://h", inputs: [:], partSize: partSize).layout(size: size)
    }
  }

  @Test func theServerMayChooseTheSizeOfChunks() throws {
    let driver = try ProfileDriver.of(
      """
      chunk: {size: {from: session.part}}
      steps:
        init: {method: POST, url: /i, extract: {session.part: {json: $.partSize, required: true}}}
        chunk: {method: PUT, url: "/x{{chunk.number}}-{{chunk.count}}", body: {kind: raw}}
      """, 10)
    #expect(driver.proto.plansLate)
    let end = driver.run([
      .on("POST https://h.example/api/i", 200, #"{"partSize":6}"#), .on(put + "1-2", 200), .on(put + "2-2", 200),
    ])
    #expect(end.isDone())
  }

  // MARK: - Sessions

  @Test func withoutInitTheSessionHasAUUIDOfItsOwn() throws {
    let driver = try ProfileDriver.of("steps: {chunk: {method: PUT, url: \"/x/{{uuid}}\", body: {kind: raw}}}")
    #expect(driver.run([.lost(put), .on(put, 503), .on(put, 200)]).isDone())
    #expect(Set(driver.log).count == 1)
    let id = try #require(driver.log.first?.split(separator: "/").last)
    #expect(UID(text: String(id)) != nil && Array(id)[14] == "8")
  }

  @Test func aTokenWithALineBreakGoesNowhere() throws {
    let driver = try ProfileDriver.of(
      """
      steps:
        init: {method: POST, url: /i, extract: {session.t: {json: $.t}}}
        chunk: {method: PUT, url: /x, headers: {X-T: "{{session.t}}"}, body: {kind: raw}}
      """)
    let end = driver.run([.on("POST https://h.example/api/i", 200, #"{"t":"a\r\nX-Evil: 1"}"#)])
    #expect(end.failureText?.contains("the header X-T would hold a line break") == true)
  }

  @Test func aValueThatIsTooLongIsNotKept() throws {
    let driver = try ProfileDriver.of(
      """
      steps:
        init: {method: POST, url: /i, extract: {session.t: {json: $.t, required: true}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
      """)
    let long = Turn.on("POST https://h.example/api/i", 200, "{\"t\":\"\(String(repeating: "x", count: 70_000))\"}")
    #expect(driver.run([Turn](repeating: long, count: 8)).failureText?.contains("longer than 64 KiB") == true)
  }

  // MARK: - Chunks

  @Test func aChunkIsPreparedBeforeItsBodyAndAgainWhenARuleSaysSo() throws {
    let driver = try ProfileDriver.of(
      """
      chunk: {size: 2}
      steps:
        prepare_chunk: {method: POST, url: /p, query: {n: "{{chunk.number}}"}, extract: {part.url: {json: $.u, required: true}}}
        chunk:
          method: PUT
          url: "{{part.url}}"
          auth: off
          body: {kind: raw}
          extract: {part.etag: {header: ETag}}
          rules: [{if: {status: 403}, do: prepare_again, max: 2}]
        complete: {method: POST, url: /c, idempotent: true, body: {kind: text, value: "{{parts.etag | join(',')}}"}}
      """)
    let prepare = { (n: Int, url: String) in Turn.on("POST https://h.example/api/p?n=\(n)", 200, "{\"u\":\"\(url)\"}") }
    let end = driver.run([
      prepare(1, "https://b.example/1"), .on("PUT https://b.example/1", 403), prepare(1, "https://b.example/2"),
      .on("PUT https://b.example/2", 200, "", ["ETag": "\"a\""]), prepare(2, "https://b.example/3"),
      .on("PUT https://b.example/3", 200, "", ["ETag": "\"b\""]),
      .on("POST https://h.example/api/c", 200) { _, body in #expect(body == Array("\"a\",\"b\"".utf8)) },
    ])
    #expect(end.isDone())
    let other = try ProfileDriver.of(
      """
      steps:
        prepare_chunk: {method: POST, url: /p, extract: {part.u: {json: $.u}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}, rules: [{if: {status: 403}, do: prepare_again, max: 2}]}
      """)
    let again = [Turn.on("POST https://h.example/api/p", 200, "{}"), .on(put, 403)]
    #expect(other.run(again + again + again).failureText != nil)
  }

  @Test func aChunkThatMustNotBeRepeatedIsNot() throws {
    let text = "chunk: {idempotent: false}\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}"
    let driver = try ProfileDriver.of(text + "}")
    #expect(driver.run([.lost(put)]).unknown != nil)
    #expect(driver.proto.abilities.unrepeatable == [.part])
    #expect(try ProfileDriver.of(text + "}").run([.on(put, 502)]).unknown != nil)
    // An intermediary may have given up on it, and a status of no class says nothing.
    for status in [408, 600] {
      #expect(try ProfileDriver.of(text + "}").run([.on(put, status)]).unknown != nil, "\(status)")
    }
    #expect(try ProfileDriver.of(text + "}").run([.on(put, 429), .on(put, 200)]).isDone())
    let asked = try ProfileDriver.of(
      text + ", probe_chunk: {method: GET, url: /q, have: {exists: {status: 200}}}}")
    #expect(
      asked.run([
        .lost(put), .on("GET https://h.example/api/q", 404), .lost(put), .on("GET https://h.example/api/q", 200),
      ]).isDone())
    #expect(asked.proto.abilities.unrepeatable == [])
    #expect(asked.proto.abilities.queriesChunks)
  }

  /// The server keeps chunks, but is not asked about them: a lost answer costs the whole body again.
  @Test func aChunkThatIsRepeatedWithoutAQuery() throws {
    let driver = try ProfileDriver.of(
      "chunk: {mode: sequential, idempotent: true}\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}")
    #expect(driver.proto.abilities(driver.facts).resumable)
    #expect(!driver.proto.abilities(driver.facts).queriesChunks)
  }

  @Test(arguments: [("resend", false), ("commit_anyway", true), ("fail", false), ("restart", true)])
  func aLastChunkThatIsRefusedAfterALostAnswer(_ policy: String, _ ends: Bool) throws {
    let driver = try ProfileDriver.of(
      """
      on_ambiguous_last: \(policy)
      steps:
        init: {method: POST, url: /i}
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        commit: {method: POST, url: /c}
      """)
    let create = Turn.on("POST https://h.example/api/i", 200)
    let rest: [Turn] =
      switch policy {
      case "commit_anyway": [.on("POST https://h.example/api/c", 200)]
      case "restart": [create, .on(put, 200), .on("POST https://h.example/api/c", 200)]
      default: []
      }
    let end = driver.run([create, .lost(put), .on(put, 409)] + rest)
    #expect(end.isDone() == ends)
    #expect((end.unknown != nil) == (policy == "fail"))
  }

  @Test(arguments: [
    (400, "http.400"), (403, "http.403"), (413, "http.413"), (302, "http.redirect"), (507, "http.507"),
    (511, "http.5xx"),
  ])
  func refusalsAreFinal(_ status: Int, _ code: String) throws {
    let driver = try ProfileDriver.of("steps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}")
    let fields = status == 302 ? ["Location": "https://other.example/y"] : [:]
    let text = driver.run([.on(put, status, "", fields)]).failureText
    #expect(text?.hasPrefix(code) == true, "\(text ?? "")")
    if status == 413 { #expect(text?.contains("--part-size") == true) }
    if status == 302 { #expect(text?.contains("https://other.example") == true) }
  }

  @Test(arguments: [408, 423, 425, 429, 500, 502, 503, 504])
  func theseAreTriedAgain(_ status: Int) throws {
    let driver = try ProfileDriver.of("steps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}")
    #expect(driver.run([.on(put, status), .on(put, 200)]).isDone())
  }

  @Test func aPollHasAnEnd() throws {
    let driver = try ProfileDriver.of(
      """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        complete: {method: POST, url: /c, poll: {while: {status: 202}, every: 40s, max: 1m}}
      """)
    let wait = Turn.on("POST https://h.example/api/c", 202)
    #expect(driver.run([.on(put, 200), wait, wait, wait]).failureText?.hasPrefix("net.timeout") == true)
  }

  @Test func aSessionThatNobodyOpensExpiresToo() throws {
    let driver = try ProfileDriver.of(
      "session: {ttl: 1h}\nsteps: {chunk: {method: PUT, url: \"/x/{{uuid}}\", body: {kind: raw}}}")
    driver.facts.session = SessionFacts(
      remoteID: "old", intendedAtMs: driver.nowMs - 3_600_000, notes: ["uuid": "old"])
    #expect(driver.run([.on(put, 200)]).isDone())
    #expect(driver.log.allSatisfy { !$0.hasSuffix("old") })
  }

  @Test func settingsThatDoNotFitAreRefused() throws {
    let profile = try ProfileReadTests.read(
      ProfileReadTests.smallest("inputs: [{name: k, secret: true, required: true}, {name: b, required: true}]"))
    let inputs = ProfileSettings(name: "x", text: profile.text, inputs: ["b": "1"], secrets: ["k": "env:K"])
    #expect(throws: Never.self) { try ProfileProtocol(BatchSettings(destination: "https://h/", profile: inputs)) }
    for wrong in [
      BatchSettings(destination: "https://h/", profile: ProfileSettings(name: "x", text: profile.text)),
      BatchSettings(destination: "https://h/", profile: ProfileSettings(name: "x", text: "profile: 2")),
      BatchSettings(destination: "https://h/", options: ["if-none-match": true], profile: inputs),
      BatchSettings(destination: "https://h/", auth: "bearer=env:X", profile: inputs),
    ] {
      #expect(throws: TransferError.self) { try ProfileProtocol(wrong) }
    }
    for destination in ["s3://b/", "post+https://h/", "https://h/{name}", "https://h/?token=x"] {
      #expect(throws: TransferError.self) { try Destination(BatchSettings(destination: destination, profile: inputs)) }
    }
    let place = try Destination(BatchSettings(destination: "https://h/api?x=1", profile: inputs))
    #expect(place.key(forRelativePath: NameBytes("a/b"), isSingleFile: true) == NameBytes("a/b"))
  }

  @Test func valuesKeepTheirTypes() {
    for value in [
      TemplateValue.string("5"), .int(-7), .bool(false), .time(123_456), .digest([0, 255]),
      .list([.int(1), .string("é\"")]),
    ] {
      #expect(StoredValue.read(StoredValue.text(value)) == value)
    }
    #expect(StoredValue.read("{") == nil)
  }
}
