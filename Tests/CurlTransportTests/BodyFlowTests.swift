import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// Bodies that are not sent in one go.
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

  @Test func aRefusalWinsOverTheBrokenPipe() async {
    await withServer({ connection in
      guard connection.readHead() != nil, connection.readBody(10) != nil else { return }
      connection.send(answer("409 Conflict"))
      // After so many more bytes the client has seen the answer; then nobody reads its body any more.
      _ = connection.readBody(8 << 20)
    }) { server, transport in
      let reply = await transport.perform(put(server.url, PatternBody(256 << 20)))
      #expect(reply.status == 409 && reply.isBodyIncomplete && reply.isAnswered)
      #expect(reply.transportFailure == nil && reply.isBodyTruncated == (reply.curlCode != 0))
    }
  }

  enum AfterAnswer: CaseIterable { case closes, resets, readsOn }

  /// A fixed answer, a login page, a handler that ignores the body: not a success, however the connection ends.
  @Test(arguments: AfterAnswer.allCases, [PutMethod.put, .post])
  func aSuccessBeforeTheWholeBodyIsNone(_ after: AfterAnswer, _ method: PutMethod) async {
    await withServer({ connection in
      guard connection.readHead() != nil, connection.readBody(64 << 10) != nil else { return }
      connection.send(answer("201 Created", after == .readsOn ? "" : "Connection: close\r\n"))
      if after == .resets { connection.resetOnClose() }
      // After another 8 MiB the client has seen the answer.
      if after != .resets { _ = connection.readBody((after == .closes ? 8 << 20 : Self.large) - (64 << 10)) }
    }) { server, transport in
      var request = put(server.url, PatternBody(Self.large))
      if method == .post { request.method = .post }
      let reply = await transport.perform(request)
      #expect(reply.isBodyIncomplete && reply.requestMayHaveArrived && !reply.isAnswered, "\(reply)")
      // After a reset the answer may be lost, too.
      #expect(reply.isEarlySuccess || (after == .resets && reply.status == 0))
      #expect(reply.transportFailure?.code == (reply.status == 0 ? .netReset : .protoBadReply))
    }
  }
  enum PutMethod: CaseIterable { case put, post }
  private static let large = 64 << 20

  @Test(arguments: [0, 1, 65_536, 300_000, 5_000_000]) func aBodyThatWentOutIsComplete(_ size: Int) async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      for _ in 0..<3 {
        let reply = await transport.perform(put(server.url, PatternBody(size)))
        #expect(reply.isAnswered && !reply.isBodyIncomplete && reply.bytesSent == size)
      }
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

  /// libcurl would repeat a request if a kept connection turns out to be dead; but the server may have executed it.
  @Test(arguments: [3, 300_000]) func whatDiesOnAKeptConnectionIsNotRepeated(_ size: Int) async {
    let bodies = Mailbox<Int>()
    await withServer({ connection in
      while let request = connection.readRequest() {
        bodies.put(request.body.count)
        // Takes the second request, and closes without an answer.
        if request.head.hasPrefix("POST") { return }
        connection.send(answer("200 OK"))
      }
    }) { server, transport in
      #expect(await transport.perform(TransferRequest(method: .get, url: server.url)).status == 200)
      var request = put(server.url, PatternBody(size))
      request.method = .post
      let reply = await transport.perform(request)
      #expect(reply.curlCode == 42 && reply.status == 0 && !reply.isCancelled, "\(reply)")
      #expect(reply.requestMayHaveArrived && reply.isReusedConnection && reply.bytesSent == size)
      #expect(reply.transportFailure?.code == .netReset)
      // The handle and the pool still work.
      #expect(await transport.perform(TransferRequest(method: .get, url: server.url)).status == 200)
      var received: [Int] = []
      while received.count < 3, let more = bodies.take(timeoutMs: 20_000) { received += more }
      #expect(received == [0, size, 0])
    }
  }

  /// If the peer's close has arrived, it is noticed before anything is sent on the connection.
  @Test func aConnectionThatWasClosedWhileIdleIsNotUsed() async {
    let ends = Mailbox<Int>()
    await withServer({ connection in
      if connection.readRequest() != nil { connection.send(answer("200 OK")) }
      connection.interrupt()
      ends.put(connection.number)
    }) { server, transport in
      for _ in 0..<50 {
        let reply = await transport.perform(TransferRequest(method: .post, url: server.url, body: .bytes([1])))
        #expect(reply.status == 200 && !reply.isReusedConnection)
        _ = ends.take(timeoutMs: 20_000)
      }
      #expect(server.accepted == 50)
    }
  }

  /// libcurl would send the request again without `Expect`.
  @Test func aRefusedExpectationIsAnAnswer() async {
    let heads = Mailbox<String>()
    await withServer({ connection in
      while let head = connection.readHead() {
        heads.put(head)
        connection.send(answer("417 Expectation Failed"))
      }
    }) { server, transport in
      var request = put(server.url, PatternBody(300_000))
      request.fields[.expect] = "100-continue"
      let reply = await transport.perform(request)
      #expect(reply.status == 417 && reply.isBodyIncomplete, "\(reply)")
      #expect(heads.take(timeoutMs: 20_000)?.count == 1)
    }
  }
}
