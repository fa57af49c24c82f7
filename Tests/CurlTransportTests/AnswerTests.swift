import Glibc
import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
  private func reply(
    to request: (String) -> TransferRequest = { TransferRequest(method: .get, url: $0) },
    script: @escaping @Sendable (ServerConnection) -> Void
  ) async -> TransferReply {
    let box = Lock(TransferReply())
    await withServer(script) { server, transport in
      let reply = await transport.perform(request(server.url))
      box.withLock { $0 = reply }
    }
    return box.withLock { $0 }
  }

  @Test func aWholeAnswerWithItsFacts() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 103 Early Hints\r\nX-A: interim\r\n\r\n")
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A:  one \r\nX-A: two\r\n\r\n")
      connection.send("5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n")
      connection.waitForClose()
    }
    #expect(reply.status == 200 && reply.body == Array("hello".utf8) && reply.curlCode == 0)
    #expect(reply.fields[values: .init("X-A")!] == ["one", "two"])
    #expect(reply.fields[.init("X-Trailer")!] == nil)
    #expect(reply.remoteIP == "127.0.0.1" && reply.httpVersion == "1.1" && !reply.isReusedConnection)
    #expect(reply.timing.connectMs >= 0 && reply.timing.firstByteMs >= reply.timing.connectMs)
    #expect(reply.timing.totalMs >= reply.timing.firstByteMs && reply.timing.tlsMs == -1)
    #expect(reply.transportFailure == nil && !reply.isBodyTruncated)
  }

  @Test(arguments: [(200, 100_000), (404, 64 << 10), (503, 64 << 10), (302, 64 << 10)])
  func ofARefusalLittleIsKept(_ status: Int, _ kept: Int) async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send(answer("\(status) X", body: String(repeating: "x", count: 100_000)))
      connection.waitForClose()
    }
    #expect(reply.status == status && reply.body.count == kept && reply.isBodyTruncated == (kept < 100_000))
  }

  /// The rest of the body never arrives, so a client that waits for it ends at its limit.
  @Test(arguments: [404, 503, 302])
  func theRestOfALongRefusalIsNotAwaited(_ status: Int) async {
    var limits = RequestLimits.control
    limits.totalMs = 20_000
    let reply = await reply(to: { [limits] in TransferRequest(method: .get, url: $0, limits: limits) }) { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 \(status) X\r\nContent-Length: \(1 << 30)\r\n\r\n")
      connection.send(String(repeating: "x", count: AnswerCollector.maxErrorBytes + 1))
      connection.waitForClose()
    }
    #expect(reply.status == status && reply.curlCode == 0 && reply.isBodyTruncated, "\(reply.curlMessage)")
    #expect(reply.body.count == AnswerCollector.maxErrorBytes && reply.answerFailure == nil)
  }

  /// The same for a success after 1 MiB more than is kept.
  @Test func anAnswerThatDoesNotEndIsCut() async {
    var limits = RequestLimits.control
    (limits.maxReplyBytes, limits.totalMs) = (1000, 20_000)
    let reply = await reply(to: { [limits] in TransferRequest(method: .get, url: $0, limits: limits) }) { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n")
      connection.send(String(repeating: "x", count: 1000 + AnswerCollector.maxDroppedBytes + 1))
      connection.waitForClose()
    }
    #expect(reply.status == 200 && reply.curlCode == 0 && reply.isBodyTruncated, "\(reply.curlMessage)")
    #expect(reply.body.count == 1000 && reply.answerFailure == nil)
  }

  @Test(arguments: [301, 302, 307, 308])
  func redirectsComeBack(status: Int) async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send(answer("\(status) Elsewhere", "Location: http://127.0.0.1:1/\r\n"))
      connection.waitForClose()
    }
    #expect(reply.status == status && reply.fields[.location] == "http://127.0.0.1:1/" && reply.curlCode == 0)
  }

  @Test func aLongBodyIsCut() async {
    var limits = RequestLimits.control
    limits.maxReplyBytes = 1000
    let reply = await reply(to: { [limits] in TransferRequest(method: .get, url: $0, limits: limits) }) { connection in
      guard connection.readHead() != nil else { return }
      connection.send(answer("200 OK", body: String(repeating: "x", count: 1 << 20)))
      connection.waitForClose()
    }
    #expect(reply.body.count == 1000 && reply.isBodyTruncated && reply.curlCode == 0)
  }

  /// The end of such a body is unknown, so the answer is discarded (RFC 9112 section 6.3). The server keeps the
  /// connection open, so waiting for the longer body would take until the limit.
  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 50\r\n", "Content-Length: 50\r\nContent-Length: 5\r\n",
    "Content-Length: 5, 50\r\n", "Content-Length: 5x\r\n", "Content-Length: +5\r\n", "Content-Length:\r\n",
  ])
  func anAnswerOfUncertainLengthIsNone(_ lengths: String) async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\(lengths)\r\nhello")
      connection.waitForClose()
    }
    #expect(reply.status == 0 && !reply.isStalled && reply.requestMayHaveArrived, "\(reply)")
    #expect(reply.transportFailure?.code == .protoBadReply, "\(reply)")
  }

  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n",
  ])
  func equalLengthsAreOne(_ lengths: String) async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\(lengths)\r\nhello")
      connection.waitForClose()
    }
    #expect(reply.status == 200 && reply.curlCode == 0 && reply.body == Array("hello".utf8), "\(reply)")
  }

  @Test func aLongHeaderEndsTheRequest() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil, connection.send("HTTP/1.1 200 OK\r\n") else { return }
      let line = "X-A: \(String(repeating: "y", count: 1000))\r\n"
      while connection.send(line) {}
    }
    #expect(reply.curlCode == 23 && reply.status == 0 && reply.curlMessage.contains("256 KiB"))
    #expect(reply.transportFailure?.code == .protoBadReply)
  }

  @Test func aHeaderThatIsCutIsNoStatus() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nETag: \"a")
    }
    #expect(reply.status == 0 && reply.requestMayHaveArrived)
    #expect(reply.transportFailure != nil)
  }

  @Test func anInterimAnswerIsNoStatus() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\n")
    }
    #expect(reply.status == 0 && reply.fields.isEmpty && reply.transportFailure?.code == .netReset)
  }

  @Test func interimAnswersAreToldWhileTheBodyIsSent() async {
    let heard = Lock<[InterimReply]>([])
    let reply = await reply(to: {
      var request = TransferRequest(method: .put, url: $0, body: .source(PatternBody(1 << 20)))
      request.onInterim = { interim in heard.withLock { $0.append(interim) } }
      return request
    }) { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 100 Continue\r\n\r\n")
      connection.send("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u/1\r\n\r\n")
      // The body is read only after the first one was received: it arrives while the request is being sent.
      while heard.withLock({ $0.isEmpty }) { sched_yield() }
      connection.send("HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 7\r\n\r\n")
      _ = connection.readBody(1 << 20)
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      connection.waitForClose()
    }
    #expect(reply.status == 200)
    #expect(heard.withLock { $0.map(\.status) } == [104, 104])
    #expect(heard.withLock { $0.first?.fields[.location] } == "/u/1")
    #expect(heard.withLock { $0.last?.fields[.location] } == nil)
  }

  @Test func aBodyThatIsCutShows() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    }
    #expect(reply.status == 200 && reply.curlCode == 18 && reply.isBodyTruncated && reply.body == Array("half".utf8))
  }

  @Test func closingWithoutAnAnswerIsAReset() async {
    let reply = await reply { connection in _ = connection.readHead() }
    #expect(reply.curlCode == 52 && reply.status == 0 && reply.requestMayHaveArrived && !reply.curlMessage.isEmpty)
    #expect(reply.transportFailure?.code == .netReset)
  }

  @Test func aResetInTheMiddleOfTheBody() async {
    let reply = await reply(to: { TransferRequest(method: .put, url: $0, body: .source(PatternBody(32 << 20))) }) {
      connection in
      guard connection.readHead() != nil, connection.readBody(100_000) != nil else { return }
      connection.resetOnClose()
    }
    #expect([55, 56].contains(reply.curlCode) && reply.status == 0, "\(reply)")
    #expect(reply.bytesSent >= 100_000 && reply.bytesSent < 32 << 20 && reply.requestMayHaveArrived)
    #expect(reply.transportFailure?.code == .netReset)
  }

  @Test func garbageIsNoAnswer() async {
    let reply = await reply { connection in
      guard connection.readHead() != nil else { return }
      connection.send("SSH-2.0-OpenSSH_9.2\r\n\r\n")
    }
    #expect(reply.status == 0 && reply.transportFailure?.code == .protoBadReply, "\(reply)")
  }

  @Test func nobodyListens() async {
    let port = DeafPort().port
    let transport = loadedTransport(CurlConfiguration(userAgent: agent))
    defer { transport.stop() }
    let reply = await transport.perform(
      TransferRequest(method: .put, url: "http://127.0.0.1:\(port)/", body: .bytes([1])))
    #expect(reply.curlCode == 7 && !reply.requestMayHaveArrived && reply.timing.connectMs == -1)
    #expect(reply.transportFailure?.code == .netRefused && reply.systemError == 111)
  }
}
