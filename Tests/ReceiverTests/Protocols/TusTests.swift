import Testing
import TransferModel

@testable import Receiver

/// The core protocol and the extensions of tus 1.0.0.
@Suite struct TusTests {
  @Test func uploadsInPiecesAndBecomesAnObjectWithTheLast() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let created = tus.create(100, name: "in/a.bin")
    #expect(created?.status == 201)
    #expect(created?.fields["location"]?.hasPrefix("http://test/-/tus/") == true)
    #expect(created?.fields["upload-offset"] == nil)
    #expect(created?.fields["upload-expires"]?.hasSuffix("GMT") == true)
    let path = TusClient.path(created?.fields["location"])
    let first = tus.patch(path, at: 0, Array(sample(100)[..<60]))
    #expect(first?.status == 204 && first?.fields["upload-offset"] == "60" && first?.fields["tus-resumable"] == "1.0.0")
    #expect(tus.head(path)?.fields["upload-length"] == "100")
    #expect(receiver.content("in/a.bin") == nil)
    #expect(tus.patch(path, at: 60, Array(sample(100)[60...]))?.fields["upload-offset"] == "100")
    #expect(receiver.content("in/a.bin") == sample(100))
    #expect(tus.offset(path) == 100)
    #expect(receiver.ask("GET", "/in/a.bin")?.body == sample(100))
    #expect(receiver.staged == [])
  }

  @Test func recordsOffsetsOfTheObject() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(30, name: "a")
    _ = tus.patch(path, at: 0, [UInt8](repeating: 1, count: 10))
    _ = tus.patch(path, at: 10, [UInt8](repeating: 2, count: 20))
    let events = try receiver.events().filter { $0.path == NameBytes("a") }
    #expect(
      events.kinds == [
        "session tus opened", "bytes 0+0", "answer 201", "bytes 0+10", "answer 204", "bytes 10+20", "commit 30",
        "session tus completed", "answer 204",
      ])
    let crc = CRC32C.of([UInt8](repeating: 1, count: 10) + [UInt8](repeating: 2, count: 20))
    #expect(events.contains { $0.kind == .commit(size: 30, crc32c: crc) })
    #expect(
      events.contains {
        $0.kind == .bytes(ByteRange(offset: 10, length: 20), crc32c: CRC32C.of([UInt8](repeating: 2, count: 20)))
      })
  }

  @Test func refusesWhatTheProtocolRefuses() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(10)
    #expect(tus.patch(path, at: 3, [1])?.status == 409)
    #expect(tus.patch(path, at: 0, [UInt8](repeating: 0, count: 11))?.status == 413)
    let type = ["Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Type: text/plain"]
    #expect(receiver.ask("PATCH", path, [1], fields: type)?.status == 415)
    #expect(receiver.ask("PATCH", path, [1], fields: ["Upload-Offset: 0"])?.fields["tus-version"] == "1.0.0")
    #expect(receiver.ask("HEAD", path)?.status == 412)
    #expect(tus.head("/-/tus/0123")?.status == 404)
    #expect(tus.head("/-/tus/0123")?.fields["upload-offset"] == nil)
    #expect(tus.create(nil)?.status == 400)
    #expect(tus.create(10, fields: ["Upload-Defer-Length: 1"])?.status == 400)
    #expect(tus.create(10, fields: ["Upload-Metadata: filename !"])?.status == 400)
    #expect(tus.create(10, name: "../a")?.status == 400)
    #expect(tus.create(10, name: "-/a")?.status == 403)
    #expect(tus.offset(path) == 0)
  }

  @Test func takesTheFirstBytesWithTheCreation() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let whole = tus.create(5, name: "a", [1, 2, 3, 4, 5], fields: [TusClient.type])
    #expect(whole?.status == 201 && whole?.fields["upload-offset"] == "5")
    #expect(receiver.content("a") == [1, 2, 3, 4, 5])
    #expect(tus.create(0, name: "empty")?.status == 201)
    #expect(receiver.content("empty") == [])
    let ignored = tus.create(5, name: "b", [1, 2], fields: ["Content-Type: application/octet-stream"])
    #expect(ignored?.status == 201 && ignored?.fields["upload-offset"] == nil)
    #expect(tus.offset(TusClient.path(ignored?.fields["location"])) == 0)
  }

  @Test func lengthCanBeDeferredOnce() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(nil, name: "a", fields: ["Upload-Defer-Length: 1"])
    #expect(tus.head(path)?.fields["upload-defer-length"] == "1")
    #expect(tus.patch(path, at: 0, [1, 2])?.status == 204)
    #expect(tus.patch(path, at: 2, [3], fields: ["Upload-Length: 4"])?.status == 204)
    #expect(tus.patch(path, at: 3, [4], fields: ["Upload-Length: 4"])?.status == 400)
    #expect(receiver.content("a") == nil)
    #expect(tus.patch(path, at: 3, [4])?.status == 204)
    #expect(receiver.content("a") == [1, 2, 3, 4])
  }

  @Test func checksTheChecksumAndKeepsNothingOfAWrongChunk() throws {
    let receiver = try ReceiverFixture(script: "match PATCH * nth=4 : cut-after=6")
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(11, name: "a")
    let hello = Array("hello world".utf8)
    let wrong = tus.patch(path, at: 0, hello, fields: ["Upload-Checksum: sha1 \(base64([1, 2, 3]))"])
    #expect(wrong?.status == 460)
    #expect(tus.patch(path, at: 0, hello, fields: ["Upload-Checksum: adler 1234"])?.status == 400)
    #expect(tus.offset(path) == 0)
    let sha1 = ["Upload-Checksum: sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="]
    let crc = base64(RunningHash.of(Array(hello[..<5]), .crc32))
    #expect(tus.patch(path, at: 0, Array(hello[..<5]), fields: ["Upload-Checksum: crc32 \(crc)"])?.status == 204)
    #expect(tus.patch(path, at: 5, Array(hello[5...]), fields: sha1) == nil)
    #expect(tus.offset(path) == 5)
    let rest = base64(RunningHash.of(Array(hello[5...]), .sha256))
    #expect(tus.patch(path, at: 5, Array(hello[5...]), fields: ["Upload-Checksum: sha256 \(rest)"])?.status == 204)
    #expect(receiver.content("a") == hello)
    let whole = tus.upload(11, name: "b")
    #expect(tus.patch(whole, at: 0, hello, fields: sha1)?.status == 204)
  }

  @Test func endsAndExpires() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(10)
    _ = tus.patch(path, at: 0, [1])
    #expect(receiver.staged.count == 1)
    #expect(tus.delete(path)?.status == 204)
    #expect(tus.head(path)?.status == 404)
    #expect(receiver.staged == [])
    let expired = TusClient(receiver: receiver, endpoint: "/-/tus/?max-age=0").upload(10)
    #expect(tus.head(expired)?.status == 410)
    #expect(tus.head(expired)?.status == 410)
    #expect(try receiver.events().kinds.count { $0 == "session tus expired" } == 1)
    #expect(receiver.staged == [])
    #expect(try receiver.events().kinds.contains("session tus aborted"))
  }

  @Test func concatenates() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let parts = (0..<3).map { _ in tus.upload(4, fields: ["Upload-Concat: partial"]) }
    for i in 0..<2 { #expect(tus.patch(parts[i], at: 0, [UInt8](repeating: UInt8(i), count: 4))?.status == 204) }
    let urls = "final;\(parts[0]) http://test\(parts[1]) \(parts[2])"
    #expect(tus.create(nil, name: "a", fields: ["Upload-Concat: \(urls)"])?.status == 400)
    #expect(tus.patch(parts[2], at: 0, [2, 2, 2, 2])?.status == 204)
    let final = tus.create(nil, name: "a", fields: ["Upload-Concat: \(urls)"])
    #expect(final?.status == 201)
    #expect(receiver.content("a") == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    let path = TusClient.path(final?.fields["location"])
    #expect(tus.head(path)?.fields["upload-concat"] == urls)
    #expect(tus.patch(path, at: 12, [1])?.status == 403)
    let kinds = try receiver.events().kinds
    #expect(kinds.contains("joined \(parts[1].dropFirst()) 4+4"))
    #expect(kinds.contains("commit 12"))
    let ranges = try receiver.events().receivedRanges(of: NameBytes("a")).filter { $0.length > 0 }
    #expect(ranges.map(\.offset) == [0, 4, 8])
  }

  @Test func offersWhatTheQuerySays() throws {
    let receiver = try ReceiverFixture()
    let all = receiver.ask("OPTIONS", "/-/tus/")
    #expect(all?.status == 204 && all?.fields["tus-checksum-algorithm"] == "crc32,md5,sha1,sha256")
    #expect(all?.fields["tus-extension"] == TusOptions.extensions.joined(separator: ","))
    #expect(all?.fields["tus-version"] == "1.0.0" && all?.fields["tus-max-size"] == nil)
    let few = receiver.ask("OPTIONS", "/-/tus/?ext=termination&max-size=9")
    #expect(few?.fields["tus-extension"] == "creation,termination" && few?.fields["tus-max-size"] == "9")
    let tus = TusClient(receiver: receiver, endpoint: "/-/tus/?ext=&max-size=9&loc=relative")
    #expect(tus.create(10)?.status == 413)
    #expect(tus.create(nil, fields: ["Upload-Defer-Length: 1"])?.status == 501)
    #expect(tus.create(1, fields: ["Upload-Concat: partial"])?.status == 400)
    let made = tus.create(9, [1], fields: [TusClient.type])
    #expect(made?.fields["location"]?.hasPrefix("/-/tus/") == true)
    #expect(made?.fields["upload-offset"] == nil && made?.fields["upload-expires"] == nil)
    #expect(tus.delete(made?.fields["location"] ?? "")?.status == 405)
  }

  @Test func methodsCanBeOverridden() throws {
    let receiver = try ReceiverFixture()
    let tus = TusClient(receiver: receiver)
    let path = tus.upload(1, name: "a")
    let fields = ["Tus-Resumable: 1.0.0", TusClient.type, "Upload-Offset: 0", "X-HTTP-Method-Override: PATCH"]
    #expect(receiver.ask("POST", path, [7], fields: fields)?.status == 204)
    #expect(receiver.content("a") == [7])
  }
}
