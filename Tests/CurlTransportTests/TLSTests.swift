import CurlTransport
import HTTPTypes
import Testing
import TransferModel

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
  @Test func onlyAVerifiedServerGetsARequest() async throws {
    let server = try #require(TLSServer())
    defer { server.stop() }
    let request = TransferRequest(method: .get, url: "https://127.0.0.1:\(server.port)/")

    let strict = loadedTransport(CurlConfiguration(userAgent: agent))
    defer { strict.stop() }
    let refused = await strict.perform(request)
    #expect(refused.curlCode == 60 && refused.status == 0 && !refused.requestMayHaveArrived)
    #expect(refused.transportFailure?.code == .netCert)

    let trusting = loadedTransport(CurlConfiguration(userAgent: agent, caFile: server.certificate))
    defer { trusting.stop() }
    let accepted = await trusting.perform(request)
    #expect(accepted.status == 200 && accepted.timing.tlsMs >= accepted.timing.connectMs, "\(accepted.curlMessage)")

    // The certificate names the address, not this host.
    let otherName = await trusting.perform(TransferRequest(method: .get, url: "https://localhost:\(server.port)/"))
    #expect(otherName.curlCode == 60 && otherName.transportFailure?.code == .netCert)
  }

  @Test func aServerWithoutTLSIsATLSFailure() async {
    await withServer({ connection in
      connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      connection.waitForClose()
    }) { server, transport in
      let reply = await transport.perform(TransferRequest(method: .get, url: "https://127.0.0.1:\(server.port)/"))
      #expect(reply.curlCode == 35 && !reply.requestMayHaveArrived && reply.transportFailure?.code == .netTLS)
    }
  }
}
