import Testing
import TransferModel

@testable import Receiver

/// Temporary objects that accept bytes by PATCH and become objects by MOVE.
@Suite struct DavPatchTests {
  private static let temporary = "/-/davpatch/in/.t"
  private static let object = "/-/davpatch/in/a%20b"
  private static let type = "Content-Type: application/x-sabredav-partialupdate"

  private func patch(
    _ receiver: ReceiverFixture, _ range: String, _ body: [UInt8], at path: String = temporary
  ) -> Int? {
    receiver.ask("PATCH", path, body, fields: [Self.type, "X-Update-Range: \(range)"])?.status
  }

  private func length(_ receiver: ReceiverFixture, _ path: String = temporary) -> Int? {
    let found = receiver.ask("HEAD", path)
    return found?.status == 200 ? found?.fields["content-length"].flatMap { Int($0) } : nil
  }

  private func move(_ receiver: ReceiverFixture, to path: String = object, _ fields: String...) -> Int? {
    receiver.ask("MOVE", Self.temporary, fields: ["Destination: http://test\(path)"] + fields)?.status
  }

  private func opened(_ script: String = "", _ change: (inout ReceiverSettings) -> Void = { _ in }) throws
    -> ReceiverFixture
  {
    let receiver = try ReceiverFixture(script: script, change)
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 201)
    return receiver
  }

  @Test func takesBytesAtTheirPlacesAndIsNoObjectBeforeItIsMoved() throws {
    let receiver = try opened()
    #expect(receiver.ask("OPTIONS", "/-/davpatch/in/")?.fields["dav"] == "1, sabredav-partialupdate")
    #expect(receiver.ask("OPTIONS", "/-/davpatch/in/")?.fields["allow"]?.contains("PATCH") == true)
    #expect(length(receiver) == 0)
    #expect(patch(receiver, "bytes=0-59", Array(sample(100)[..<60])) == 204)
    #expect(length(receiver) == 60)
    // Existing bytes are overwritten, and the body continues behind them.
    #expect(patch(receiver, "bytes=40-99", Array(sample(100)[40...])) == 204)
    #expect(length(receiver) == 100)
    #expect(receiver.content("in/.t") == nil && receiver.ask("GET", Self.object)?.status == 404)
    #expect(receiver.ask("GET", Self.temporary)?.status == 405)
    #expect(move(receiver, "Overwrite: F") == 201)
    #expect(receiver.content("in/a b") == sample(100))
    #expect(length(receiver) == nil && length(receiver, Self.object) == 100)
    let tag = receiver.ask("HEAD", Self.object)?.fields["etag"]
    #expect(tag == objectETag(crc32c: CRC32C.of(sample(100)), size: 100))
    #expect(receiver.staged == [])
    let events = try receiver.events().kinds.filter { $0.hasPrefix("bytes") || $0.hasPrefix("joined") }
    #expect(events == ["bytes 0+0", "bytes 0+60", "bytes 40+60", "joined -/davpatch/in/.t 0+100"])
  }

  /// HEAD shows the same tag and digest before the move as after it, in whatever order the bytes arrived.
  @Test func allFormsOfRanges() throws {
    let receiver = try opened()
    #expect(patch(receiver, "append", [1, 2, 3]) == 204)
    #expect(patch(receiver, "bytes=5-", [6, 7]) == 204)
    #expect(patch(receiver, "bytes=-1", [8]) == 204)
    #expect(patch(receiver, "BYTES=1-1", [9]) == 204)
    let content: [UInt8] = [1, 9, 3, 0, 0, 6, 8]
    #expect(length(receiver) == content.count)
    let tag = receiver.ask("HEAD", Self.temporary)?.fields["etag"]
    #expect(tag == objectETag(crc32c: CRC32C.of(content), size: 7))
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 204)
    #expect(length(receiver) == 0)
    #expect(patch(receiver, "bytes=0-6", content) == 204)
    #expect(move(receiver) == 201)
    #expect(receiver.content("in/a b") == content)
    #expect(receiver.ask("HEAD", Self.object)?.fields["etag"] == tag)
  }

  @Test(arguments: [
    ("", 400), ("bytes=", 400), ("bytes=-", 400), ("bytes=a-b", 400), ("bytes=0-1,2-3", 400), ("bytes=+0-4", 400),
    ("bytes=0-4-", 400), ("bytes=--5", 400), ("items=0-4", 400), ("append 5", 400), ("0-4", 400),
    ("bytes=4-0", 416), ("bytes=0-5", 416), ("bytes=0-3", 416), ("bytes=-1", 416),
    ("bytes=9223372036854775807-", 416), ("bytes=99999999999999999999999-", 416), ("bytes=999999999999999999-", 416),
    ("bytes=0-99999999999999999999999", 416), ("bytes=67108865-", 416),
  ])
  func wrongRangesChangeNothing(_ range: String, _ status: Int) throws {
    let receiver = try opened()
    #expect(patch(receiver, range, [1, 2, 3, 4, 5]) == status)
    #expect(length(receiver) == 0)
    #expect(receiver.stagedBytes == 0)
  }

  @Test func wrongBodiesChangeNothing() throws {
    let receiver = try opened { $0.maxBody = 10 }
    let range = "X-Update-Range: bytes=0-"
    #expect(receiver.ask("PATCH", Self.temporary, [1], fields: [Self.type])?.status == 400)
    #expect(receiver.ask("PATCH", Self.temporary, [1], fields: [range])?.status == 415)
    #expect(receiver.ask("PATCH", Self.temporary, [1], fields: [range, "Content-Type: text/plain"])?.status == 415)
    #expect(receiver.ask("PATCH", Self.temporary, [], fields: [range, Self.type])?.status == 411)
    #expect(receiver.ask("PATCH", Self.temporary, nil, fields: [range, Self.type])?.status == 411)
    let chunked = ["Transfer-Encoding: chunked", range, Self.type]
    #expect(receiver.ask("PATCH", Self.temporary, nil, fields: chunked)?.status == 411)
    #expect(patch(receiver, "bytes=0-", [UInt8](repeating: 1, count: 11)) == 413)
    #expect(patch(receiver, "bytes=6-", [UInt8](repeating: 1, count: 5)) == 413)
    let client = receiver.client()
    client.send(
      "PATCH \(Self.temporary) HTTP/1.1\r\nHost: test\r\n\(Self.type)\r\n\(range)\r\n"
        + "Content-Length: 9223372036854775807\r\n\r\n")
    #expect(client.reply()?.status == 413)
    #expect(length(receiver) == 0 && receiver.stagedBytes == 0)
  }

  @Test func keepsThePrefixOfABodyThatBreaksOff() throws {
    let receiver = try opened("match PATCH * nth=2 : cut-after=7")
    #expect(patch(receiver, "bytes=0-9", Array(sample(30)[..<10])) == 204)
    #expect(patch(receiver, "bytes=10-29", Array(sample(30)[10...])) == nil)
    #expect(length(receiver) == 17)
    #expect(try receiver.events().received.suffix(1) == [ByteRange(offset: 10, length: 7)])
    // The whole body again, over the bytes that were kept.
    #expect(patch(receiver, "bytes=10-29", Array(sample(30)[10...])) == 204)
    #expect(move(receiver) == 201)
    #expect(receiver.content("in/a b") == sample(30))
  }

  @Test func onlyTemporaryObjectsTakePatch() throws {
    let receiver = try opened()
    #expect(patch(receiver, "bytes=0-0", [1], at: Self.object) == 404)
    #expect(receiver.ask("PUT", Self.object, [1, 2])?.status == 201)
    #expect(patch(receiver, "bytes=0-0", [9], at: Self.object) == 403)
    // It is not temporary: the name was taken.
    #expect(receiver.ask("PUT", Self.object, [])?.status == 204)
    #expect(receiver.content("in/a b") == [])
    #expect(patch(receiver, "append", [9], at: Self.object) == 403)
    #expect(receiver.ask("PUT", Self.temporary, [1])?.status == 409)
    #expect(receiver.ask("PUT", Self.temporary, [], fields: ["If-None-Match: *"])?.status == 412)
    #expect(receiver.ask("PUT", Self.object, [], fields: ["If-None-Match: *"])?.status == 412)
    #expect(receiver.ask("POST", Self.temporary, [1])?.status == 405)
  }

  @Test func movesByTheRules() throws {
    let receiver = try opened()
    receiver.ask("PUT", Self.object, [1])
    #expect(move(receiver, "Overwrite: F") == 412)
    #expect(move(receiver, "Overwrite: maybe") == 400)
    #expect(move(receiver, "If-Match: \"other\"") == 412)
    #expect(receiver.content("in/a b") == [1])
    #expect(move(receiver, "If-Match: *") == 204)
    #expect(receiver.content("in/a b") == [])
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 201)
    #expect(receiver.ask("DELETE", Self.temporary)?.status == 204)
    #expect(receiver.ask("DELETE", Self.temporary)?.status == 404)
    #expect(receiver.staged == [])
  }

  /// As with sabre/dav 1.8.12.
  @Test func aRepeatedMoveLosesTheObject() throws {
    let receiver = try opened()
    #expect(move(receiver) == 201)
    #expect(move(receiver, "Overwrite: F") == 412)
    #expect(receiver.content("in/a b") == [])
    #expect(move(receiver, "If-Match: *") == 404)
    #expect(receiver.content("in/a b") == nil)
    #expect(try receiver.events().kinds.contains("delete"))
  }

  @Test(arguments: [
    "", "/elsewhere/a", "/-/tus/a", "/-/davpatch", "/-/davpatch/", "/-/davpatch/in/", "/-/davpatch/../a",
    "/-/davpatch/in/%2e%2e/a", "/-/davpatch/in%2fa", "/-/davpatch/a%00", "/-/davpatch/a%", "/-/davpatch//a",
    "/-/davpatch/-/a", "/-/davpatch/.transfers-receiver/1.part", "/-/davpatch/in/.t", "/-/davpatch/in/.u",
  ])
  func aMoveReachesObjectsOnly(_ destination: String) throws {
    let receiver = try opened()
    receiver.ask("PUT", "/-/davpatch/in/.u", [])
    let status = receiver.ask("MOVE", Self.temporary, fields: ["Destination: \(destination)"])?.status
    #expect(status == 400 || status == 403, "\(status ?? 0)")
    #expect(try receiver.events().commits.isEmpty)
    #expect(length(receiver) == 0 && length(receiver, "/-/davpatch/in/.u") == 0)
    #expect(receiver.names() == [".transfers-receiver"])
  }

  @Test(arguments: ["PUT", "HEAD", "PATCH", "MOVE", "DELETE", "MKCOL"])
  func pathsDoNotLeadOut(_ method: String) throws {
    let receiver = try ReceiverFixture()
    for path in ["../a", "%2e%2e/a", "a/../../b", "a%2Fb", "a%00b", "a%", ".transfers-receiver/1.part"] {
      let fields = [Self.type, "X-Update-Range: append", "Destination: /-/davpatch/ok"]
      let status = receiver.ask(method, "/-/davpatch/\(path)", method == "PUT" ? [] : nil, fields: fields)?.status
      #expect(status == 400 || status == 403, "\(path): \(status ?? 0)")
    }
    #expect(receiver.names() == [".transfers-receiver"] && receiver.staged == [])
  }

  @Test func makesCollections() throws {
    let receiver = try ReceiverFixture { $0.strictParents = true }
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 409)
    #expect(receiver.ask("MKCOL", "/-/")?.status == 405)
    #expect(receiver.ask("MKCOL", "/-/davpatch/")?.status == 405)
    #expect(receiver.ask("MKCOL", "/-/davpatch/in/deep/")?.status == 409)
    #expect(receiver.ask("MKCOL", "/-/davpatch/in/")?.status == 201)
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 201)
    #expect(move(receiver, to: "/-/davpatch/other/a") == 409)
    #expect(length(receiver) == 0, "a refused move ends nothing")
    #expect(move(receiver) == 201)
  }

  @Test func scriptedFaults() throws {
    let script = """
      match HEAD * nth=1 : forget-offset
      match HEAD * nth=2 : offset-past-end
      match HEAD * nth=3 : wrong-offset=3
      match HEAD * nth=4 : forget-session
      """
    let receiver = try opened(script)
    #expect(patch(receiver, "bytes=0-9", sample(10)) == 204)
    #expect(length(receiver) == 0)
    #expect(length(receiver) == 10 + 1 << 40)
    #expect(length(receiver) == 7)
    #expect(receiver.stagedBytes == 7)
    #expect(length(receiver) == nil)
    #expect(patch(receiver, "bytes=0-9", sample(10)) == 404)
    #expect(receiver.ask("PUT", Self.temporary, [])?.status == 201)
  }

  @Test func credentialsAndDiscardedBodies() throws {
    let receiver = try ReceiverFixture { ($0.bearerToken, $0.discards) = ("t", true) }
    let auth = "Authorization: Bearer t"
    for method in ["OPTIONS", "HEAD", "PATCH", "MOVE", "MKCOL"] {
      #expect(receiver.ask(method, Self.temporary)?.status == 401, "\(method)")
    }
    #expect(receiver.ask("PUT", Self.temporary, [], fields: [auth])?.status == 201)
    let fields = [auth, Self.type, "X-Update-Range: bytes=0-9"]
    #expect(receiver.ask("PATCH", Self.temporary, sample(10), fields: fields)?.status == 204)
    #expect(receiver.ask("HEAD", Self.temporary, fields: [auth])?.fields["content-length"] == "10")
    let moved = receiver.ask("MOVE", Self.temporary, fields: [auth, "Destination: \(Self.object)"])
    #expect(moved?.status == 201)
  }
}
