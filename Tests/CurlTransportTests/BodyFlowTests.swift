import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// Bodies that do not go through in one piece.
@Suite(.timeLimit(.minutes(1))) struct BodyFlowTests {
  private func put(_ url: String, _ body: PatternBody) -> TransferRequest {
    TransferRequest(method: .put, url: url, body: .source(body), limits: .body)
  }

  @Test func anEarlyErrorEndsTheBody() async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send(answer("413 Too Large", body: "no"))
      connection.waitForClose()
    }) { server, transport in
      let reply = await transport.perform(put(server.url, PatternBody(64 << 20)))
      #expect(reply.status == 413 && reply.body == Array("no".utf8) && reply.transportFailure == nil)
      #expect(reply.bytesSent < 64 << 20)
    }
  }

  @Test func aStatusWinsOverTheBrokenPipe() async {
    await withServer({ connection in
      guard connection.readHead() != nil, connection.readBody(10) != nil else { return }
      connection.send(answer("201 Created"))
      // After so many more bytes the client has seen the answer; then nobody reads its body.
      _ = connection.readBody(8 << 20)
    }) { server, transport in
      let reply = await transport.perform(put(server.url, PatternBody(256 << 20)))
      #expect(reply.status == 201 && [55, 56].contains(reply.curlCode), "\(reply.status) \(reply.curlCode)")
      #expect(reply.transportFailure == nil && reply.isBodyTruncated)
    }
  }

  @Test func aSourceThatFailsEndsTheRequest() async {
    await withServer({ $0.waitForClose() }) { server, transport in
      let reply = await transport.perform(put(server.url, PatternBody(1 << 20, failsAt: 300_000)))
      #expect(reply.bodyFailure == Failure(.sourceIO, "disk on fire", systemError: 5))
      #expect(reply.transportFailure == reply.bodyFailure)
      #expect(reply.curlCode == 42 && reply.status == 0 && reply.bytesSent <= 300_000)
    }
  }

  @Test func aSourceThatEndsEarlyFails() async {
    await withServer({ $0.waitForClose() }) { server, transport in
      let reply = await transport.perform(put(server.url, PatternBody(1000, mostAtOnce: 0)))
      #expect(reply.bodyFailure?.code == .sourceShortRead)
    }
  }

  /// libcurl repeats a request on a new connection when a kept one turns out dead: the body starts anew.
  @Test func aDeadKeptConnectionIsRepeatedFromTheStart() async throws {
    let bodies = Mailbox<[UInt8]>()
    try await withServer({ connection in
      if connection.number == 0 {
        guard connection.readRequest() != nil else { return }
        connection.send(answer("200 OK"))
        // Takes the second request, and dies without an answer.
        _ = connection.readRequest()
      } else if let request = connection.readRequest() {
        bodies.put(request.body)
        connection.send(answer("200 OK"))
      }
    }) { server, transport in
      #expect(await transport.perform(TransferRequest(method: .get, url: server.url)).status == 200)
      let body = PatternBody(300_000)
      let reply = await transport.perform(put(server.url, body))
      #expect(reply.status == 200, "\(reply)")
      let received = try #require(bodies.take(timeoutMs: 20_000)?.first)
      #expect(received == PatternBody.bytes(300_000))
      #expect(body.offsets.withLock { $0.filter { $0 == 0 }.count } == 2)
      #expect(reply.bytesSent == 600_000 && !reply.isReusedConnection)
      #expect(server.accepted == 2)
    }
  }

  /// … which a request that must not be doubled forbids.
  @Test func aFreshConnectionIsNotRepeated() async {
    await withServer({ connection in
      while let request = connection.readRequest() {
        if request.body.count == 3 { return }
        connection.send(answer("200 OK"))
      }
    }) { server, transport in
      #expect(await transport.perform(TransferRequest(method: .get, url: server.url)).status == 200)
      var request = TransferRequest(method: .post, url: server.url, body: .bytes([1, 2, 3]))
      request.needsFreshConnection = true
      let reply = await transport.perform(request)
      #expect(reply.curlCode == 52 && reply.requestMayHaveArrived && !reply.isReusedConnection)
      #expect(server.accepted == 2)
    }
  }
}
