import TransferModel

/// Scheme, host and port of a server, normalised: lower case, no default port. Connections and credentials belong to
/// one.
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  public let isTLS: Bool
  /// As in a URL: an IPv6 address keeps its brackets.
  public let host: String
  /// nil for the default port of the scheme.
  public let port: Int?

  /// The value of the `Host` field.
  public var authority: String { port.map { "\(host):\($0)" } ?? host }
  /// `http://host:port`, without a path.
  public var description: String { (isTLS ? "https://" : "http://") + authority }

  public init(isTLS: Bool, host: String, port: Int? = nil) {
    self.isTLS = isTLS
    self.host = host
    self.port = port == (isTLS ? 443 : 80) ? nil : port
  }

  /// The same for all spellings of a server, as the beginning of ``TransferProtocol/keyPlace``: a dot at the end of a
  /// name that has others only says that the name is complete. A single label is another name without it, because
  /// resolvers complete that one. Requests have the host as it was typed.
  var place: String {
    let labels = host.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
    guard labels.last?.isEmpty == true, labels.count > 2 || host == "localhost." else { return description }
    return WebOrigin(isTLS: isTLS, host: String(host.dropLast()), port: port).description
  }

  /// An IP address, `localhost`, or anything with a port: names of buckets cannot be put before it.
  public var isAddressLike: Bool {
    host.hasPrefix("[") || host == "localhost" || port != nil
      || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
  }

  /// Reads `host`, `host:port` or `[v6]:port`. The error never quotes the text, which may contain a password.
  init(isTLS: Bool, authority: some StringProtocol) throws(OriginFault) {
    guard !authority.isEmpty else { throw OriginFault.noHost }
    guard !authority.utf8.contains(0x40) else { throw OriginFault.userInfo }
    var host = authority[...]
    var port: Int?
    if let bracket = authority.firstIndex(of: "]") {
      host = authority[...bracket]
      guard Self.isIPv6(host.dropFirst().dropLast()), authority.hasPrefix("[") else { throw OriginFault.host }
      port = try Self.port(authority[authority.index(after: bracket)...])
    } else if authority.hasPrefix("[") {
      throw OriginFault.host
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = try Self.port(authority[colon...])
    }
    guard host.hasPrefix("[") || Self.isName(host) else { throw OriginFault.host }
    self.init(isTLS: isTLS, host: host.lowercased(), port: port)
  }

  private static func port(_ text: some StringProtocol) throws(OriginFault) -> Int? {
    if text.isEmpty || text == ":" { return nil }
    guard text.hasPrefix(":"), text.utf8.count <= 6, text.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text.dropFirst()), (1...65_535).contains(number)
    else { throw OriginFault.port }
    return number
  }

  private static func isName(_ host: some StringProtocol) -> Bool {
    !host.isEmpty && host.utf8.count <= 253
      && host.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }

  private static func isIPv6(_ text: some StringProtocol) -> Bool {
    text.utf8.count >= 2 && text.contains(":")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66, 0x3A, 0x2E: true
        default: false
        }
      }
  }
}

/// Why a host is invalid.
enum OriginFault: Error {
  case userInfo, noHost, host, port

  var cause: String {
    switch self {
    case .userInfo: "it contains user information, which everybody on this machine can read in the process list"
    case .noHost: "it has no host"
    case .host: "its host is neither a name nor an address"
    case .port: "its port is not a number from 1 to 65535"
    }
  }

  var remedy: String {
    switch self {
    case .userInfo: "remove it, and pass \"--auth basic=env:NAME\" or \"--auth bearer=file:PATH\""
    case .noHost: "write the host after \"://\": https://host/path/"
    case .host: "write a name in ASCII (punycode for others), an IPv4 address, or an IPv6 address in brackets"
    case .port: "write a port from 1 to 65535 behind the colon, or leave both out"
    }
  }
}
