import CCurl
import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

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
    #expect(accepted.curlCode == 0 && !accepted.isBodyTruncated, "its end is the closure alert of TLS")

    // The certificate names the address, not this host name.
    let otherName = await trusting.perform(TransferRequest(method: .get, url: "https://localhost:\(server.port)/"))
    #expect(otherName.curlCode == 60 && otherName.transportFailure?.code == .netCert)
  }

  /// In TLS 1.3 the client may send a request before the server has verified it.
  @Test func aServerThatDemandsACertificateHasNotReadTheRequest() async throws {
    let server = try #require(TLSServer(.clientCertificate))
    defer { server.stop() }
    let transport = loadedTransport(CurlConfiguration(userAgent: agent, caFile: server.certificate))
    defer { transport.stop() }
    var request = TransferRequest(method: .post, url: "https://127.0.0.1:\(server.port)/")
    request.body = .bytes(Array("body".utf8))
    for _ in 1...20 {
      let reply = await transport.perform(request)
      #expect(reply.status == 0 && reply.curlCode != 0)
      // The connection may be reset before the alert is read.
      guard reply.transportFailure?.code != .netReset || reply.bytesSent > 0 else { continue }
      #expect(!reply.requestMayHaveArrived, "\(reply.curlMessage)")
      #expect(reply.transportFailure?.code == .authRefused)
      #expect(reply.curlMessage.hasPrefix("the server demands a certificate of the client"), "\(reply.curlMessage)")
      return
    }
    Issue.record("the alert was never read")
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

  /// Debian's libcurl has a built-in directory of authorities. A file that the user names replaces it instead of adding
  /// to it.
  @Test func aFileOfAuthoritiesReplacesTheDirectory() throws {
    let (server, other) = (try #require(TLSServer()), try #require(TLSServer()))
    defer {
      server.stop()
      other.stop()
    }
    let directory = try #require(server.hashedDirectory())
    let url = "https://127.0.0.1:\(server.port)/"
    #expect(try code(of: url) { $0.set(CURLOPT_CAPATH, directory) } == CURLE_OK)
    // The directory counts in addition to a file until it is unset.
    let both = try code(of: url) {
      $0.set(CURLOPT_CAPATH, directory)
      $0.set(CURLOPT_CAINFO, other.certificate)
    }
    #expect(both == CURLE_OK)
    let refused = try code(of: url) {
      $0.set(CURLOPT_CAPATH, directory)
      $0.trustOnly(other.certificate)
    }
    #expect(refused == CURLE_PEER_FAILED_VERIFICATION)
  }

  /// The result of a handshake with a handle that `prepare` has set up.
  private func code(of url: String, _ prepare: (EasyHandle) -> Void) throws -> CURLcode {
    _ = try CurlLibrary.load()
    let multi = try MultiHandle(maxIdleConnections: 1)
    let easy = try #require(EasyHandle(share: nil))
    easy.set(CURLOPT_URL, url)
    easy.set(CURLOPT_CONNECT_ONLY, true)
    prepare(easy)
    #expect(easy.refused == CURLE_OK)
    ccurl_multi_add_handle(multi.raw, easy.raw)
    defer { ccurl_multi_remove_handle(multi.raw, easy.raw) }
    var (running, result) = (Int32(1), CURLE_OK)
    while running > 0 {
      ccurl_multi_perform(multi.raw, &running)
      if running > 0 { ccurl_multi_poll(multi.raw, 100) }
    }
    _ = ccurl_next_done(multi.raw, &result)
    return result
  }
}
