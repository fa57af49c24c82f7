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
  ])
  func theseAreSpecial(_ host: String) { #expect(SpecialAddress.isSpecial(host: host, isNumeric: true)) }

  @Test(arguments: [
    "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.2.1", "2606:4700::1", "::ffff:1.1.1.1",
    "64:ff9b::101:101", "2002:101:101::", "localhost.example",
  ])
  func theseAreNot(_ host: String) { #expect(!SpecialAddress.isSpecial(host: host, isNumeric: true)) }

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
}
