import Testing
import TransferModel

@testable import Receiver

/// How a script changes the answers to GET and HEAD.
@Suite struct DownloadFaultTests {
  private static let range = "Range: bytes=100-299"

  private func stored(_ script: String, _ count: Int = 1000) throws -> (ReceiverFixture, etag: String) {
    let receiver = try ReceiverFixture(script: script)
    return (receiver, receiver.ask("PUT", "/a", sample(count))?.fields["etag"] ?? "")
  }

  @Test func anotherVersionIsAsLongAndSaysSo() throws {
    let (receiver, etag) = try stored("match * /a nth=3 times=3 : version=7\nmatch GET /a nth=6 : version=8")
    let before = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(before?.status == 206 && before?.fields["etag"] == etag)
    let other = sample(1000).map { $0 ^ 7 }
    let after = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(after?.body == Array(other[100..<300]) && after?.fields["content-range"] == "bytes 100-299/1000")
    #expect(after?.fields["etag"] == objectETag(crc32c: CRC32C.of(other), size: 1000))
    #expect(after?.fields["repr-digest"] == reprDigest(CRC32C.of(other)))
    #expect(after?.fields["last-modified"] != before?.fields["last-modified"])
    let guarded = receiver.ask("GET", "/a", fields: [Self.range, "If-Range: \(etag)"])
    #expect(guarded?.status == 200 && guarded?.body == other)
    #expect(receiver.ask("GET", "/a", fields: [Self.range, "If-Match: \(etag)"])?.status == 412)
    #expect(receiver.ask("GET", "/a")?.body == sample(1000))
    let third = receiver.ask("GET", "/a")
    #expect(third?.body == sample(1000).map { $0 ^ 8 } && third?.fields["etag"] != after?.fields["etag"])
    #expect(receiver.content("a") == sample(1000))
  }

  @Test func oneByteMayBeWrong() throws {
    let (receiver, etag) = try stored("match GET * : wrong-byte=150")
    var wrong = sample(1000)
    wrong[150] ^= 0xFF
    #expect(receiver.ask("GET", "/a")?.body == wrong)
    let part = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(part?.body == Array(wrong[100..<300]) && part?.fields["etag"] == etag)
    #expect(receiver.ask("GET", "/a", fields: ["Range: bytes=0-149"])?.body == Array(wrong[..<150]))
  }

  @Test func aRangeMayBeIgnored() throws {
    let (receiver, etag) = try stored("match GET * nth=1 : ignore-range")
    let got = receiver.ask("GET", "/a", fields: [Self.range, "If-Range: \(etag)"])
    #expect(got?.status == 200 && got?.body == sample(1000) && got?.fields["content-range"] == nil)
    #expect(receiver.ask("GET", "/a", fields: [Self.range])?.status == 206)
  }

  @Test func theContentRangeMayBeAnother() throws {
    let (receiver, _) = try stored("match GET * : content-range=\"bytes 0-199/1000\"")
    let got = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(got?.status == 206 && got?.fields["content-range"] == "bytes 0-199/1000")
    #expect(got?.body == Array(sample(1000)[100..<300]))
    #expect(receiver.ask("GET", "/a")?.fields["content-range"] == nil)
  }

  @Test func aRangeMayBeginEarlier() throws {
    let (receiver, _) = try stored("match GET * : earlier=60")
    let got = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(got?.status == 206 && got?.fields["content-range"] == "bytes 40-299/1000")
    #expect(got?.body == Array(sample(1000)[40..<300]))
    #expect(receiver.ask("GET", "/a", fields: ["Range: bytes=10-19"])?.fields["content-range"] == "bytes 0-19/1000")
    #expect(receiver.ask("GET", "/a")?.body == sample(1000))
  }

  @Test func aFieldMayBeAnother() throws {
    let (receiver, _) = try stored(
      "match GET * nth=1 : field=\"Content-Type: text/html\"\nmatch GET * : field=\"Date: never\"")
    #expect(receiver.ask("GET", "/a")?.fields["content-type"] == "text/html")
    let head = raw(receiver, "/a", fields: ["Connection: close"]).head
    #expect(head.contains("date: never\r\n") && head.ranges(of: "date: ").count == 1)
  }

  @Test func aWeakETagGuardsNothing() throws {
    let (receiver, etag) = try stored("match * /a nth=2 times=99 : weak-etag")
    #expect(receiver.ask("HEAD", "/a")?.fields["etag"] == "W/\(etag)")
    for tag in [etag, "W/\(etag)"] {
      #expect(receiver.ask("GET", "/a", fields: [Self.range, "If-Range: \(tag)"])?.status == 200)
      #expect(receiver.ask("GET", "/a", fields: [Self.range, "If-Match: \(tag)"])?.status == 412)
      #expect(receiver.ask("GET", "/a", fields: ["If-None-Match: \(tag)"])?.status == 304)
    }
    #expect(receiver.ask("GET", "/a", fields: [Self.range, "If-Match: *"])?.status == 206)
  }

  @Test func fieldsMayBeMissing() throws {
    let (receiver, _) = try stored("match GET * : omit=ETag,content-range,Last-Modified,Accept-Ranges")
    let got = receiver.ask("GET", "/a", fields: [Self.range])
    #expect(got?.status == 206 && got?.body.count == 200 && got?.fields["repr-digest"] != nil)
    for name in ["etag", "content-range", "last-modified", "accept-ranges"] { #expect(got?.fields[name] == nil) }
    #expect(receiver.ask("HEAD", "/a")?.fields["etag"] != nil)
  }

  /// Head and body as they arrived, on a connection that the server closes.
  private func raw(_ receiver: ReceiverFixture, _ path: String, fields: [String] = []) -> (head: String, body: [UInt8])
  {
    let client = receiver.client()
    client.send(ReceiverFixture.request("GET", path, nil, fields: fields))
    let bytes = client.rest()
    #expect(client.ending == .closed)
    let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
    return (String(decoding: bytes[..<end], as: UTF8.self).lowercased(), Array(bytes[end...]))
  }

  @Test func withoutALengthTheConnectionEndsTheBody() throws {
    let (receiver, _) = try stored("match GET * : no-length")
    for (field, body) in [("", sample(1000)), (Self.range, Array(sample(1000)[100..<300]))] {
      let got = raw(receiver, "/a", fields: field.isEmpty ? [] : [field])
      #expect(got.body == body && got.head.contains("connection: close"))
      #expect(!got.head.contains("content-length") && !got.head.contains("transfer-encoding"))
    }
    #expect(raw(receiver, "/none").body.starts(with: Array("open object".utf8)))
    #expect(receiver.ask("GET", "/a", fields: ["If-None-Match: *"])?.status == 304)
  }

  @Test func chunksAreOfOneBufferEach() throws {
    let (receiver, _) = try stored("match GET * : chunked", 600_000)
    let got = raw(receiver, "/a", fields: ["Connection: close"])
    #expect(got.head.contains("transfer-encoding: chunked") && !got.head.contains("content-length"))
    let body = sample(600_000)
    let chunks = [body[..<262_144], body[262_144..<524_288], body[524_288...]].map(chunk)
    #expect(got.body == chunks.joined() + Array("0\r\n\r\n".utf8))
    let error = raw(receiver, "/none", fields: ["Connection: close"]).body
    #expect(error == chunk(Array("open object: nothing is stored there\n".utf8)[...]) + Array("0\r\n\r\n".utf8))
  }

  private func chunk(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  /// HTTP/1.0 has no chunks.
  @Test func chunksNeedTheirVersion() throws {
    let (receiver, _) = try stored("match GET * : chunked")
    let client = receiver.client()
    client.send("GET /a HTTP/1.0\r\n\r\n")
    let bytes = client.rest()
    #expect(bytes.suffix(1000) == sample(1000)[...] && !String(decoding: bytes, as: UTF8.self).contains("chunked"))
  }

  @Test func aChunkMayBeCut() throws {
    let (receiver, _) = try stored(
      "match GET * nth=1 : chunked cut-after=300000\nmatch GET * : chunked truncate-answer", 600_000)
    let body = sample(600_000)
    let before = chunk(body[..<262_144]) + Array("40000\r\n".utf8)
    #expect(raw(receiver, "/a").body == before + body[262_144..<300_000])
    // Half of the body, and no last chunk behind it.
    #expect(raw(receiver, "/a").body == chunk(body[..<262_144]) + chunk(body[262_144..<300_000]))
  }

  @Test func theDigestMayBeThatOfOtherBytes() throws {
    let (receiver, _) = try stored("match GET * : wrong-digest")
    let got = receiver.ask("GET", "/a")
    #expect(got?.body == sample(1000) && got?.fields["repr-digest"] == reprDigest(~CRC32C.of(sample(1000))))
  }

  @Test(arguments: ["slow=100000", "stall=500,0.3"]) func aDownloadMayBeSlow(_ action: String) throws {
    let (receiver, _) = try stored("match GET * : \(action)", 40_000)
    let began = monotonicNanoseconds()
    #expect(receiver.ask("GET", "/a")?.body == sample(40_000))
    #expect(monotonicNanoseconds() - began > 250_000_000)
  }
}
