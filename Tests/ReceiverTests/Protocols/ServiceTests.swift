import Testing
import TransferModel

@testable import Receiver

/// The services whose sessions are appended to: Microsoft Graph, Dropbox, Google.
@Suite struct ServiceTests {
  private func json(_ reply: RawClient.Reply?) -> JSON? { JSON(reply?.body ?? []) }

  private static let unit = 320 << 10

  private func graph(_ receiver: ReceiverFixture, _ name: String, _ conflict: String = "replace") -> String {
    let item: JSON = ["item": ["@microsoft.graph.conflictBehavior": .text(conflict)]]
    let opened = receiver.ask("POST", "/-/graph/drives/d/items/root:/\(name):/createUploadSession", item.bytes)
    return TusClient.path(json(opened)?["uploadUrl"]?.text)
  }

  private func put(
    _ receiver: ReceiverFixture, _ url: String, _ bytes: ArraySlice<UInt8>, of total: Int, _ more: [String] = []
  )
    -> RawClient.Reply?
  {
    let range = "Content-Range: bytes \(bytes.startIndex)-\(bytes.endIndex - 1)/\(total)"
    return receiver.ask("PUT", url, Array(bytes), fields: [range] + more)
  }

  @Test func graphTakesFragmentsInOrder() throws {
    let receiver = try ReceiverFixture(script: "match PUT * nth=5 : cut-after=1000")
    let url = graph(receiver, "in/a%20b.bin")
    let bytes = sample(Self.unit * 2 + 5)
    #expect(put(receiver, url, bytes[..<Self.unit], of: bytes.count, ["Authorization: Bearer x"])?.status == 401)
    #expect(put(receiver, url, bytes[..<(Self.unit - 1)], of: bytes.count)?.status == 400)
    let first = put(receiver, url, bytes[..<Self.unit], of: bytes.count)
    #expect(first?.status == 202 && json(first)?["nextExpectedRanges"]?.array == [.text("\(Self.unit)-")])
    #expect(put(receiver, url, bytes[..<Self.unit], of: bytes.count)?.status == 416)
    #expect(put(receiver, url, bytes[Self.unit..<(2 * Self.unit)], of: bytes.count) == nil)
    #expect(json(receiver.ask("GET", url))?["nextExpectedRanges"]?.array == [.text("\(Self.unit)-")])
    let last = put(receiver, url, bytes[Self.unit...], of: bytes.count)
    #expect(last?.status == 201 && json(last)?["name"]?.text == "a b.bin")
    #expect(receiver.content("in/a b.bin") == bytes)
    #expect(receiver.ask("GET", url)?.status == 404)
  }

  @Test func graphResolvesConflictsAndCancels() throws {
    let receiver = try ReceiverFixture()
    for (conflict, status) in [("replace", 201), ("replace", 200), ("fail", 409), ("rename", 201)] {
      #expect(put(receiver, graph(receiver, "a.txt", conflict), [7, 8], of: 2)?.status == status)
    }
    #expect(receiver.content("a 1.txt") == [7, 8])
    let url = graph(receiver, "b")
    #expect(receiver.ask("DELETE", url)?.status == 204)
    #expect(receiver.ask("GET", url)?.status == 404)
    #expect(receiver.ask("POST", "/-/graph/drives/d/items/root:/..:/createUploadSession", [])?.status == 400)
  }

  private func dropbox(_ receiver: ReceiverFixture, _ call: String, _ argument: JSON, _ body: [UInt8] = [])
    -> RawClient.Reply?
  {
    let fields = [
      "Content-Type: application/octet-stream", "Dropbox-API-Arg: \(String(decoding: argument.bytes, as: UTF8.self))",
    ]
    return receiver.ask("POST", "/-/dropbox/2/files/upload_session/\(call)", body, fields: fields)
  }

  @Test func dropboxComparesTheOffset() throws {
    let receiver = try ReceiverFixture()
    let id = json(dropbox(receiver, "start", ["close": .bool(false)], [1, 2]))?["session_id"] ?? .null
    func cursor(_ offset: Int64) -> JSON { ["session_id": id, "offset": .number(offset)] }
    let wrong = dropbox(receiver, "append_v2", ["cursor": cursor(5)], [3])
    #expect(wrong?.status == 409)
    #expect(json(wrong)?["error"] == [".tag": "incorrect_offset", "correct_offset": 2])
    let appended = dropbox(receiver, "append_v2", ["cursor": cursor(2), "close": .bool(true)], [3])
    #expect(appended?.status == 200 && appended?.body == Array("null".utf8))
    #expect(json(dropbox(receiver, "append_v2", ["cursor": cursor(3)], [3]))?["error"]?[".tag"] == "closed")
    let commit: JSON = ["path": "/in/a", "mode": "add"]
    let lost = json(dropbox(receiver, "finish", ["cursor": cursor(1), "commit": commit]))?["error"]
    #expect(lost?["lookup_failed"]?["correct_offset"]?.number == 3)
    #expect(dropbox(receiver, "finish", ["cursor": cursor(3), "commit": commit])?.status == 200)
    #expect(receiver.content("in/a") == [1, 2, 3])
    #expect(try receiver.events().kinds.contains { $0.hasPrefix("joined -/dropbox/") && $0.hasSuffix(" 0+3") })
    let gone = json(dropbox(receiver, "append_v2", ["cursor": cursor(3)], []))
    #expect(gone?["error"]?[".tag"] == "not_found" && gone?["error_summary"]?.text == "not_found/..")
    let other = json(dropbox(receiver, "start", [:], [9]))?["session_id"] ?? .null
    let again: JSON = ["cursor": ["session_id": other, "offset": 1], "commit": commit]
    #expect(json(dropbox(receiver, "finish", again))?["error"]?["path"]?[".tag"] == "conflict")
    #expect(receiver.ask("POST", "/-/dropbox/2/files/upload_session/start", [])?.status == 400)
  }

  @Test func googleTellsTheRangeThatIsThere() throws {
    let unit = 256 << 10
    let receiver = try ReceiverFixture(script: "match PUT * nth=3 : cut-after=300000")
    let bytes = sample(unit * 3 + 10)
    let opened = receiver.ask(
      "POST", "/-/google/upload/in/g.bin", [], fields: ["X-Upload-Content-Length: \(bytes.count)"])
    let url = TusClient.path(opened?.fields["location"])
    func ask() -> RawClient.Reply? { receiver.ask("PUT", url, [], fields: ["Content-Range: bytes */\(bytes.count)"]) }
    #expect(ask()?.status == 308)
    #expect(put(receiver, url, bytes[..<(unit + 1)], of: bytes.count)?.status == 400)
    #expect(put(receiver, url, bytes[..<(2 * unit)], of: bytes.count) == nil)
    #expect(ask()?.fields["range"] == "bytes=0-\(unit - 1)")
    #expect(put(receiver, url, bytes[(2 * unit)...], of: bytes.count)?.status == 400)
    // Stored bytes are sent again and skipped.
    #expect(put(receiver, url, bytes[..<(2 * unit)], of: bytes.count)?.fields["range"] == "bytes=0-\(2 * unit - 1)")
    let last = put(receiver, url, bytes[(2 * unit)...], of: bytes.count)
    #expect(last?.status == 200 && json(last)?["size"]?.text == String(bytes.count))
    #expect(json(last)?["crc32c"]?.text == base64(CRC32C.bigEndianBytes(CRC32C.of(bytes))))
    #expect(receiver.content("in/g.bin") == bytes)
    #expect(json(ask()) == json(last))
  }

  @Test func googleTakesWholeAndEmptyObjectsAndEnds() throws {
    let receiver = try ReceiverFixture()
    func open(_ name: String) -> String {
      TusClient.path(receiver.ask("POST", "/-/google/upload?name=\(name)", [])?.fields["location"])
    }
    #expect(receiver.ask("PUT", open("a%2Fb"), [1, 2])?.status == 200)
    #expect(receiver.content("a/b") == [1, 2])
    #expect(receiver.ask("PUT", open("e"), [], fields: ["Content-Range: bytes */0"])?.status == 200)
    #expect(receiver.content("e") == [])
    let url = open("c")
    let quiet = receiver.ask("PUT", url, [], fields: ["Content-Range: bytes */*", "X-GUploader-No-308: yes"])
    #expect(quiet?.status == 200 && quiet?.fields["x-http-status-code-override"] == "308")
    #expect(receiver.ask("DELETE", url)?.status == 499)
    #expect(receiver.ask("PUT", url, [1])?.status == 404)
  }

  @Test func readsContentRange() {
    let whole = ContentRange("bytes 0-9/10")
    #expect(whole?.range == ByteRange(offset: 0, length: 10) && whole?.total == 10)
    let open = ContentRange("bytes 5-9/*")
    #expect(open?.range == ByteRange(offset: 5, length: 5) && open?.total == nil)
    #expect(ContentRange("bytes */7")?.total == 7 && ContentRange("bytes */7")?.range == nil)
    #expect(ContentRange("bytes */*") != nil)
    for wrong in ["bytes 0-10/10", "bytes 5-4/10", "bytes 0-9", "bytes -1-2/5", "items 0-1/2", "bytes 1-2-3/5"] {
      #expect(ContentRange(wrong) == nil, "\(wrong)")
    }
  }
}
