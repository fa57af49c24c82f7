internal import CCurl
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Decides for one request with ``AddressRule/public(unlessOf:)`` whether an address may be connected to. It checks
/// each address immediately before libcurl connects to it, so that DNS rebinding cannot bypass it. Belongs to one
/// exchange.
final class AddressGuard {
  private enum Refusal {
    /// An address that only we can reach.
    case special(String)
    /// A host that libcurl would decode, so that it may be any address.
    case encoded(String)
    /// An address that only we can reach, and nobody can tell at the moment whether the destination has one, too.
    case untold
  }

  private var refusal: Refusal?
  private let home: String
  private let homes: HomeAddresses

  /// nil when every address is allowed.
  init?(_ rule: AddressRule, _ homes: HomeAddresses = .shared) {
    guard case .public(let home) = rule else { return nil }
    (self.home, self.homes) = (home, homes)
  }

  /// Whether libcurl may connect to the address.
  func allows(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    let length = address.pointee.addrlen
    return withUnsafePointer(to: &address.pointee.addr) { to in
      guard SpecialAddress.isSpecial(to) else { return true }
      return allows(.special(SpecialAddress.text(to, length)))
    }
  }

  /// Whether a request to this host may go through a proxy. The proxy resolves names, so that only an address written
  /// in the URL can be checked here. libcurl decodes percent-encoding and names in Unicode.
  func mayAsk(host: String) -> Bool {
    if !host.hasPrefix("["), host.utf8.contains(where: { $0 >= 0x80 || $0 == 0x25 }) { return allows(.encoded(host)) }
    return !SpecialAddress.isSpecial(literal: host) || allows(.special(host))
  }

  /// If the destination has such an address itself, its neighbours are allowed.
  private func allows(_ special: Refusal) -> Bool {
    switch homes.isSpecial(home) {
    case true?: return true
    case false?: refusal = special
    case nil: refusal = .untold
    }
    return false
  }

  /// The host or address that is refused for good.
  var refused: String? {
    switch refusal {
    case .special(let host), .encoded(let host): host
    case .untold, nil: nil
    }
  }

  /// The same request may be allowed later.
  var isUntold: Bool { if case .untold = refusal { true } else { false } }

  var message: String? {
    switch refusal {
    case nil: nil
    case .special(let address):
      "the server refers to \(printable(address)): unlike the destination, an address of this machine or a private network"
    case .encoded(let host): "the server refers to \(printable(host)), an encoded host that may be any address"
    case .untold:
      "the server refers to an address of a private network, and that of the destination cannot be looked up at the moment"
    }
  }

  /// The reply to a request for which no connection may be made.
  var reply: TransferReply {
    let code = isUntold ? CURLE_COULDNT_RESOLVE_HOST : CURLE_COULDNT_CONNECT
    var reply = TransferReply.refused(Int32(code.rawValue), message ?? "")
    reply.isAddressRefused = !isUntold
    return reply
  }
}

extension Exchange {
  /// Sets the options that ``AddressGuard`` needs. Returns the reply if the request is refused before anything is sent.
  func guardAddresses() -> TransferReply? {
    guard let addresses, let origin = try? Origin(url: order.request.url) else { return nil }
    if ProxyRoute.isProxied(origin) {
      easy.set(CURLOPT_NOPROXY, "")
      return addresses.mayAsk(host: origin.host) ? nil : addresses.reply
    }
    easy.set(CURLOPT_PROXY, "")
    checksAddresses = true
    return nil
  }
}
