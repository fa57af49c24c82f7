import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Servers that claim to have a chunk whose body was cut off, and files that are older than the upload.
@Suite struct ProfileCutOffTests {
  typealias Turn = ProfileDriver.Turn

  private let put = "PUT https://h.example/api/x"
  private let create = Turn.on("POST https://h.example/api/i", 200)

  // MARK: - Chunks

  private func driver(_ rule: String, _ chunk: String = "", _ url: String = "/x") throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      chunk: {size: 4\(chunk)}
      steps:
        init: {method: POST, url: /i}
        chunk: {method: PUT, url: "\(url)", body: {kind: raw}, rules: [\(rule)]}
      """, 6)
  }

  private func refusal(_ body: String = "") -> Turn {
    var turn = Turn.on(put, 409, body)
    turn.reply.isBodyIncomplete = true
    return turn
  }

  @Test func aChunkThatWasNotSentIsNotSkipped() throws {
    let skip = "{if: {status: 409}, do: skip_chunk}"
    let (stored, has) = (Turn.on(put, 200), Turn.on(put, 409))
    #expect(try driver(skip).run([create, .lost(put), has, stored]).isDone(), "an earlier request sent it")
    #expect(try driver(skip).run([create, refusal(), stored, stored]).isDone())
    #expect(try driver(skip).run([create, .cutOff(put), refusal(), has, stored]).isDone(), "only the last one did")
    let named = try driver(skip, ", hash: [md5]", "/x?md5={{chunk.md5}}")
    #expect(named.run([create, refusal(), stored]).isDone(), "its digest names it")
  }

  @Test func anOffsetBeyondWhatWasSentIsNotFollowed() throws {
    let set = "{if: {status: 409}, do: set_offset, set: {offset: {json: $.at}}}"
    let stored = Turn.on(put, 200)
    #expect(try driver(set).run([create, .lost(put), .on(put, 409, #"{"at":4}"#), stored]).isDone())
    #expect(try driver(set).run([create, refusal(#"{"at":4}"#), create, stored, stored]).isDone(), "it begins anew")
    #expect(try driver(set).run([create, refusal(#"{"at":2}"#), create, stored, stored]).isDone())
  }

  @Test func aLastChunkThatWasCutOffIsNotCommitted() throws {
    func driver() throws -> ProfileDriver {
      try ProfileDriver.of(
        """
        on_ambiguous_last: commit_anyway
        chunk: {idempotent: false}
        steps:
          chunk: {method: PUT, url: /x, body: {kind: raw}}
          commit: {method: POST, url: /s}
        """)
    }
    #expect(try driver().run([.lost(put), .on("POST https://h.example/api/s", 200)]).isDone())
    #expect(try driver().run([.cutOff(put)]).unknown?.code == .protoLostAnswer)
  }

  // MARK: - Older files

  private let noon = 1_700_000_000_000 as Int64

  private func found(modifiedMs: Int64) -> Turn {
    .on(
      "HEAD https://h.example/api/v", 200, "",
      [
        "Content-Length": "3", "Date": HTTPDate.text(wallMs: noon + 7_000_000),
        "Last-Modified": HTTPDate.text(wallMs: modifiedMs),
      ])
  }

  private func merging(_ method: String) throws -> ProfileDriver {
    try ProfileDriver.of(
      """
      steps:
        chunk: {method: PUT, url: /x, body: {kind: raw}}
        complete: {method: \(method), url: /c}
        verify:
          {in_doubt: true, method: HEAD, url: /v, success: {require: [{header: Content-Length, eq: "{{file.size}}"}]}}
      """)
  }

  /// The dates are compared with each other, whatever our clock shows.
  @Test func aFileThatIsOlderThanTheUploadIsNotOurs() throws {
    let (stored, merge) = (Turn.on(put, 200), "PUT https://h.example/api/c")
    let old = found(modifiedMs: noon + 7_000_000 - 60_000)
    #expect(try merging("PUT").run([stored, .lost(merge), old, .on(merge, 200)]).isDone())
    let new = found(modifiedMs: noon + 7_000_000 - 1_000)
    #expect(try merging("PUT").run([stored, .lost(merge), new]).isDone(.size))
    let post = "POST https://h.example/api/c"
    #expect(try merging("POST").run([stored, .lost(post), old]).unknown?.message.contains("last modified") == true)
    let kept = found(modifiedMs: 784_111_777_000)
    #expect(try merging("POST").run([stored, .lost(post), kept]).isDone(.size), "the time is that of the source")
  }
}
