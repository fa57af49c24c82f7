import CurlTransport
import HTTPTypes
import Testing
import TransferModel

#if canImport(Glibc)
  import Glibc
#endif

/// Proxies from the environment. Each test is a process of its own, because all threads share the environment.
/// `up.example` never resolves (RFC 2606), so every answer came through the proxy.
@Suite struct ProxyTests {
  @Test func plainRequestsGoThroughTheProxy() async {
    await #expect(processExitsWith: .success) {
      let heads = Mailbox<String>()
      let proxy = ScriptedServer { connection in
        while let request = connection.readRequest() {
          heads.put(request.head)
          guard connection.send(answer("201 Created")) else { return }
        }
      }
      setenv("http_proxy", "http://user:s3cret-word@127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      let body = RequestBody.source(PatternBody(70_000))
      let reply = await transport.perform(TransferRequest(method: .put, url: "http://up.example/in/x", body: body))
      try check(reply.status == 201, "\(reply)")
      try check(!"\(reply)".contains("s3cret-word"), "the reply shows the secret")
      let head = heads.take()?.first ?? ""
      try check(head.hasPrefix("PUT http://up.example/in/x HTTP/1.1\r\n"), head)
      try check(head.contains("Proxy-Authorization: Basic dXNlcjpzM2NyZXQtd29yZA==\r\n"), head)
    }
  }

  @Test func namesInNoProxyAreAskedDirectly() async {
    await #expect(processExitsWith: .success) {
      let proxy = ScriptedServer(answeringAll(answer("500 Proxy")))
      let server = ScriptedServer(answeringAll(answer("204 No Content")))
      setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      setenv("no_proxy", "other.example,127.0.0.1", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      let reply = await transport.perform(TransferRequest(method: .get, url: server.url))
      try check(reply.status == 204 && proxy.accepted == 0, "\(reply)")
    }
  }

  @Test func overTLSTheProxySeesAddressAndNothingElse() async {
    await #expect(processExitsWith: .success) {
      let heads = Mailbox<String>()
      let proxy = ScriptedServer { connection in
        if let request = connection.readRequest() { heads.put(request.head) }
        _ = connection.send(answer("407 Proxy Authentication Required"))
      }
      setenv("HTTPS_PROXY", "http://user:s3cret-word@127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      var request = TransferRequest(method: .get, url: "https://up.example/in/x")
      request.fields[.authorization] = "Bearer not-for-proxies"
      let reply = await transport.perform(request)
      try check(reply.status == 0 && reply.curlCode != 0, "\(reply)")
      // CONNECT is not part of the request, which was never sent.
      try check(reply.proxyStatus == 407 && !reply.requestMayHaveArrived, "\(reply)")
      try check(reply.transportFailure?.code == .authRefused, "\(reply)")
      try check(!"\(reply)".contains("s3cret-word"), "the reply shows the secret")
      let head = heads.take()?.first ?? ""
      try check(head.hasPrefix("CONNECT up.example:443 HTTP/1.1\r\n"), head)
      try check(!head.contains("not-for-proxies") && !head.contains("/in/x"), head)
    }
  }

  @Test(arguments: [403, 407, 502, 503]) func whatAProxyAnswersToConnectIsNamed(_ status: Int) async {
    await #expect(processExitsWith: .success) { [status] in
      let proxy = ScriptedServer(answeringAll(answer("\(status) No", "Connection: close\r\n")))
      setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      let body = RequestBody.source(PatternBody(70_000))
      let reply = await transport.perform(TransferRequest(method: .post, url: "https://up.example/", body: body))
      let codes: [Int: ErrorCode] = [403: .http403, 407: .authRefused]
      try check(reply.proxyStatus == status && !reply.requestMayHaveArrived && reply.bytesSent == 0, "\(reply)")
      let failure = reply.transportFailure
      try check(failure?.code == codes[status] ?? .netUnreachable, "\(reply)")
      try check(
        failure?.message.contains("proxy") == true && failure?.message.contains("\(status)") == true, "\(reply)")
    }
  }

  /// A web server may set HTTP_PROXY from a field of a request ("httpoxy"), so it is ignored.
  @Test func httpProxyInCapitalsIsNotUsed() async {
    await #expect(processExitsWith: .success) {
      let proxy = ScriptedServer(answeringAll(answer("201 Created")))
      setenv("HTTP_PROXY", "http://127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      let reply = await transport.perform(TransferRequest(method: .get, url: "http://up.example/"))
      try check(reply.status == 0 && proxy.accepted == 0, "\(reply)")
    }
  }

  /// libcurl quotes a proxy that it cannot parse, with user and password.
  @Test(arguments: [0, 1, 2]) func noErrorTellsTheSecret(_ n: Int) async {
    await #expect(processExitsWith: .success) { [n] in
      let proxies = [
        "http://user:s3cret-word@127.0.0.1:1", "nonsense://user:s3cret-word@127.0.0.1:1",
        "http://user:s3cret-word@[127.0.0.1:1",
      ]
      setenv("http_proxy", proxies[n], 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      let reply = await transport.perform(TransferRequest(method: .get, url: "http://up.example/"))
      try check(reply.curlCode != 0, "\(reply)")
      try check(!"\(reply)".contains("s3cret-word"), "\(reply)")
    }
  }
}

private struct Unexpected: Error { let text: String }

func check(_ condition: Bool, _ text: String) throws {
  if !condition { throw Unexpected(text: text) }
}
