import CurlTransport
import HTTPTypes
import Testing
import TransferModel

/// What a server receives, byte for byte.
@Suite(.timeLimit(.minutes(1))) struct RequestBytesTests {
  private struct Seen: Sendable {
    var head: String
    var body: [UInt8]
  }

  private func seen(
    _ request: (String) -> TransferRequest, _ check: (Seen, TransferReply, UInt16) -> Void
  ) async throws {
    let box = Mailbox<Seen>()
    try await withServer({ connection in
      guard let (head, body) = connection.readRequest() else { return }
      box.put(Seen(head: head, body: body))
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }) { server, transport in
      let reply = await transport.perform(request(server.url))
      let seen = try #require(box.take(timeoutMs: 20_000)?.first)
      check(seen, reply, server.port)
    }
  }

  private static func head(_ line: String, _ port: UInt16, _ rest: String = "") -> String {
    "\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUser-Agent: \(agent)\r\n\(rest)\r\n"
  }

  @Test(arguments: [HTTPRequest.Method.get, .head, .delete, .post, .put, .init("MKCOL")!, .init("PROPFIND")!])
  func withoutBodyNothingIsAdded(method: HTTPRequest.Method) async throws {
    try await seen({ TransferRequest(method: method, url: $0 + "/a/../b%2Fc?x=1&y") }) { seen, reply, port in
      #expect(seen.head == Self.head("\(method.rawValue) /a/../b%2Fc?x=1&y", port))
      #expect(reply.status == 200 && reply.curlCode == 0, "\(reply)")
      #expect(reply.bytesSent == 0 && reply.requestMayHaveArrived)
    }
  }

  @Test(arguments: [HTTPRequest.Method.put, .post, .init("PROPFIND")!], [0, 1, 65_535, 65_536, 65_537, 5 << 20])
  func aBodyArrivesWhole(method: HTTPRequest.Method, size: Int) async throws {
    let body = PatternBody(size)
    try await seen({ TransferRequest(method: method, url: $0 + "/k", body: .source(body), limits: .body) }) {
      seen, reply, port in
      #expect(seen.head == Self.head("\(method.rawValue) /k", port, "Content-Length: \(size)\r\n"))
      #expect(seen.body == PatternBody.bytes(size))
      #expect(reply.status == 200 && reply.bytesSent == Int64(size), "\(reply)")
    }
  }

  @Test(arguments: [0, 1, 100_000])
  func aBodyFromMemoryArrivesWhole(size: Int) async throws {
    try await seen({ TransferRequest(method: .post, url: $0 + "/k", body: .bytes(PatternBody.bytes(size))) }) {
      seen, reply, port in
      #expect(seen.head == Self.head("POST /k", port, "Content-Length: \(size)\r\n"))
      #expect(seen.body == PatternBody.bytes(size))
      #expect(reply.bytesSent == Int64(size))
    }
  }

  @Test func aSourceMayGiveLessThanThereIsRoomFor() async throws {
    let body = PatternBody(10_000, mostAtOnce: 7)
    try await seen({ TransferRequest(method: .put, url: $0 + "/k", body: .source(body)) }) { seen, _, _ in
      #expect(seen.body == PatternBody.bytes(10_000))
    }
  }

  @Test func fieldsGoAsTheyAre() async throws {
    var fields: HTTPFields = [.accept: "*/*", .contentType: "text/plain", .init("X-Empty")!: "", .contentLength: "3"]
    fields.append(HTTPField(name: .init("x-Bytes")!, lenientValue: [0xFF, 0x41]))
    try await seen({ TransferRequest(method: .put, url: $0 + "/k", fields: fields, body: .bytes([1, 2, 3])) }) {
      seen, _, port in
      let latin = String(decoding: [0xFF, 0x41] as [UInt8], as: UTF8.self)
      let sent = "Accept: */*\r\nContent-Type: text/plain\r\nX-Empty:\r\nx-Bytes: \(latin)\r\n"
      #expect(
        seen.head.split(separator: "\r\n").sorted()
          == Self.head("PUT /k", port, "Content-Length: 3\r\n" + sent).split(separator: "\r\n").sorted())
    }
  }

  @Test func expectIsSentOnlyWhenAskedFor() async throws {
    let heads = Mailbox<String>()
    await withServer({ connection in
      guard let head = connection.readHead() else { return }
      heads.put(head)
      connection.send("HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n")
      guard connection.readBody(3 << 20) != nil else { return }
      connection.send(answer("201 Created", "X-Final: 1\r\n"))
    }) { server, transport in
      let request = TransferRequest(
        method: .put, url: server.url, fields: [.expect: "100-continue"], body: .source(PatternBody(3 << 20)))
      let reply = await transport.perform(request)
      #expect(heads.take(timeoutMs: 20_000)?.first?.contains("\r\nExpect: 100-continue\r\n") == true)
      #expect(reply.status == 201 && reply.fields[.init("X-Final")!] == "1")
      #expect(reply.fields[.init("X-Interim")!] == nil)
    }
  }
}
