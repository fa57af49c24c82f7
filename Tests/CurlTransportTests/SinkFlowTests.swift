import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// Rates, time limits and cancelling while the body of an answer arrives.
@Suite(.timeLimit(.minutes(1))) struct SinkFlowTests {
  /// Longer than a loaded machine needs to answer.
  private static let short = RequestLimits(connectMs: 0, stallMs: 1500, totalMs: 0, maxReplyBytes: 100)
  private let group = RateGroup(rawValue: 7)

  /// Answers with `sent` of `length` bytes and waits for the peer to close.
  private static func giving(_ length: Int, sent: Int) -> @Sendable (ServerConnection) -> Void {
    { connection in
      guard connection.readHead() != nil else { return }
      connection.send(header("200 OK", length: length))
      connection.sendPattern(sent)
      connection.waitForClose()
    }
  }

  /// A body that is paused again and again within libcurl's pieces arrives once and in order.
  @Test(arguments: [false, true]) func aLimitedBodyArrivesInOrder(_ isChunked: Bool) async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      if isChunked {
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendPattern(chunks: [1, 70_000, 16_384, 113_615])
        connection.send("0\r\nX-Trailer: 1\r\n\r\n")
      } else {
        connection.send(header("200 OK", length: 200_000))
        connection.sendPattern(200_000)
      }
      connection.interrupt()
    }) { server, transport in
      transport.setRate(bytesPerSecond: 300_000, of: group)
      let sink = PatternSink()
      var request = get(server.url, into: sink)
      request.rateGroup = group
      let reply = await transport.perform(request)
      #expect(reply.curlCode == 0 && reply.status == 200 && reply.bytesReceived == 200_000, "\(reply)")
      #expect(sink.seen.isInOrder && sink.seen.bytes == 200_000 && sink.seen.statuses == [200])
      // A grant is a twentieth of a second.
      #expect(sink.seen.largestPiece <= 15_000)
    }
  }

  @Test func aGroupSharesItsRate() async throws {
    let length = 300_000
    let isSecond = Mailbox<Bool>()
    try await withServer({ connection in
      // Neither gets a head start.
      if connection.number == 0 { _ = isSecond.take(timeoutMs: 20_000) } else { isSecond.put(true) }
      Self.giving(length, sent: length)(connection)
    }) { server, transport in
      transport.setRate(bytesPerSecond: 1 << 20, of: group)
      let start = ContinuousClock.now
      let shares = Mailbox<[ExchangeID: Int64]>()
      for _ in 0..<2 {
        var request = get(server.url, into: PatternSink())
        request.rateGroup = group
        transport.start(newID(), request) { _ in shares.put(transport.bytesInFlight()) }
      }
      var replies = try #require(shares.take(timeoutMs: 20_000))
      let atFirstReply = try #require(replies.first)
      #expect(atFirstReply.count == 1 && atFirstReply.values.allSatisfy { $0 > 100_000 }, "\(atFirstReply)")
      while replies.count < 2 { replies += try #require(shares.take(timeoutMs: 20_000)) }
      // 586 KiB at 1 MiB/s, minus what may come at once in the beginning: 50 ms of tolerance and one piece of 50 ms.
      #expect(ContinuousClock.now - start >= .milliseconds(470))
    }
  }

  @Test func theRateOfAllCountsBothDirections() async {
    await withServer({ connection in
      while connection.readRequest() != nil, connection.send(header("200 OK", length: 200 << 10)),
        connection.sendPattern(200 << 10)
      {}
    }) { server, transport in
      transport.setRate(bytesPerSecond: 1 << 20)
      let start = ContinuousClock.now
      await withTaskGroup { tasks in
        for _ in 0..<2 {
          tasks.addTask {
            let sink = PatternSink()
            var request = get(server.url, into: sink)
            request.method = .put
            request.body = .source(PatternBody(200 << 10))
            let reply = await transport.perform(request)
            #expect(reply.bytesSent == 200 << 10 && reply.bytesReceived == 200 << 10 && sink.seen.isInOrder)
          }
        }
      }
      // 800 KiB, with the same allowances.
      #expect(ContinuousClock.now - start >= .milliseconds(680))
    }
  }

  @Test func aNewRateCountsAtOnce() async {
    await withServer(Self.giving(4 << 20, sent: 4 << 20)) { server, transport in
      transport.setRate(bytesPerSecond: 1)
      let isHeld = Mailbox<Int64>()
      let sink = PatternSink(onBytes: { isHeld.put($0) })
      let replies = transport.begin(get(server.url, into: sink))
      #expect(isHeld.take(timeoutMs: 20_000)?.isEmpty == false)
      // At the old rate the next piece would come after a quarter of an hour.
      transport.setRate(bytesPerSecond: nil)
      #expect(replies.take(timeoutMs: 20_000)?.first?.bytesReceived == 4 << 20)
      #expect(sink.seen.isInOrder)
    }
  }

  /// libcurl returns this error only from the call that ends the pause; it would continue with the next bytes.
  @Test(arguments: [30_000, 1 << 20]) func aSinkThatFailsAfterAWaitEndsTheRequest(_ sent: Int) async {
    await withServer(Self.giving(1 << 20, sent: sent)) { server, transport in
      transport.setRate(bytesPerSecond: 100_000)
      let sink = PatternSink(failsAt: 20_000)
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.bodyFailure == PatternSink.failure && reply.curlCode == 23, "\(reply)")
      #expect(reply.bytesReceived <= 20_000 && sink.seen.bytes < 30_000)
      // The connection is not used again.
      let next = PatternSink(failsAtBegin: true)
      let later = await transport.perform(get(server.url, into: next))
      #expect(later.status == 200 && !later.isReusedConnection && server.accepted == 2)
    }
  }

  @Test(arguments: [false, true]) func cancellingEndsTheRequestAtOnce(_ isHeld: Bool) async throws {
    try await withServer(Self.giving(1 << 30, sent: isHeld ? 1 << 20 : 200_000)) { server, transport in
      if isHeld { transport.setRate(bytesPerSecond: 10) }
      let most: Int64 = isHeld ? 1024 : 200_000
      let isComplete = Mailbox<Int64>()
      let sink = PatternSink(onBytes: { if $0 == most { isComplete.put($0) } })
      let id = newID()
      let replies = transport.begin(get(server.url, into: sink), id: id)
      #expect(isComplete.take(timeoutMs: 20_000)?.isEmpty == false)
      transport.cancel(id)
      let reply = try #require(replies.take(timeoutMs: 20_000)?.first)
      transport.stop()
      #expect(reply.isCancelled && reply.status == 200 && reply.isBodyTruncated && reply.curlCode == 42)
      #expect(reply.bytesReceived == most && sink.seen.bytes == most && sink.seen.isInOrder)
      #expect(replies.take(timeoutMs: 0)?.isEmpty == true && transport.bytesInFlight().isEmpty)
    }
  }

  @Test func whatArrivedIsToldMeanwhile() async {
    await withServer(Self.giving(1 << 30, sent: 200_000)) { server, transport in
      let id = newID()
      let counts = Mailbox<Int64>()
      // During a call the counter still has the value from the end of the previous one.
      let sink = PatternSink(onBytes: { _ in counts.put(transport.bytesInFlight()[id] ?? -1) })
      let replies = transport.begin(get(server.url, into: sink), id: id)
      var last: Int64 = -1
      while last < 100_000, let more = counts.take(timeoutMs: 20_000)?.last { last = more }
      #expect(last >= 100_000 && last < 200_000)
      transport.cancel(id)
      #expect(replies.take(timeoutMs: 20_000)?.first?.isCancelled == true)
    }
  }

  @Test(arguments: [0, 60]) func aTrickleIsStalled(_ lump: Int) async {
    let isDone = Mailbox<Bool>()
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send(header("200 OK", length: 1 << 20))
      while isDone.take(timeoutMs: 200) != nil { connection.sendPattern(lump) }
    }) { server, transport in
      var request = get(server.url, into: PatternSink())
      request.limits = Self.short
      // This limit is for answers that have not begun.
      request.limits.answerMs = lump == 0 ? nil : 10_000
      let reply = await transport.perform(request)
      isDone.close()
      #expect(reply.isStalled && reply.curlCode == 28 && reply.isBodyTruncated && reply.longestPauseMs >= 1500)
      #expect(reply.curlMessage.contains("for 1.5 s"), "\(reply.curlMessage)")
    }
  }

  @Test func waitingForOurOwnLimitIsNoStall() async {
    await withServer(Self.giving(2048, sent: 2048)) { server, transport in
      transport.setRate(bytesPerSecond: 500)
      let sink = PatternSink()
      var request = get(server.url, into: sink)
      request.limits = Self.short
      let reply = await transport.perform(request)
      #expect(reply.curlCode == 0 && reply.bytesReceived == 2048 && reply.timing.totalMs > 1500, "\(reply)")
      #expect(sink.seen.isInOrder)
    }
  }

  /// A body that is fast enough is not stalled, although only the bytes that the sink takes are counted.
  @Test func aSteadyBodyIsNotStalled() async {
    let isDone = Mailbox<Bool>()
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send(header("200 OK", length: 20 * 4096))
      for i in 0..<20 {
        connection.send((i * 4096..<(i + 1) * 4096).map { PatternSink.period[$0] })
        _ = isDone.take(timeoutMs: 100)
      }
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink()
      var request = get(server.url, into: sink)
      request.limits = Self.short
      let reply = await transport.perform(request)
      isDone.close()
      #expect(reply.curlCode == 0 && reply.bytesReceived == 81_920 && sink.seen.isInOrder, "\(reply)")
    }
  }
}
