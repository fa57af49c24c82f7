import Testing
import TransferModel

@testable import Receiver

@Suite struct ConnectionTests {
  @Test(arguments: [
    ("GARBAGE\r\n\r\n", 400), ("PUT /a HTTP/2.0\r\nHost: t\r\n\r\n", 505), ("PUT /a HTTP/1.1\r\n\r\n", 400),
    ("P(T /a HTTP/1.1\r\nHost: t\r\n\r\n", 400), ("PUT /a HTTP/1.1\r\nHost : t\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\n folded\r\n\r\n", 400), ("PUT /a\tb HTTP/1.1\r\nHost: t\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: +1\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ("PUT /a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
    ("PATCH /a HTTP/1.1\r\nHost: t\r\n\r\n", 405), ("OPTIONS /a HTTP/1.1\r\nHost: t\r\n\r\n", 204),
    ("PUT http://t/abs HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n", 201),
    ("PUT /a HTTP/1.0\r\nContent-Length: 0\r\n\r\n", 201),
  ])
  func judgesTheRequestHead(request: String, status: Int) throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    client.send(request)
    #expect(client.reply()?.status == status)
  }

  @Test func limitsTheHead() throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    client.send("PUT /a HTTP/1.1\r\nHost: t\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n")
    #expect(client.reply()?.status == 431)
    let fits = receiver.client()
    fits.send("GET /a HTTP/1.1\r\nHost: t\r\nX: \(String(repeating: "x", count: 60_000))\r\n\r\n")
    #expect(fits.reply()?.status == 404)
  }

  @Test func endsSlowAndSilentClients() throws {
    let receiver = try ReceiverFixture { $0.timeoutMs = 100 }
    let slow = receiver.client()
    slow.send("PUT /a HT")
    #expect(slow.reply()?.status == 408)
    let stuck = receiver.client()
    stuck.send("PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc")
    #expect(stuck.reply()?.status == 408)
    #expect(receiver.staged == [])
    let idle = receiver.client()
    #expect(idle.rest() == [])
    #expect(idle.ending == .closed)
  }

  @Test func aHeadMustBeCompleteInTimeEvenWhenItsBytesKeepComing() throws {
    let receiver = try ReceiverFixture { $0.timeoutMs = 200 }
    let client = RawClient(port: receiver.server.port, receiveTimeoutMs: 50)
    client.send("GET /a HTTP/1.1\r\n")
    var reply: RawClient.Reply?
    for _ in 0..<100 where reply == nil {
      client.send("X: y\r\n")
      reply = client.reply()
    }
    #expect(reply?.status == 408)
  }

  @Test func limitsConnections() throws {
    let receiver = try ReceiverFixture { $0.maxConnections = 2 }
    let kept = [receiver.client(), receiver.client()]
    for client in kept {
      client.send(ReceiverFixture.request("PUT", "/a", [1]))
      #expect(client.reply() != nil)
    }
    #expect(receiver.client().reply()?.status == 503)
    for client in kept {
      client.send(ReceiverFixture.request("PUT", "/a", [1]))
      #expect(client.reply()?.status == 204)
    }
  }

  @Test func demandsACredential() throws {
    let receiver = try ReceiverFixture {
      $0.basicCredential = "me:secret"
      $0.bearerToken = "token"
    }
    let refused = receiver.ask("PUT", "/a", [1])
    #expect(refused?.status == 401)
    #expect(refused?.fields["www-authenticate"]?.hasPrefix("Basic") == true)
    let wrong = "Basic \(base64(Array("me:secreT".utf8)))"
    #expect(receiver.ask("PUT", "/a", [1], fields: ["Authorization: \(wrong)"])?.status == 401)
    #expect(receiver.content("a") == nil)
    let basic = "Basic \(base64(Array("me:secret".utf8)))"
    #expect(receiver.ask("PUT", "/a", [1], fields: ["Authorization: \(basic)"])?.status == 201)
    #expect(receiver.ask("PUT", "/a", [1], fields: ["Authorization: Bearer token"])?.status == 204)
  }

  @Test func refusedBodiesDoNotSpoilTheConnection() throws {
    let receiver = try ReceiverFixture { $0.maxBody = 100 }
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(50_000)))
    #expect(client.reply()?.status == 413)
    client.send(ReceiverFixture.request("PUT", "/a", sample(100)))
    #expect(client.reply()?.status == 201)
    client.send(
      "PUT /a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n60\r\n\(String(repeating: "x", count: 96))\r\n60\r\n"
    )
    #expect(client.reply()?.status == 413)
    #expect(receiver.content("a") == sample(100))
  }

  @Test func stopEndsIdleConnectionsAndCanBeRepeated() throws {
    let receiver = try ReceiverFixture()
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", [1]))
    #expect(client.reply()?.status == 201)
    receiver.server.stop()
    receiver.server.stop()
    #expect(client.rest() == [])
    #expect(receiver.server.summary.objects == 1)
  }

  @Test func listensOnIPv6AndRefusesNames() throws {
    var settings = ReceiverSettings(directory: "")
    settings.discards = true
    settings.host = "::1"
    let server = try ReceiverServer(settings)
    #expect(server.url == "http://[::1]:\(server.port)")
    settings.host = "localhost"
    #expect { try ReceiverServer(settings) } throws: { ($0 as? TransferError)?.kind == .usage }
    settings.host = "::1"
    settings.port = server.port
    #expect { try ReceiverServer(settings) } throws: { ($0 as? TransferError)?.kind == .config }
  }
}
