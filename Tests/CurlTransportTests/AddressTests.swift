import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

#if canImport(Glibc)
  import Glibc
#endif

/// URLs from a server must not lead to an address of this machine or of a private network.
@Suite(.timeLimit(.minutes(1))) struct AddressTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1",
    "100.127.0.1",
    "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "febf::1", "fc00::1", "fdff::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::a00:1", "2002:a00:1::", "localhost", "a.localhost",
    "localhost.", "127.0.0.1.",
  ])
  func theseAreSpecial(_ host: String) { #expect(SpecialAddress.isSpecial(literal: host)) }

  @Test(arguments: [
    "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.2.1", "2606:4700::1", "::ffff:1.1.1.1",
    "64:ff9b::101:101", "2002:101:101::", "localhost.example",
  ])
  func theseAreNot(_ host: String) { #expect(!SpecialAddress.isSpecial(literal: host)) }

  /// A name with a public address too is that of a public server.
  @Test func aNameIsSpecialOnlyIfAllItsAddressesAre() throws {
    func list(_ host: String) throws -> UnsafeMutablePointer<addrinfo> {
      var hints = addrinfo()
      hints.ai_flags = AI_NUMERICHOST
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var found: UnsafeMutablePointer<addrinfo>?
      let status = getaddrinfo(host, nil, &hints, &found)
      #expect(status == 0)
      return try #require(found)
    }
    func areSpecial(_ first: String, _ second: String) throws -> Bool {
      let (head, tail) = (try list(first), try list(second))
      defer {
        head.pointee.ai_next = nil
        freeaddrinfo(head)
        freeaddrinfo(tail)
      }
      head.pointee.ai_next = tail
      return SpecialAddress.areSpecial(head)
    }
    #expect(try areSpecial("10.0.0.1", "127.0.0.1"))
    #expect(try !areSpecial("10.0.0.1", "1.1.1.1"))
    #expect(try !areSpecial("1.1.1.1", "10.0.0.1"))
    #expect(!SpecialAddress.areSpecial(nil))
  }

  /// An address in any spelling, and a name that resolves to one: `localhost` is in /etc/hosts.
  @Test(arguments: ["127.0.0.1", "localhost", "0x7f.1", "2130706433"])
  func noConnectionLeadsThere(_ host: String) async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      var request = TransferRequest(method: .put, url: "http://\(host):\(server.port)/", body: .bytes([1]))
      request.addresses = .public(unlessOf: "https://192.0.2.1")
      let reply = await transport.perform(request)
      #expect(reply.status == 0 && reply.isAddressRefused && !reply.requestMayHaveArrived, "\(reply)")
      #expect(reply.transportFailure?.code == .httpRedirect)
      #expect(reply.transportFailure?.message.contains("an address of this machine") == true, "\(reply)")
      #expect(server.accepted == 0)
      request.addresses = .any
      let allowed = await transport.perform(request)
      #expect(allowed.status == 200)
      // A connection that was allowed for another request is not reused.
      request.addresses = .public(unlessOf: "https://192.0.2.1")
      let again = await transport.perform(request)
      #expect(again.isAddressRefused)
    }
  }

  /// If the destination itself is at such an address, its neighbours are allowed: it could reach them anyway.
  @Test(arguments: ["http://127.0.0.1:1", "http://localhost", "http://10.0.0.1"])
  func aPrivateDestinationMayNameItsNeighbours(_ home: String) async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      var request = TransferRequest(method: .get, url: server.url)
      request.addresses = .public(unlessOf: home)
      let reply = await transport.perform(request)
      #expect(reply.status == 200, "\(reply)")
    }
  }

  /// The proxy may be at any address; the address written in the URL is checked, and `no_proxy` does not bypass that.
  @Test func aProxyIsNoWayAround() async {
    await #expect(processExitsWith: .success) {
      let proxy = ScriptedServer(answeringAll(answer("201 Created")))
      let server = ScriptedServer(answeringAll(answer("200 OK")))
      setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      func perform(_ url: String) async -> TransferReply {
        var request = TransferRequest(method: .get, url: url)
        request.addresses = .public(unlessOf: "https://192.0.2.1")
        return await transport.perform(request)
      }
      let proxied = await perform("http://up.example/")
      try check(proxied.status == 201, "\(proxied)")
      let written = await perform(server.url)
      try check(written.isAddressRefused && proxy.accepted == 1, "\(written)")
      setenv("no_proxy", "127.0.0.1", 1)
      let direct = await perform(server.url)
      try check(direct.isAddressRefused && server.accepted == 0, "\(direct)")
    }
  }

  /// Entries of `no_proxy`, a host, and whether requests to it go through the proxy.
  private static let exceptions: [(entries: String, host: String, isProxied: Bool)] = [
    ("127.0.0.0/8", "127.0.0.1", false), ("127.0.0.0/8", "127.1", false), ("10.0.0.0/8", "127.0.0.1", true),
    ("127.0.0.0/31", "127.0.0.1", false), ("127.0.0.2/31", "127.0.0.1", true), ("127.0.0.1/32", "127.0.0.1", false),
    ("127.0.0.2", "127.0.0.1", true), ("h.example, 127.0.0.1", "127.0.0.1", false), ("0.0.1", "127.0.0.1", true),
    ("::1", "[::1]", false), ("fd00::/8", "[::1]", true),
    ("127.0.0.1", "[::1]", true), ("::/0", "127.0.0.1", true), ("127.0.0.0/8", "localhost", true),
    ("localhost.", "localhost", false), ("LocalHost", "localhost", false), (".localhost", "localhost", false),
    ("host", "localhost", true), ("*", "localhost", false), ("h.example,*", "localhost", true),
  ]

  /// libcurl 7.88.1 sends a request to [::1] to the proxy although `::/64` or `0:0::1` is excepted.
  @Test(arguments: [("::/64", true), ("0:0::1", true), ("[::1]", true), ("fd00::/8", false), ("::2/127", false)])
  func networksOfVersion6AreCompared(_ entry: String, _ isExcepted: Bool) {
    #expect(ProxyExceptions(entry).contains("[::1]") == isExcepted)
  }

  @Test func aFinalDotMeansNothing() {
    #expect(ProxyExceptions("example.org").contains("a.example.org."))
    #expect(!ProxyExceptions("example.org").contains("notexample.org.") && !ProxyExceptions(".").contains("a"))
  }

  /// A URL that a server names goes the same way as one that a person names, which libcurl decides.
  @Test func noProxyMeansWhatItMeansToLibcurl() async {
    await #expect(processExitsWith: .success) {
      let proxy = ScriptedServer(answeringAll(answer("201 Created")))
      let server = ScriptedServer(answeringAll(answer("200 OK")))
      setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let transport = loadedTransport(CurlConfiguration(userAgent: agent))
      for (entries, host, isProxied) in AddressTests.exceptions {
        setenv("no_proxy", entries, 1)
        var request = TransferRequest(method: .get, url: "http://\(host):\(server.port)/")
        let usual = await transport.perform(request)
        request.addresses = .public(unlessOf: "http://127.0.0.1")
        let named = await transport.perform(request)
        try check((usual.status == 201) == isProxied, "libcurl: \(entries) \(host) \(usual)")
        try check((named.status == 201) == isProxied, "\(entries) \(host) \(named)")
      }
    }
  }
}
