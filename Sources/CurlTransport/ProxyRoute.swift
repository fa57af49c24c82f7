#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Whether a request goes through a proxy of the environment. It is decided here if it has to be known; libcurl is then
/// configured accordingly.
enum ProxyRoute {
  static func isProxied(_ origin: Origin) -> Bool {
    let names = origin.isTLS ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard (names + ["all_proxy", "ALL_PROXY"]).contains(where: { value($0) != nil }) else { return false }
    return !ProxyExceptions(value("no_proxy") ?? value("NO_PROXY") ?? "").contains(origin.host)
  }

  private static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The hosts of `no_proxy`, read as libcurl reads them (lib/noproxy.c, since 7.86): names, which include all names
/// below them, addresses, and networks in CIDR notation. `*` alone stands for all hosts. IPv6 addresses are compared as
/// libcurl documents it; 7.88.1 compares their texts.
struct ProxyExceptions {
  private let entries: [String]
  private let hasAll: Bool

  init(_ text: String) {
    hasAll = text == "*"
    entries = text.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map(String.init)
  }

  /// - Parameter host: in lower case; an IPv6 address has brackets.
  func contains(_ host: String) -> Bool {
    if hasAll { return true }
    if let address = Self.address(ofHost: host) { return entries.contains { Self.isNetwork($0, of: address) } }
    let name = Self.withoutFinalDot(host)
    return entries.map(Self.withoutFinalDot).contains { entry in
      let entry = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
      return !entry.isEmpty && (name == entry || name.hasSuffix("." + entry))
    }
  }

  private static func withoutFinalDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

  /// The bytes of an address in network order; nil for a name. Like libcurl, it takes IPv4 addresses in all forms of
  /// inet_aton(3).
  private static func address(ofHost host: String) -> [UInt8]? {
    if host.hasPrefix("[") { return bytes(withoutBrackets(host), AF_INET6) }
    var address = in_addr()
    return inet_aton(host, &address) != 0 ? withUnsafeBytes(of: address) { Array($0) } : nil
  }

  /// Whether an entry is the address, or a network that contains it. A length of 0 stands for that of the address.
  private static func isNetwork(_ entry: String, of address: [UInt8]) -> Bool {
    let parts = withoutBrackets(entry).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let network = bytes(String(parts[0]), address.count == 4 ? AF_INET : AF_INET6) else { return false }
    let told = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
    let bits = told == 0 ? address.count * 8 : told
    guard (1...address.count * 8).contains(bits) else { return false }
    return zip(network, address).enumerated().allSatisfy { index, pair in
      let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, bits - index * 8)))
      return (pair.0 ^ pair.1) & mask == 0
    }
  }

  private static func bytes(_ text: String, _ family: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// Without the zone of an IPv6 address, which has no meaning for other hosts.
  private static func withoutBrackets(_ text: String) -> String {
    guard text.hasPrefix("["), let end = text.firstIndex(of: "]") else { return text }
    let inner = text[text.index(after: text.startIndex)..<end].prefix { $0 != "%" }
    return String(inner) + text[text.index(after: end)...]
  }
}
