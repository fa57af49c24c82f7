import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// Answers whose body is passed to a sink while it arrives.
@Suite(.timeLimit(.minutes(1))) struct SinkTests {
  /// Answers every request with a body of `length` bytes of the pattern.
  private static func giving(_ length: Int, _ status: String = "200 OK", _ fields: String = "")
    -> @Sendable (ServerConnection) -> Void
  {
    { connection in
      while connection.readRequest() != nil, connection.send(header(status, fields, length: length)),
        connection.sendPattern(length)
      {}
    }
  }

  @Test func aLargeBodyArrivesInOrderAndPiecesStaySmall() async {
    await withServer(Self.giving(64 << 20)) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.status == 200 && reply.curlCode == 0 && reply.transportFailure == nil, "\(reply)")
      #expect(reply.bytesReceived == 64 << 20 && reply.body.isEmpty && !reply.isBodyTruncated)
      #expect(reply.bytesSent == 0 && !reply.isBodyIncomplete)
      let seen = sink.seen
      #expect(seen.isInOrder && seen.bytes == 64 << 20 && seen.statuses == [200])
      #expect(seen.largestPiece <= CurlConfiguration(userAgent: agent).receiveBuffer)
      #expect(transport.bytesInFlight().isEmpty)
    }
  }

  @Test func theSinkSeesStatusAndFieldsOfAPart() async {
    await withServer(Self.giving(1000, "206 Partial Content", "Content-Range: bytes 0-999/5000\r\nETag: \"a\"\r\n")) {
      server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.status == 206 && reply.bytesReceived == 1000)
      #expect(sink.seen.statuses == [206] && sink.seen.fields == reply.fields)
      #expect(sink.seen.fields[.contentRange] == "bytes 0-999/5000" && sink.seen.fields[.eTag] == "\"a\"")
    }
  }

  @Test func interimAnswersAreNotOffered() async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\n" + header("200 OK", length: 5))
      connection.sendPattern(5)
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink()
      #expect(await transport.perform(get(server.url, into: sink)).bytesReceived == 5)
      #expect(sink.seen.statuses == [200] && sink.seen.isInOrder)
    }
  }

  @Test func theTextOfAnErrorStaysWithTheReply() async {
    await withServer(answeringAll(answer("404 Not Found", body: "no such object"))) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.status == 404 && reply.body == Array("no such object".utf8) && reply.bytesReceived == 0)
      #expect(sink.seen.statuses == [404] && sink.seen.pieces == 0)
    }
  }

  @Test(arguments: ["Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "no content", "HEAD"])
  func withoutABodyNothingIsWritten(_ framing: String) async {
    await withServer({ connection in
      while connection.readHead() != nil {
        switch framing {
        case "no content": connection.send("HTTP/1.1 204 No Content\r\n\r\n")
        case "HEAD": connection.send(header("200 OK", length: 1000))
        default: connection.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\(framing.contains("chunked") ? "0\r\n\r\n" : "")")
        }
      }
    }) { server, transport in
      for _ in 0..<2 {
        let sink = PatternSink()
        var request = get(server.url, into: sink)
        if framing == "HEAD" { request.method = .head }
        let reply = await transport.perform(request)
        #expect(reply.transportFailure == nil && reply.curlCode == 0 && reply.bytesReceived == 0, "\(reply)")
        #expect(sink.seen.statuses == [framing == "no content" ? 204 : 200] && sink.seen.pieces == 0)
      }
      #expect(server.accepted == 1)
    }
  }

  /// No rest of the body is left on the connection for the next request.
  @Test(arguments: [-1, 0, 300_000]) func aSinkThatFailsEndsTheRequest(_ failsAt: Int64) async {
    await withServer(Self.giving(8 << 20)) { server, transport in
      let sink = PatternSink(failsAtBegin: failsAt < 0, failsAt: failsAt)
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.bodyFailure == PatternSink.failure && reply.transportFailure == PatternSink.failure)
      #expect(reply.status == 200 && reply.curlCode == 23 && reply.isBodyTruncated && !reply.isCancelled)
      let seen = sink.seen
      #expect(seen.statuses == [200] && (seen.pieces == 0) == (failsAt < 0))
      #expect(reply.bytesReceived <= max(0, failsAt) && seen.bytes - Int64(seen.largestPiece) <= max(0, failsAt))
      let next = PatternSink()
      let later = await transport.perform(get(server.url, into: next))
      #expect(later.bytesReceived == 8 << 20 && next.seen.isInOrder && !later.isReusedConnection)
      #expect(server.accepted == 2)
    }
  }

  @Test func oneHandleServesRequestsWithAndWithoutASink() async {
    await withServer(Self.giving(1000)) { server, transport in
      for _ in 0..<3 {
        let sink = PatternSink()
        let taken = await transport.perform(get(server.url, into: sink))
        #expect(taken.body.isEmpty && taken.bytesReceived == 1000)
        let kept = await transport.perform(get(server.url, into: nil))
        #expect(kept.body == Array(PatternSink.period[..<1000]) && kept.bytesReceived == 0)
        #expect(sink.seen.bytes == 1000 && sink.seen.statuses == [200])
      }
      #expect(server.accepted == 1)
    }
  }

  @Test(arguments: ["length", "chunks", "in a chunk"]) func aBodyThatIsCutIsAnError(_ framing: String) async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      if framing == "length" {
        connection.send(header("200 OK", length: 500_000))
        connection.sendPattern(300_000)
      } else {
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendPattern(chunks: [100_000, 200_000])
        if framing == "in a chunk" { connection.send("ffff\r\n") }
      }
    }) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.status == 200 && reply.curlCode == 18 && reply.isBodyTruncated && reply.bodyFailure == nil)
      #expect(reply.bytesReceived == 300_000 && sink.seen.bytes == 300_000 && sink.seen.isInOrder)
    }
  }

  @Test func chunksAreJoined() async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      connection.sendPattern(chunks: [1, 70_000, 16_384, 300_000])
      connection.send("0\r\nX-Trailer: 1\r\n\r\n")
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.curlCode == 0 && !reply.isBodyTruncated && reply.bytesReceived == 386_385)
      #expect(sink.seen.isInOrder && sink.seen.statuses == [200])
    }
  }

  /// A trailer line that looks like the beginning of an answer is not one: the body belongs to one answer.
  @Test func aSinkIsAskedOnce() async {
    await withServer({ connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      connection.sendPattern(chunks: [1000])
      connection.send("0\r\nHTTP/1.1 206 Partial: Content\r\n\r\n")
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.bytesReceived == 1000 && sink.seen.isInOrder && sink.seen.statuses == [200], "\(reply)")
    }
  }

  /// The bytes of the object are wanted as they are stored.
  @Test func aContentCodingIsNeitherAskedForNorDecoded() async {
    let heads = Mailbox<String>()
    await withServer({ connection in
      guard let head = connection.readHead() else { return }
      heads.put(head)
      connection.send(header("200 OK", "Content-Encoding: gzip\r\n", length: 1000))
      connection.sendPattern(1000)
      connection.waitForClose()
    }) { server, transport in
      let sink = PatternSink()
      let reply = await transport.perform(get(server.url, into: sink))
      #expect(reply.curlCode == 0 && reply.bytesReceived == 1000 && sink.seen.isInOrder, "\(reply)")
      #expect(heads.take(timeoutMs: 20_000)?.first?.lowercased().contains("accept-encoding") == false)
    }
  }

  @Test func aRequestMayHaveBothBodies() async {
    await withServer(Self.giving(300_000)) { server, transport in
      let sink = PatternSink()
      var request = get(server.url, into: sink)
      request.method = .post
      request.body = .source(PatternBody(200_000))
      let reply = await transport.perform(request)
      #expect(reply.bytesSent == 200_000 && reply.bytesReceived == 300_000 && sink.seen.isInOrder)
      #expect(reply.isAnswered && !reply.isBodyIncomplete)
    }
  }
}
