import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

@Suite(.timeLimit(.minutes(1))) struct RefusalTests {
  @Test(arguments: [
    ("http://h/x", "http://h:80"), ("HTTPS://Ex.Org", "https://ex.org:443"), ("http://h:8080?q", "http://h:8080"),
    ("https://[::1]/", "https://[::1]:443"), ("https://[::1]:99/", "https://[::1]:99"), ("http://h/@x", "http://h:80"),
  ])
  func originIsSchemeHostAndPort(url: String, origin: String) throws {
    #expect(try Origin(url: url).text == origin)
  }

  @Test(arguments: [
    ("ftp://h/", 1), ("h/x", 3), ("http:/h", 3), ("http://", 3), ("http:///x", 3), ("http://h/a b", 3),
    ("http://h/\r\nX: y", 3), ("http://h\\@evil/", 3), ("http://u:p@h/", 43), ("file:///etc/passwd", 1),
  ])
  func badURLsAreRefusedBeforeLibcurlSeesThem(url: String, code: Int32) async {
    let transport = loadedTransport(CurlConfiguration(userAgent: agent))
    defer { transport.stop() }
    let reply = await transport.perform(TransferRequest(method: .get, url: url))
    #expect(reply.curlCode == code && reply.status == 0 && !reply.requestMayHaveArrived)
    #expect(!reply.curlMessage.isEmpty && !reply.curlMessage.contains("u:p"))
  }

  @Test func fieldsThatWouldChangeTheRequestAreRefused() async {
    let name = HTTPField.Name("X-A")!
    let control = HTTPFields([HTTPField(name: name, lenientValue: [0x61, 0x01])])
    let bad: [(HTTPFields, RequestBody)] = [
      (control, .none), ([.transferEncoding: "chunked"], .bytes([1])), ([.contentLength: "2"], .bytes([1])),
      ([.contentLength: "0"], .none),
    ]
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      for (fields, body) in bad {
        let reply = await transport.perform(
          TransferRequest(method: .put, url: server.url, fields: fields, body: body))
        #expect(reply.curlCode == 43 && reply.status == 0, "\(fields)")
      }
      let head = await transport.perform(TransferRequest(method: .head, url: server.url, body: .bytes([])))
      #expect(head.curlCode == 43)
      #expect(server.accepted == 0)
    }
  }

  @Test(arguments: [0x0D, 0x0A, 0x00, 0x1B, 0x7F] as [UInt8])
  func lineBreaksAndNULAreNoValue(byte: UInt8) {
    #expect(!RequestRefusal.isSafe([0x41, byte, 0x42]))
    #expect(RequestRefusal.isSafe([0x41, 0x09, 0x20, 0xFF]))
  }

  @Test func textsThatQuoteASecretAreReplaced() {
    let request = TransferRequest(
      method: .get, url: "http://h/?X-Amz-Signature=abcdef", fields: [.authorization: "Bearer s3cr3t"])
    for text in ["bad Bearer s3cr3t here", "in ?X-Amz-Signature=abcdef"] {
      let message = FailureText.withoutSecrets(text, otherwise: "general", request)
      #expect(message == "general")
    }
    #expect(FailureText.withoutSecrets("plain\u{1B}", otherwise: "general", request) == "plain\\x1b")
  }
}
