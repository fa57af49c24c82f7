import Glibc
import Receiver
import Testing
import TransferModel

/// Requests that wait until a test releases them.
@Suite(.timeLimit(.minutes(1))) struct HoldTests {
  @Test(arguments: [
    ("hold=h", ["open", "start PUT", "fault 1 hold=h"], nil),
    ("body-hold=400,h", ["open", "start PUT", "fault 1 body-hold=400,h"], nil),
    ("body-hold=5000,h", ["open", "start PUT", "fault 1 body-hold=5000,h"], nil),
    (
      "late-hold=h", ["open", "start PUT", "fault 1 late-hold=h", "bytes 0+1000", "commit 1000"], sample(1000)
    ),
  ])
  func aRequestIsHeldUntilItIsReleased(action: String, before: [String], stored: [UInt8]?) throws {
    let receiver = try ReceiverFixture(script: "match PUT * : \(action)")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(1000)))
    #expect(try receiver.server.waitUntilHeld("h"))
    #expect(try receiver.events().kinds == before)
    #expect(receiver.content("a") == stored)
    receiver.server.release("h")
    #expect(client.reply()?.status == 201)
    #expect(receiver.content("a") == sample(1000))
    #expect(receiver.ask("PUT", "/b", [1])?.status == 201, "a released hold does not hold requests")
    #expect(try !receiver.server.waitUntilHeld("h"))
  }

  @Test func theBodyOfADownloadIsHeld() throws {
    let receiver = try ReceiverFixture(script: "match GET * : body-hold=400,h")
    receiver.ask("PUT", "/a", sample(1000))
    let client = receiver.client()
    client.send(ReceiverFixture.request("GET", "/a", nil))
    #expect(try receiver.server.waitUntilHeld("h"))
    receiver.server.release("h")
    #expect(client.reply()?.body == sample(1000))
  }

  @Test func severalAreAwaitedAndReleasedTogether() throws {
    let receiver = try ReceiverFixture(script: "match PUT /a* : hold=h\nmatch PUT * : hold=other")
    let clients = (0..<3).map { _ in receiver.client() }
    let isHeld = Mailbox<Bool>()
    let waiting = WorkerThread { [server = receiver.server] in
      isHeld.put((try? server.waitUntilHeld("h", count: 3)) ?? false)
    }
    for (n, client) in clients.enumerated() {
      #expect(isHeld.take(timeoutMs: 0) == [])
      client.send(ReceiverFixture.request("PUT", "/a\(n)", [1]))
      #expect(try receiver.server.waitUntilHeld("h", count: n + 1))
    }
    #expect(isHeld.take() == [true])
    waiting.join()
    #expect(try !receiver.server.waitUntilHeld("other", timeoutMs: 0))
    receiver.server.release("h")
    for client in clients { #expect(client.reply()?.status == 201) }
  }

  @Test(arguments: ["hold=h", "body-hold=400,h", "late-hold=h"])
  func aHeldRequestEndsWithItsConnection(action: String) throws {
    let receiver = try ReceiverFixture(script: "match PUT /a : \(action)")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", sample(1000)))
    #expect(try receiver.server.waitUntilHeld("h"))
    client.finishSending()
    #expect(client.rest() == [])
    #expect(try receiver.events().kinds.last == "lost 0 disconnected")
    #expect(receiver.staged == [])
    #expect(try !receiver.server.waitUntilHeld("h", timeoutMs: 0))
  }

  @Test func stoppingEndsWhatIsHeldAndWhoWaits() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : hold=h")
    let client = receiver.client()
    client.send(ReceiverFixture.request("PUT", "/a", [1]))
    #expect(try receiver.server.waitUntilHeld("h"))
    let waiting = receiver.client()
    waiting.send(ReceiverFixture.request("GET", "/-/holds/h?count=2", nil))
    receiver.server.stop()
    #expect(client.rest() == [])
    #expect(try !receiver.server.waitUntilHeld("h", count: 2))
  }

  // MARK: - From another process

  @Test func holdsAreAwaitedAndReleasedOverHTTP() throws {
    let receiver = try ReceiverFixture(script: "match PUT * : hold=h\nmatch * * : status=500") {
      $0.bearerToken = "token"
    }
    let client = receiver.client()
    let waiting = receiver.client()
    waiting.send(ReceiverFixture.request("GET", "/-/holds/h", nil))
    client.send(ReceiverFixture.request("PUT", "/a", [1], fields: ["Authorization: Bearer token"]))
    #expect(waiting.reply()?.status == 200)
    let more = receiver.client()
    more.send(ReceiverFixture.request("GET", "/-/holds/h?count=2", nil))
    #expect(receiver.ask("DELETE", "/-/holds/h")?.status == 204)
    #expect(more.reply()?.status == 410)
    #expect(client.reply()?.status == 201)
    #expect(receiver.ask("GET", "/-/holds/h")?.status == 410)
    #expect(receiver.ask("GET", "/-/holds/other")?.status == 404)
    #expect(receiver.ask("PUT", "/-/holds/h", [])?.status == 405)
    #expect(receiver.ask("GET", "/-/holds/h?count=x")?.status == 400)
    #expect(try receiver.events().kinds.contains { $0.hasPrefix("start GET") } == false, "not part of the test")
    #expect(receiver.server.summary.requests == 1)
  }
}
