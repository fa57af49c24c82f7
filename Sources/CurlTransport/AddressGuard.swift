internal import CCurl
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Decides for one request with ``AddressRule/public(unlessOf:)`` whether a connection may lead to an address. It is
/// asked with each address before libcurl connects to it, so that no name that changes between two lookups gets past
/// it. Belongs to one exchange.
final class AddressGuard {
  /// The address that was refused.
  private(set) var refused: String?
  private let home: String

  /// nil when every address will do.
  init?(_ rule: AddressRule) {
    guard case .public(let home) = rule else { return nil }
    self.home = home
  }

  /// Opens the socket, or says no with CURL_SOCKET_BAD.
  func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let at = address.pointee
    let isAllowed = withUnsafePointer(to: &address.pointee.addr) { to in
      guard SpecialAddress.isSpecial(to), !isHomeSpecial else { return true }
      refused = SpecialAddress.text(to, at.addrlen)
      return false
    }
    return isAllowed ? socket(at.family, at.socktype | Int32(SOCK_CLOEXEC.rawValue), at.protocol) : -1
  }

  /// Through a proxy it is the proxy that looks names up: what can be checked here is what the URL writes out.
  func mayAsk(host: String) -> Bool {
    guard SpecialAddress.isSpecial(host: host, isNumeric: true), !isHomeSpecial else { return true }
    refused = host
    return false
  }

  var message: String? {
    refused.map {
      "the server points to \(printable($0)), an address of this machine or of a private network, where the destination is not"
    }
  }

  private static let known = Lock<[String: Bool]>([:])

  /// The destination has such an address itself. Looked up once, and only when it matters.
  private var isHomeSpecial: Bool {
    if let known = Self.known.withLock({ $0[home] }) { return known }
    guard let origin = try? Origin(url: home) else { return false }
    let isSpecial = SpecialAddress.isSpecial(host: origin.host, isNumeric: false)
    Self.known.withLock { $0[home] = isSpecial }
    return isSpecial
  }
}

/// Whether a request goes through a proxy of the environment, decided here where it has to be known: libcurl is then
/// told so.
enum ProxyRoute {
  static func isProxied(_ origin: Origin) -> Bool {
    let names = origin.isTLS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard (names + ["all_proxy", "ALL_PROXY"]).contains(where: { value($0) != nil }) else { return false }
    let exceptions = (value("no_proxy") ?? value("NO_PROXY") ?? "").lowercased()
    return !exceptions.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
      let name = entry.hasPrefix(".") ? entry.dropFirst() : entry
      return name == "*" || origin.host == name || origin.host.hasSuffix("." + name)
    }
  }

  private static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension Exchange {
  /// Sets what ``AddressGuard`` needs. False when the request is refused before anything is sent.
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
