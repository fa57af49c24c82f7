import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// Chunks that are stored although their answers were lost, and files that lose data again and again.
@Suite struct ProfileLostChunkTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"
  private let ask = "GET https://h.example/api/p"
  private let create = "POST https://h.example/api/i"

  // MARK: - What the answer would have said

  private func result(_ policy: String, _ size: Int = 3) throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      on_ambiguous_last: \(policy)
      chunk: {size: 4}
      steps:
        init: {method: POST, url: /i}
        probe: {method: GET, url: /p, have: {next: {json: $.next}}, extract: {result.url: {json: $.url}}}
        chunk:
          {method: PUT, url: /x, body: {kind: raw}, extract: {result.url: {json: $.url, when: chunk.last, required: true}}}
        commit: {method: POST, url: "/s?u={{result.url}}"}
      """, size)
  }

  @Test func aLastChunkWhoseResultIsUnknownFollowsThePolicy() throws {
    let (lost, next) = ([Turn.on(create, 200), .lost(put)], Turn.on(ask, 200, #"{"next":2}"#))
    let stored = Turn.on(put, 200, #"{"url":"a"}"#)
    let save = Turn.on("POST https://h.example/api/s?u=a", 200)
    #expect(try result("restart").run(lost + [next, .on(create, 200), stored, save]).isDone())
    #expect(try result("resend").run(lost + [next, stored, save]).isDone())
    #expect(try result("fail").run(lost + [next]).unknown?.code == .protoLostAnswer)
    #expect(try result("probe").run(lost + [next, .on(ask, 200, #"{"next":2,"url":"a"}"#), save]).isDone())
    #expect(try result("commit_anyway").run(lost + [next]).failure?.message.contains("result.url has no value") == true)
    #expect(try result("fail").run(lost + [.on(ask, 200, #"{"next":2,"url":"a"}"#), save]).isDone())
    #expect(try result("fail", 8).run([.on(create, 200), .lost(put), next, stored, save]).isDone())
  }

  @Test func aChunkWhoseValuesAreUnknownIsSentAgain() throws {
    let text = """
      IDEMPOTENT
      steps:
        probe_chunk: {method: GET, url: /p, have: {exists: {status: 200}}, extract: {part.etag: {json: $.e}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}, extract: {part.etag: {json: $.e, required: true}}}
        complete: {method: POST, url: /c, body: {kind: text, value: "{{parts.etag | join(',')}}"}}
      """
    let end = Turn.on("POST https://h.example/api/c", 200) { _, body in #expect(body == Array("1".utf8)) }
    let harmless = text.replacing("IDEMPOTENT", with: "")
    let again = try ProfileDriver.of(harmless)
    #expect(again.run([.lost(put), .on(ask, 200, "{}"), .on(put, 200, #"{"e":1}"#), end]).isDone())
    #expect(try ProfileDriver.of(harmless).run([.lost(put), .on(ask, 200, #"{"e":1}"#), end]).isDone())
    let once = try ProfileDriver.of(text.replacing("IDEMPOTENT", with: "chunk: {idempotent: false}"))
    #expect(once.run([.lost(put), .on(ask, 200, "{}")]).unknown != nil)
  }

  @Test func aLostMakeOfAnObjectThatIsThereIsUnknown() throws {
    let crc = RunningDigest.of(pattern(3), .crc32).bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let block = Turn.on("POST https://up.example/mkblk/3", 200, #"{"ctx":"c","crc32":\#(crc)}"#)
    let make = "POST https://up.example/mkfile/3"
    let driver = {
      try ProfileDriver(builtin("qiniu-v1", "https://up.example"), content: pattern(3), secrets: ["uptoken": "T"])
    }
    let end = try driver().run([block, .lost(make), .on(make, 614)])
    #expect(end.unknown?.message.contains("may be ours") == true, "\(end)")
    #expect(try driver().run([block, .on(make, 614)]).failure?.message.contains("already an object") == true)
    #expect(try driver().run([block, .lost(make), .on(make, 200)]).isDone())
  }

  // MARK: - Everything ends

  /// Answers by the number of the request; the file has to end within `most` requests.
  private func requests(_ driver: ProfileDriver, most: Int, _ answer: @escaping (Int, String) -> Turn) -> Int {
    var sent = 0
    let end = driver.run { line in
      sent += 1
      return sent > most ? nil : answer(sent, line)
    }
    #expect(end.failure != nil || end.unknown != nil, "\(end)")
    return sent
  }

  private func google(_ size: Int) throws -> ProfileDriver {
    try ProfileDriver(
      builtin("google", "https://g.example/upload", partSize: 256 << 10), content: pattern(size),
      secrets: ["token": "T"])
  }

  @Test func anObjectThatIsAlwaysAnotherIsNotSentForEver() throws {
    let count = requests(try google(600 << 10), most: 60) { _, line in
      if line.hasPrefix("POST") { return .on(line, 200, "", ["Location": "/up/1"]) }
      return .on(line, 200, #"{"size":"9"}"#)
    }
    #expect(count <= 12)
    var sent: Int64 = 0
    let driver = try google(600 << 10)
    let many = requests(driver, most: 60) { _, line in
      if line.hasPrefix("POST") {
        sent = 0
        return .on(line, 200, "", ["Location": "/up/1"])
      }
      sent += 256 << 10
      if sent > 600 << 10 { return .on(line, 200, #"{"size":"9"}"#) }
      return .on(line, 308, "", ["Range": "bytes=0-\(sent - 1)"])
    }
    #expect(many <= 16)
  }

  @Test func aServerThatFallsBackEachTimeIsNotFollowedForEver() throws {
    let driver = try google(600 << 10)
    let count = requests(driver, most: 100) { sent, line in
      if line.hasPrefix("POST") { return .on(line, 200, "", ["Location": "/up/1"]) }
      let end = sent % 3 == 2 ? 524_287 : 262_143
      return .on(line, 308, "", ["Range": "bytes=0-\(end)"])
    }
    #expect(count <= 40)
  }

  @Test(arguments: [("numbered-chunks", "chunks"), ("flow", "flow"), ("dropzone", "dropzone")])
  func aLaterChunkThatIsNeverFoundIsNotSentForEver(_ name: String, _ path: String) throws {
    let driver = try ProfileDriver(builtin(name, "https://h.example/\(path)", partSize: 4), content: pattern(16))
    var uploads = 0
    let count = requests(driver, most: 100) { _, line in
      if line.hasPrefix("GET") { return .on(line, 404) }
      uploads += 1
      return .on(line, uploads % 3 == 0 ? 404 : 200)
    }
    #expect(count <= 15)
  }

  @Test func aSessionThatIsAlwaysTheSameIsCountedEachTime() throws {
    let driver = try ProfileDriver.of(
      """
      chunk: {mode: parallel, size: 2}
      steps:
        init: {method: POST, url: /i, extract: {session.id: {json: $.id, required: true}}}
        chunk: {method: PUT, url: /x, body: {kind: raw}, rules: [{if: {status: 404}, do: restart_session}]}
      """, 6)
    let count = requests(driver, most: 60) { _, line in
      line.hasPrefix("POST") ? .on(line, 200, #"{"id":"same"}"#) : .on(line, 404)
    }
    #expect(count <= 8)
  }
}
