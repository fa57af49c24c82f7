import Glibc
import Testing
import TransferModel

@testable import Receiver

@Suite struct UploadTests {
  @Test func storesUnderTheFinalNameAndSaysWhatItGot() throws {
    let receiver = try ReceiverFixture()
    let body = sample(300_000)
    let first = receiver.ask("PUT", "/a/b/c.bin", body)
    #expect(first?.status == 201)
    #expect(first?.fields["etag"] == "\"\(CRC32C.text(CRC32C.of(body)))-300000\"")
    #expect(first?.fields["repr-digest"] == "crc32c=:\(base64(CRC32C.bigEndianBytes(CRC32C.of(body)))):")
    #expect(receiver.content("a/b/c.bin") == body)
    #expect(receiver.ask("PUT", "/a/b/c.bin", [1])?.status == 204)
    #expect(receiver.content("a/b/c.bin") == [1])
    #expect(receiver.staged == [])
    #expect(receiver.ask("PUT", "/empty", [])?.status == 201)
    #expect(receiver.content("empty") == [])
  }

  @Test func keepsTheConnectionAlive() throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    for i in 0..<5 {
      client.send(ReceiverFixture.request("PUT", "/k\(i)", sample(i * 1000)))
      #expect(client.reply()?.status == 201)
    }
    #expect(Set(try receiver.events().dropFirst().map(\.connection)) == [1])
  }

  @Test func abortedBodyLeavesNothing() throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    client.send("PUT /x/a.bin HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n")
    client.send(sample(400))
    client.finishSending()
    #expect(client.rest() == [])
    #expect(receiver.content("x/a.bin") == nil)
    #expect(receiver.staged == [])
    #expect(try receiver.events().kinds == ["open", "start PUT", "bytes 0+400", "lost 0 disconnected"])
  }

  @Test func stoppingInTheMiddleLeavesNothing() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : body-hold=10,body")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(100)))
    #expect(try receiver.server.waitUntilHeld("body"))
    #expect(receiver.staged.count == 1)
    receiver.server.stop()
    #expect(client.reply() == nil)
    #expect(receiver.names() == [".transfers-receiver"])
    #expect(receiver.staged == [])
  }

  @Test func leftoversOfAKilledReceiverAreRemovedAndTheFolderIsOneReceiversOwn() throws {
    let receiver = try ReceiverFixture()
    let leftover = receiver.folder + "/.transfers-receiver/77.part"
    close(open(leftover, O_CREAT | O_WRONLY, 0o600))
    #expect(receiver.staged == ["77.part"])
    #expect { try ReceiverServer(ReceiverSettings(directory: receiver.folder)) } throws: {
      ($0 as? TransferError)?.kind == .locked
    }
    #expect(receiver.staged == ["77.part"])
    receiver.server.stop()
  }

  @Test func createOnlyNeverReplaces() throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", "/a", [1], fields: ["If-None-Match: *"])?.status == 201)
    #expect(receiver.ask("PUT", "/a", [2], fields: ["If-None-Match: *"])?.status == 412)
    #expect(receiver.content("a") == [1])
    #expect(receiver.staged == [])
    let etag = receiver.ask("HEAD", "/a")?.fields["etag"] ?? ""
    #expect(receiver.ask("PUT", "/a", [3], fields: ["If-Match: \"other\""])?.status == 412)
    #expect(receiver.ask("PUT", "/a", [3], fields: ["If-Match: \(etag)"])?.status == 204)
    #expect(receiver.content("a") == [3])
  }

  @Test func createOnlyIsDecidedWhenTheNameAppears() throws {
    let receiver = try ReceiverFixture(script: "match PUT /a nth=1 : body-hold=0,body")
    let slow = receiver.client()
    slow.send(ReceiverFixture.request("PUT", "/a", [1], fields: ["If-None-Match: *"]))
    #expect(try receiver.server.waitUntilHeld("body"))
    #expect(receiver.ask("PUT", "/a", [2])?.status == 201)
    receiver.server.release("body")
    #expect(slow.reply()?.status == 412)
    #expect(receiver.content("a") == [2])
  }

  @Test func takesChunkedBodies() throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    let head = "PUT /c HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
    client.send(head + "5;x=y\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nRepr-Digest: crc32c=:yZRlqg==:\r\n\r\n")
    #expect(client.reply()?.status == 201)
    #expect(receiver.content("c") == Array("hello world".utf8))
    client.send(head + "5\r\nhello\r\n0\r\nRepr-Digest: crc32c=:yZRlqg==:\r\n\r\n")
    #expect(client.reply()?.status == 400)
    client.send(head + "5\r\nhelloX\r\n0\r\n\r\n")
    #expect(client.reply()?.status == 400)
    #expect(receiver.content("c") == Array("hello world".utf8))
  }

  @Test func asksForTheBodyWhenTheClientWaits() throws {
    let receiver = try ReceiverFixture { $0.maxBody = 10 }
    let client = receiver.client()
    client.send("PUT /e HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    #expect(client.reply()?.status == 100)
    client.send("hi")
    #expect(client.reply()?.status == 201)
    client.send("PUT /e HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
    #expect(client.reply()?.status == 413)
    #expect(client.rest() == [])
    #expect(receiver.ask("PUT", "/e", [1], fields: ["Expect: wonders"])?.status == 417)
  }

  @Test func demandsALength() throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", "/a", nil)?.status == 411)
    #expect(receiver.names() == [".transfers-receiver"])
  }

  @Test(arguments: [
    ("Repr-Digest: crc32c=:yZRlqg==:", 201), ("Content-Digest: sha-256=:AAAA:, crc32c=:yZRlqg==:", 201),
    ("Content-Digest: sha-256=:AAAA:", 201), ("Repr-Digest: crc32c=:yZRlqw==:", 400),
    ("Content-Digest: crc32c=:yZRlqw==:", 400), ("Repr-Digest: crc32c=yZRlqg==", 400),
  ])
  func comparesTheDigestThatWasSent(field: String, status: Int) throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", "/d", Array("hello world".utf8), fields: [field])?.status == status)
    #expect((receiver.content("d") != nil) == (status == 201))
    #expect(receiver.staged == [])
  }

  @Test func everyPostMakesAnObject() throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("POST", "/in/", [1])?.fields["location"] == "/in/1")
    #expect(receiver.ask("POST", "/in", [1])?.fields["location"] == "/in/2")
    #expect(receiver.ask("POST", "/in/?x=1&name=a%20b", [1])?.fields["location"] == "/in/3-a%20b")
    #expect(receiver.ask("POST", "/in/?name=a%2fb", [1])?.status == 400)
    #expect(receiver.names("in") == ["1", "2", "3-a b"])
    #expect(try receiver.events().commits.map(\.path) == ["in/1", "in/2", "in/3-a b"])
  }

  @Test func discardingCountsAndStoresNothing() throws {
    let receiver = try ReceiverFixture { $0.discards = true }
    let body = sample(700_000)
    #expect(receiver.ask("PUT", "/a", body)?.status == 201)
    #expect(receiver.ask("PUT", "/a", body, fields: ["Repr-Digest: crc32c=:AAAAAA==:"])?.status == 400)
    #expect(receiver.ask("GET", "/a")?.status == 404)
    #expect(receiver.names() == [])
    #expect(try receiver.events().received == [.init(offset: 0, length: 700_000), .init(offset: 0, length: 700_000)])
    #expect(try receiver.events().commits.map(\.size) == [700_000])
    #expect(receiver.server.summary.bytesReceived == 1_400_000)
  }
}
