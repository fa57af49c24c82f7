import Testing
import TransferModel

@testable import CurlTransport

/// What is known of the addresses of destinations, to which the addresses that servers refer to are compared.
@Suite struct HomeAddressesTests {
  /// Answers look-ups, and keeps the hosts.
  private final class Names: Sendable {
    let answer = Lock<Bool?>(nil)
    let asked = Lock<[String]>([])
    func homes() -> HomeAddresses {
      HomeAddresses { [self] home in
        asked.withLock { $0.append(home.host) }
        return answer.withLock(\.self)
      }
    }
  }

  private static let home = "https://home.example:443"

  /// A hiccup of DNS must not count as an answer, and an answer not for ever.
  @Test func anAnswerIsUsedForAMinute() {
    let names = Names()
    let homes = names.homes()
    #expect(homes.isSpecial(Self.home, nowNs: 0) == nil)
    names.answer.withLock { $0 = true }
    #expect(homes.isSpecial(Self.home, nowNs: 1) == true)
    names.answer.withLock { $0 = false }
    #expect(homes.isSpecial("https://home.example:8443", nowNs: HomeAddresses.lifeNs) == true)
    #expect(names.asked.withLock { $0.count } == 2)
    #expect(homes.isSpecial("https://other.example", nowNs: 2) == false)
    #expect(homes.isSpecial(Self.home, nowNs: HomeAddresses.lifeNs + 1) == false)
    #expect(names.asked.withLock { $0 } == ["home.example", "home.example", "other.example", "home.example"])
  }

  /// The request is repeated later; only an answer makes its failure one of the server.
  @Test func aRequestWaitsForTheAnswer() throws {
    let names = Names()
    let homes = names.homes()
    func failure() throws -> Failure? {
      let guardian = try #require(AddressGuard(.public(unlessOf: Self.home), homes))
      return guardian.mayAsk(host: "10.0.0.1") ? nil : guardian.reply.transportFailure
    }
    let untold = try failure()
    #expect(untold?.code == .netDNS && untold?.message.contains("cannot be looked up at the moment") == true)
    names.answer.withLock { $0 = true }
    #expect(try failure() == nil)
    let later = Names()
    later.answer.withLock { $0 = false }
    let guardian = try #require(AddressGuard(.public(unlessOf: Self.home), later.homes()))
    #expect(!guardian.mayAsk(host: "10.0.0.1"))
    let reply = guardian.reply
    #expect(reply.isAddressRefused && reply.transportFailure?.code == .httpRedirect)
    #expect(guardian.mayAsk(host: "1.1.1.1") && guardian.mayAsk(host: "name.example"))
  }

  /// libcurl would ask the proxy for 10.0.0.1.
  @Test(arguments: ["%310.0.0.1", "１０.0.0.1"]) func anEncodedHostIsNotAskedFor(_ host: String) throws {
    let names = Names()
    names.answer.withLock { $0 = false }
    let guardian = try #require(AddressGuard(.public(unlessOf: Self.home), names.homes()))
    #expect(!guardian.mayAsk(host: host))
    let reply = guardian.reply
    #expect(reply.isAddressRefused && reply.transportFailure?.message.contains("an encoded host") == true)
  }

  /// Without a proxy nothing is looked up that the URL says itself.
  @Test(arguments: [("http://127.0.0.1:1", true), ("http://[::1]", true), ("http://1.1.1.1", false)])
  func anAddressIsItsOwnAnswer(_ home: String, _ isSpecial: Bool) {
    #expect(HomeAddresses().isSpecial(home) == isSpecial)
  }
}
