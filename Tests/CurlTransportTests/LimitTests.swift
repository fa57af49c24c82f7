import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

@Suite(.timeLimit(.minutes(1))) struct LimitTests {
  private static let tiny = RequestLimits(connectMs: 0, stallMs: 300, totalMs: 0, maxReplyBytes: 100)

  private func put(_ url: String, _ size: Int, _ limits: RequestLimits) -> TransferRequest {
    TransferRequest(method: .put, url: url, body: .source(PatternBody(size)), limits: limits)
  }

  @Test(arguments: [10, 64 << 20])
  func aServerThatDoesNothingIsStalled(size: Int) async {
    let isDone = Mailbox<Bool>()
    await withServer({ connection in
      _ = connection.readHead()
      _ = isDone.take(timeoutMs: 50_000)
    }) { server, transport in
      let reply = await transport.perform(put(server.url, size, Self.tiny))
      isDone.close()
      #expect(reply.isStalled && reply.curlCode == 28 && reply.status == 0 && reply.requestMayHaveArrived)
      #expect(reply.transportFailure?.code == .netStalled && reply.timing.totalMs >= 300)
    }
  }

  /// A server that takes or gives almost nothing, evenly or in lumps of 60 bytes, is stalled as well: each lump used to
  /// count like a second at full speed.
  @Test(arguments: ["takes", "gives", "gives lumps"])
  func aTrickleIsStalled(_ how: String) async {
    let isDone = Mailbox<Bool>()
    await withServer({ connection in
      _ = connection.readHead()
      if how != "takes" { connection.send("HTTP/1.1 200 OK\r\n") }
      let pauseMs: Int64 = how == "gives lumps" ? 200 : 50
      while isDone.take(timeoutMs: pauseMs) != nil {
        switch how {
        case "takes": _ = connection.readBody(1)
        case "gives": connection.send("a")
        default: connection.send("field: \(String(repeating: "a", count: 51))\r\n")
        }
      }
    }) { server, transport in
      let reply = await transport.perform(put(server.url, how == "takes" ? 64 << 20 : 10, Self.tiny))
      isDone.close()
      #expect(reply.isStalled && reply.curlCode == 28 && reply.transportFailure?.code == .netStalled, "\(reply)")
      #expect(reply.longestPauseMs >= 300)
    }
  }

  /// The rest of an answer does not follow its header: `answerMs` applies only until the header, and requests without a
  /// stall limit have `pauseMs` from then on.
  @Test(arguments: ["stall", "answer", "none"])
  func anAnswerWhoseBodyNeverComesEnds(_ kind: String) async {
    let isDone = Mailbox<Bool>()
    await withServer({ connection in
      _ = connection.readHead()
      _ = connection.readBody(10)
      connection.send(header("200 OK", length: 100))
      connection.send("hello")
      _ = isDone.take(timeoutMs: 50_000)
    }) { server, transport in
      var limits = Self.tiny
      if kind == "none" { (limits.stallMs, limits.pauseMs) = (0, 300) }
      if kind == "answer" { limits.answerMs = 600_000 }
      let reply = await transport.perform(put(server.url, 10, limits))
      isDone.close()
      #expect(reply.isStalled && reply.status == 200 && reply.isBodyTruncated, "\(reply)")
    }
  }

  /// The header may take longer than the stall limit, which starts again for the body.
  @Test func aBodyThatFollowsALateHeaderIsAwaited() async {
    let pause = Mailbox<Bool>()
    await withServer({ connection in
      _ = connection.readHead()
      _ = connection.readBody(10)
      _ = pause.take(timeoutMs: 3_000)
      connection.send(header("200 OK", length: 5))
      _ = pause.take(timeoutMs: 1_200)
      connection.send("hello")
      connection.waitForClose()
    }) { server, transport in
      var limits = Self.tiny
      (limits.stallMs, limits.answerMs) = (2_500, 50_000)
      let reply = await transport.perform(put(server.url, 10, limits))
      #expect(!reply.isStalled && reply.curlCode == 0 && reply.body.count == 5, "\(reply)")
    }
  }

  /// A server that assembles a file sends its header early, and then spaces until it knows the result.
  @Test func blanksKeepAnAnswerAliveThatHasNoLimitForPauses() async {
    let pause = Mailbox<Bool>()
    await withServer({ connection in
      _ = connection.readHead()
      _ = connection.readBody(10)
      connection.send(header("200 OK", length: 25))
      for _ in 0..<25 {
        connection.send(" ")
        _ = pause.take(timeoutMs: 100)
      }
      connection.waitForClose()
    }) { server, transport in
      var limits = Self.tiny
      (limits.stallMs, limits.pauseMs) = (0, 2_000)
      let reply = await transport.perform(put(server.url, 10, limits))
      #expect(!reply.isStalled && reply.curlCode == 0 && reply.body.count == 25, "\(reply)")
    }
  }

  /// The time that the sink needs for a piece says nothing about the server.
  @Test func aSinkThatTakesItsTimeIsNoStall() async {
    let (never, isTaken) = (Mailbox<Void>(), Mailbox<Void>())
    await withServer({ connection in
      _ = connection.readHead()
      connection.send(header("200 OK", length: 20))
      connection.send(Array(PatternSink.period[..<10]))
      _ = isTaken.take(timeoutMs: 50_000)
      connection.send(Array(PatternSink.period[10..<20]))
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink(onBytes: { sum in
        if sum <= 10 { _ = never.take(timeoutMs: 900) }
        isTaken.put(())
      })
      var request = get(server.url, into: sink)
      request.limits = Self.tiny
      let reply = await transport.perform(request)
      #expect(!reply.isStalled && reply.bytesReceived == 20, "\(reply)")
      #expect(reply.longestPauseMs < 300)
    }
  }

  @Test func waitingForOurOwnLimitIsNoStall() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      transport.setRate(bytesPerSecond: 1000)
      let reply = await transport.perform(put(server.url, 3000, Self.tiny))
      #expect(reply.status == 200 && reply.timing.totalMs > 1500, "\(reply)")
    }
  }

  @Test func theTotalLimitHolds() async {
    await withServer({ $0.waitForClose() }) { server, transport in
      let limits = RequestLimits(connectMs: 0, stallMs: 0, totalMs: 200, maxReplyBytes: 100)
      let reply = await transport.perform(put(server.url, 10, limits))
      #expect(reply.curlCode == 28 && !reply.isStalled && reply.transportFailure?.code == .netTimeout)
    }
  }

  @Test func theConnectLimitHolds() async {
    let deaf = DeafPort()
    let transport = loadedTransport(CurlConfiguration(userAgent: agent))
    defer { transport.stop() }
    let limits = RequestLimits(connectMs: 200, stallMs: 0, totalMs: 0, maxReplyBytes: 100)
    let reply = await transport.perform(put("http://127.0.0.1:\(deaf.port)/", 10, limits))
    #expect(reply.curlCode == 28 && !reply.requestMayHaveArrived)
    #expect(reply.transportFailure?.code == .netConnectTimeout)
  }

  /// The rate is never exceeded; that it is reached is tested with the bucket itself, without a clock.
  @Test func theRateHoldsForAllPoolsTogether() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      let rate: Int64 = 1 << 20
      transport.setRate(bytesPerSecond: rate)
      let start = ContinuousClock.now
      await withTaskGroup { group in
        for label in ["a", "b", "a", "b"] {
          group.addTask {
            var request = self.put(server.url, 200 << 10, .body)
            request.credentialLabel = label
            #expect(await transport.perform(request).status == 200)
          }
        }
      }
      let elapsed = ContinuousClock.now - start
      // 800 KiB at 1 MiB/s, minus what may be sent at once in the beginning: 50 ms of tolerance and one piece of 50 ms.
      #expect(elapsed >= .milliseconds(680))
    }
  }

  @Test func aNewRateCountsAtOnce() async {
    let isReading = Mailbox<Bool>()
    await withServer({ connection in
      guard connection.readHead() != nil, connection.readBody(1000) != nil else { return }
      isReading.put(true)
      guard connection.readBody((4 << 20) - 1000) != nil else { return }
      connection.send(answer("200 OK"))
    }) { server, transport in
      transport.setRate(bytesPerSecond: 1)
      let replies = transport.begin(put(server.url, 4 << 20, .body))
      #expect(isReading.take(timeoutMs: 20_000)?.isEmpty == false)
      // At the old rate the next piece would be sent after a quarter of an hour.
      transport.setRate(bytesPerSecond: nil)
      #expect(replies.take(timeoutMs: 20_000)?.first?.status == 200)
    }
  }

  @Test func transfersShareTheRateFairly() async throws {
    try await withServer(answeringAll(answer("200 OK"))) { server, transport in
      transport.setRate(bytesPerSecond: 2 << 20)
      let ids = (0..<4).map { _ in newID() }
      let shares = Mailbox<[ExchangeID: Int64]>()
      for id in ids {
        transport.start(id, put(server.url, 300_000, .body)) { _ in shares.put(transport.bytesInFlight()) }
      }
      let atFirstReply = try #require(shares.take(timeoutMs: 20_000)?.first)
      #expect(atFirstReply.count == 3 && atFirstReply.values.allSatisfy { $0 > 90_000 }, "\(atFirstReply)")
    }
  }

  @Test func aWatchTellsSlowFromStill() {
    let steps: [(second: Int64, moved: Int64, isExcused: Bool, isStalled: Bool)] = [
      (1, 100, false, false), (2, 1123, false, false),
      // A good second resets it: 1,024 bytes.
      (3, 2147, false, false), (5, 2147, false, false), (6, 2200, false, true),
      (7, 2200, true, false), (9, 2200, false, false),
      // A rewind is progress.
      (11, 0, false, false), (14, 0, false, true),
    ]
    // A lump of 1,024 bytes every two seconds, checked every second: half of the required rate.
    var lumps = StallWatch(limitMs: 3000, nowNs: 0)
    let stalls = (1...7).map {
      lumps.isStalled(moved: $0 / 2 * 1024, isExcused: false, nowNs: $0 * 1_000_000_000)
    }
    #expect(stalls == [false, false, false, false, true, true, true])
    #expect(lumps.longestPauseNs == 4_000_000_000)
    var watch = StallWatch(limitMs: 3000, nowNs: 0)
    for step in steps {
      let isStalled = watch.isStalled(
        moved: step.moved, isExcused: step.isExcused, nowNs: step.second * 1_000_000_000)
      #expect(isStalled == step.isStalled, "after \(step.second) s")
    }
  }
}
