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
  /// The address that was refused.
  private(set) var refused: String?
  private let home: String

  /// nil when every address is allowed.
  init?(_ rule: AddressRule) {
    guard case .public(let home) = rule else { return nil }
    self.home = home
  }

  /// Opens the socket, or refuses with CURL_SOCKET_BAD.
  func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let at = address.pointee
    let isAllowed = withUnsafePointer(to: &address.pointee.addr) { to in
      guard SpecialAddress.isSpecial(to), !isHomeSpecial else { return true }
      refused = SpecialAddress.text(to, at.addrlen)
      return false
    }
    return isAllowed ? socket(at.family, at.socktype | Int32(SOCK_CLOEXEC.rawValue), at.protocol) : -1
  }

  /// Whether a request to this host may go through a proxy. The proxy resolves names, so that only an address written
  /// in the URL can be checked here.
  func mayAsk(host: String) -> Bool {
    guard SpecialAddress.isSpecial(host: host, isNumeric: true), !isHomeSpecial else { return true }
    refused = host
    return false
  }

  var message: String? {
    refused.map {
      "the server refers to \(printable($0)): unlike the destination, an address of this machine or a private network"
    }
  }

  private static let known = Lock<[String: Bool]>([:])

  /// Whether the destination itself has such an address. Looked up once, and only when needed.
  private var isHomeSpecial: Bool {
    if let known = Self.known.withLock({ $0[home] }) { return known }
    guard let origin = try? Origin(url: home) else { return false }
    let isSpecial = SpecialAddress.isSpecial(host: origin.host, isNumeric: false)
    Self.known.withLock { $0[home] = isSpecial }
    return isSpecial
  }
}

extension Exchange {
  /// Sets the options that ``AddressGuard`` needs. False when the request is refused before anything is sent.
  func guardAddresses() -> Bool {
    guard let addresses, let origin = try? Origin(url: order.request.url) else { return true }
    if ProxyRoute.isProxied(origin) {
      easy.set(CURLOPT_NOPROXY, "")
      return addresses.mayAsk(host: origin.host)
    }
    easy.set(CURLOPT_PROXY, "")
    easy.set(CURLOPT_OPENSOCKETDATA, pointer: Unmanaged.passUnretained(addresses).toOpaque())
    easy.note(ccurl_set_open_socket(easy.raw, Self.onOpenSocket))
    return true
  }

  private static let onOpenSocket: ccurl_open_socket_callback = { user, _, address in
    guard let user, let address else { return -1 }
    return Unmanaged<AddressGuard>.fromOpaque(user).takeUnretainedValue().open(address)
  }
}
