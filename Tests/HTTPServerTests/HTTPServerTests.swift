import Glibc
import Testing
import TransferModel
import TransferTestSupport

@testable import HTTPServer

@Suite struct HTTPServerTests {
  /// A server that answers with the request as it parsed it.
  /// It trusts a client that sends the field `Authorization`.
  private func started(_ limits: HTTPLimits = HTTPLimits()) throws -> HTTPServer {
    let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), limits: limits) { request in
      let terms = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
      var response = HTTPResponse(
        200, text: "\(request.method) \(request.path) \(terms) \(String(decoding: request.body, as: UTF8.self))")
      response.trusts = request.has("authorization")
      return response
    }
    try server.start()
    return server
  }

  private func answer(to text: String, _ limits: HTTPLimits = HTTPLimits()) throws -> String {
    let server = try started(limits)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    client.say(text)
    client.finish()
    return client.hear()
  }

  private func status(_ answer: String) -> String { String(answer.prefix(12).suffix(3)) }

  @Test func aRequestIsUnderstood() throws {
    let said = try answer(to: "POST /a%20b/c?x=1&y=two+words HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
    #expect(said.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(said.hasSuffix("\r\n\r\nPOST [\"a b\", \"c\"] x=1&y=two words body\n"))
  }

  @Test(arguments: [
    ("GET /../etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ("GET /a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n", "400"), ("GET /a%00 HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", "400"), ("GET /a?b=%0 HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ("GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n", "400"), ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505"), ("GET / HTTP/1.1\r\n\r\n", "400"),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"), ("GET / HTTP/1.1\nHost: h\r\n\r\n", "400"),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n folded\r\n\r\n", "400"),
    ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost: h\u{1}\r\n\r\n", "400"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", "400"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na", "400"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", "413"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n", "413"),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", "501"),
    ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", "400"),
  ])
  func whatIsInDoubtIsRefused(_ text: String, _ expected: String) throws {
    let said = try answer(to: text)
    #expect(status(said) == expected, "\(said)")
    #expect(said.contains("Connection: close\r\n"))
  }

  /// Linux reports network errors through accept(); they are temporary.
  @Test func anErrorOfAcceptEndsNothing() throws {
    let errors = Lock([EMFILE, EPERM, ENETDOWN, EPROTO, ECONNABORTED, EINTR])
    let socket = try ServerSocket(.tcp(host: "127.0.0.1", port: 0)) { descriptor in
      guard let error = errors.withLock({ $0.popLast() }) else { return accept(descriptor, nil, nil) }
      errno = error
      return -1
    }
    let client = try RawClient(port: socket.port)
    let accepted = try #require(socket.nextConnection())
    #expect(errors.withLock(\.self).isEmpty)
    close(accepted)
    client.finish()
    socket.stop()
    #expect(socket.nextConnection() == nil)
  }

  @Test func aHeadOfMoreThan16KiBIsRefused() throws {
    let long = "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n"
    #expect(status(try answer(to: long)) == "431")
    let fits = "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 16_000))\r\n\r\n"
    #expect(status(try answer(to: fits)) == "200")
  }

  @Test func garbageBehindARequestEndsTheConnection() throws {
    let said = try answer(
      to:
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\ngarbage\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    #expect(said.contains("GET [\"1\"]") && said.contains("GET [\"2\"]"))
    #expect(said.contains("HTTP/1.1 400 ") && !said.contains("[\"3\"]"))
  }

  /// The client would keep the connection, and its place.
  @Test func aResponseMayEndTheConnection() throws {
    let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _ in
      var response = HTTPResponse(401, text: "no")
      response.closes = true
      return response
    }
    try server.start()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    client.say("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    let said = client.hear()
    #expect(said.ranges(of: "HTTP/1.1 401 ").count == 1 && said.contains("Connection: close\r\n"), "\(said)")
  }

  @Test func withoutAThreadAConnectionIsTurnedAway() async {
    await #expect(processExitsWith: .success) {
      let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _ in HTTPResponse(200, text: "yes") }
      let other = try HTTPServer(.tcp(host: "127.0.0.1", port: 0)) { _ in HTTPResponse(200, text: "yes") }
      try server.start()
      refuseThreads()
      let client = try RawClient(port: server.port)
      let said = client.hear()
      precondition(said.hasPrefix("HTTP/1.1 503 "), said)
      server.stop()
      let error = #expect(throws: TransferError.self) { try other.start() }
      precondition(error?.kind == .config && error?.subject == NameBytes("accept connections"))
    }
  }

  @Test func aBodyThatEndsEarlyIsNoRequest() throws {
    let said = try answer(to: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nshort")
    #expect(status(said) == "408")
  }

  @Test func aRequestThatDripsIsEndedInTime() throws {
    var limits = HTTPLimits()
    limits.requestMs = 50
    let server = try started(limits)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    client.say("GET / HTTP/1.1\r\n")
    #expect(status(client.hear()) == "408")
  }

  @Test func headHasNoBodyAndWaitsForNoContinue() throws {
    let said = try answer(to: "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(said.hasSuffix("\r\n\r\n") && said.contains("Content-Length: 13\r\n"), "\(said)")
    let continued = try answer(
      to: "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab")
    #expect(continued.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
  }

  @Test func aConnectionThatNeverSpeaksGivesItsPlaceBack() throws {
    var limits = HTTPLimits()
    limits.firstMs = 50
    let server = try started(limits)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    #expect(client.hear().isEmpty)
  }

  @Test func aServerRemovesOnlyItsOwnSocketFile() throws {
    let path = "/tmp/http-server-test-\(getpid()).sock"
    defer { unlink(path) }
    func listening() throws -> HTTPServer { try HTTPServer(.unix(path: NameBytes(path))) { _ in HTTPResponse(200) } }
    var first: HTTPServer? = try listening()
    unlink(path)
    let second = try listening()
    first = nil
    #expect(first == nil && access(path, F_OK) == 0, "the file of the second server is gone")
    withExtendedLifetime(second) {}
  }

  @Test func tooManyConnectionsAreTurnedAway() throws {
    var limits = HTTPLimits()
    limits.connections = 1
    let server = try started(limits)
    defer { server.stop() }
    let first = try RawClient(port: server.port)
    first.say("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\n\r\n")
    #expect(first.hearOne().hasPrefix("HTTP/1.1 200"))
    let second = try RawClient(port: server.port)
    #expect(status(second.hear()) == "503")
    first.say("GET /again HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(first.hear().contains("GET [\"again\"]"))
  }

  /// Clients that send nothing, or half a request, or requests that prove nothing, do not keep out one that can.
  @Test func silentConnectionsMakeRoom() throws {
    let server = try started()
    defer { server.stop() }
    let trusted = try RawClient(port: server.port)
    trusted.say("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\n\r\n")
    #expect(trusted.hearOne().hasPrefix("HTTP/1.1 200"))
    let others = try (0..<300).map { number in
      let client = try RawClient(port: server.port)
      if number % 3 == 1 { client.say("GET / HTTP/1.1\r\n") }
      if number % 3 == 2 { client.say("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
      return client
    }
    let late = try RawClient(port: server.port)
    late.say("GET /late HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nConnection: close\r\n\r\n")
    #expect(status(late.hear()) == "200")
    trusted.say("GET /again HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(trusted.hear().contains("GET [\"again\"]"), "the one that was trusted keeps its place")
    withExtendedLifetime(others) {}
  }

  @Test func stoppingEndsWaitingConnections() throws {
    let server = try started()
    let client = try RawClient(port: server.port)
    server.stop()
    #expect(client.hear() == "")
  }

  @Test func aFieldOfAnAnswerKeepsItsLine() {
    let response = HTTPResponse(200, fields: [.init("X", "a\r\nSet-Cookie: b")])
    #expect(
      String(decoding: response.head(nowSeconds: 0, closing: false), as: UTF8.self).contains("X: aSet-Cookie: b\r\n"))
  }
}

@Suite struct ListenAddressTests {
  @Test func addressesAreNumericOrSocketFiles() throws {
    #expect(try ListenAddress(NameBytes("127.0.0.1:8787")) == .tcp(host: "127.0.0.1", port: 8787))
    #expect(try ListenAddress(NameBytes("localhost:0")) == .tcp(host: "127.0.0.1", port: 0))
    #expect(try ListenAddress(NameBytes("[::1]:1")) == .tcp(host: "::1", port: 1))
    #expect(try ListenAddress(NameBytes("unix:/x y")) == .unix(path: NameBytes("/x y")))
    for bad in [
      "", "8787", "host:80", "1.2.3.4", "1.2.3.4:65536", "::1:80", "[::1:80", "unix:", "1.2.3.4:-1", "127.1:80",
    ] {
      #expect(throws: TransferError.self, "\(bad)") { try ListenAddress(NameBytes(bad)) }
    }
    #expect(throws: TransferError.self) {
      try ListenAddress(NameBytes("unix:/" + String(repeating: "x", count: 107)))
    }
  }

  @Test func onlyLoopbackAndSocketFilesAreLocal() throws {
    for (text, isLocal) in [
      ("127.0.0.1:1", true), ("127.9.9.9:1", true), ("[::1]:1", true), ("unix:/x", true), ("0.0.0.0:1", false),
      ("[::]:1", false), ("192.0.2.1:1", false), ("[::ffff:127.0.0.1]:1", false),
    ] {
      #expect(try ListenAddress(NameBytes(text)).isLocal == isLocal, "\(text)")
    }
  }

  /// Nobody else may connect, not even briefly. A socket that a killed server left is replaced; another file is not.
  @Test func aSocketFileIsForItsOwner() throws {
    let path = "/tmp/http-server-\(getpid()).sock"
    let old = umask(0)
    let server = try HTTPServer(.unix(path: NameBytes(path))) { _ in HTTPResponse(200, text: "hello") }
    umask(old)
    try server.start()
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let client = try RawClient(path: path)
    client.say("GET / HTTP/1.0\r\n\r\n")
    #expect(client.hear().hasSuffix("hello\n"))
    #expect(throws: TransferError.self) { try HTTPServer(.unix(path: NameBytes(path))) { _ in HTTPResponse(200) } }
    server.stop()
    unlink(path)
    let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    _ = withUnsafeBytes(of: &address) {
      bind(left, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    close(left)
    _ = try HTTPServer(.unix(path: NameBytes(path))) { _ in HTTPResponse(200) }
    let file = open(path, O_CREAT | O_WRONLY, 0o600)
    #expect(throws: TransferError.self) { try HTTPServer(.unix(path: NameBytes(path))) { _ in HTTPResponse(200) } }
    close(file)
    unlink(path)
  }
}
