import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// Whatever a request is doing when it is cancelled, exactly one reply comes, at once, marked as cancelled.
@Suite(.timeLimit(.minutes(1))) struct CancelTests {
  /// Also checks that nothing follows: once the transport has stopped, nothing is left that could reply.
  private func cancelled(
    _ transport: CurlTransport, _ id: ExchangeID, _ replies: Mailbox<TransferReply>
  ) throws -> TransferReply {
    transport.cancel(id)
    let reply = try #require(replies.take(timeoutMs: 20_000)?.first)
    transport.cancel(id)
    transport.stop()
    #expect(replies.take(timeoutMs: 0)?.isEmpty == true)
    #expect(reply.isCancelled && reply.status == 0 && reply.curlCode == 42)
    #expect(reply.transportFailure?.code == .policyCancelled)
    return reply
  }

  @Test func whileConnecting() throws {
    let deaf = DeafPort()
    let transport = loadedTransport(CurlConfiguration(userAgent: agent))
    let id = newID()
    let replies = transport.begin(TransferRequest(method: .get, url: "http://127.0.0.1:\(deaf.port)/"), id: id)
    let reply = try cancelled(transport, id, replies)
    #expect(!reply.requestMayHaveArrived)
  }

  @Test func whileSending() async throws {
    let isReading = Mailbox<Bool>()
    try await withServer({ connection in
      guard connection.readBody(200_000) != nil else { return }
      isReading.put(true)
      connection.waitForClose()
    }) { server, transport in
      let id = newID()
      let body = RequestBody.source(PatternBody(1 << 40))
      let replies = transport.begin(TransferRequest(method: .put, url: server.url, body: body, limits: .body), id: id)
      #expect(isReading.take(timeoutMs: 20_000)?.isEmpty == false)
      #expect((transport.bytesInFlight()[id] ?? 0) >= 190_000)
      let reply = try cancelled(transport, id, replies)
      #expect(reply.requestMayHaveArrived && reply.bytesSent >= 190_000)
      #expect(transport.bytesInFlight().isEmpty)
    }
  }

  @Test func whileTheServerTakesNothing() async throws {
    let isConnected = Mailbox<Bool>()
    let isDone = Mailbox<Bool>()
    try await withServer({ connection in
      guard connection.readHead() != nil else { return }
      isConnected.put(true)
      _ = isDone.take(timeoutMs: 20_000)
    }) { server, transport in
      let id = newID()
      let body = RequestBody.source(PatternBody(64 << 20))
      let replies = transport.begin(TransferRequest(method: .put, url: server.url, body: body, limits: .body), id: id)
      #expect(isConnected.take(timeoutMs: 20_000)?.isEmpty == false)
      _ = try cancelled(transport, id, replies)
      isDone.close()
    }
  }

  @Test func whileItWaitsForOurLimiter() async throws {
    let isConnected = Mailbox<Bool>()
    try await withServer({ connection in
      guard connection.readBody(500) != nil else { return }
      isConnected.put(true)
      connection.waitForClose()
    }) { server, transport in
      transport.setRate(bytesPerSecond: 10)
      let id = newID()
      let body = RequestBody.source(PatternBody(100_000))
      let replies = transport.begin(TransferRequest(method: .put, url: server.url, body: body, limits: .body), id: id)
      #expect(isConnected.take(timeoutMs: 20_000)?.isEmpty == false)
      _ = try cancelled(transport, id, replies)
    }
  }

  @Test func whileItWaitsForTheAnswer() async throws {
    let isRead = Mailbox<Bool>()
    try await withServer({ connection in
      guard connection.readRequest() != nil else { return }
      isRead.put(true)
      connection.waitForClose()
    }) { server, transport in
      let id = newID()
      let replies = transport.begin(TransferRequest(method: .put, url: server.url, body: .bytes([1, 2])), id: id)
      #expect(isRead.take(timeoutMs: 20_000)?.isEmpty == false)
      let reply = try cancelled(transport, id, replies)
      #expect(reply.bytesSent == 2)
    }
  }

  @Test func whileItWaitsForAConnection() async throws {
    try await withServer({ $0.waitForClose() }, configure: { $0.maxConnections = 1 }) { server, transport in
      let first = transport.begin(TransferRequest(method: .get, url: server.url))
      let id = newID()
      let second = transport.begin(TransferRequest(method: .get, url: server.url), id: id)
      let reply = try cancelled(transport, id, second)
      #expect(!reply.requestMayHaveArrived)
      #expect(first.take(timeoutMs: 20_000)?.first?.isCancelled == true)
    }
  }

  @Test func stoppingAnswersEverything() async {
    await withServer({ $0.waitForClose() }, configure: { $0.maxConnections = 5 }) { server, transport in
      let boxes = (0..<20).map { _ in transport.begin(TransferRequest(method: .get, url: server.url)) }
      transport.stop()
      for box in boxes {
        let replies = box.take(timeoutMs: 0)
        #expect(replies?.count == 1 && replies?.first?.isCancelled == true)
      }
      let late = await transport.perform(TransferRequest(method: .get, url: server.url))
      #expect(late.isCancelled && !late.requestMayHaveArrived)
      transport.stop()
    }
  }

  @Test func unknownIDsAreIgnored() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      transport.cancel(newID())
      #expect(await transport.perform(TransferRequest(method: .get, url: server.url)).status == 200)
      transport.cancel(newID())
    }
  }

  /// A handler may call the transport: we hold no lock meanwhile.
  @Test func aHandlerMayStartAndCancel() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      let status = await withCheckedContinuation { continuation in
        transport.start(newID(), TransferRequest(method: .get, url: server.url)) { _ in
          transport.setRate(bytesPerSecond: nil)
          transport.cancel(newID())
          transport.start(newID(), TransferRequest(method: .get, url: server.url)) {
            continuation.resume(returning: $0.status)
          }
        }
      }
      #expect(status == 200)
    }
  }
}
