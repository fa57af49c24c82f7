internal import CCurl

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Addresses of this machine or of private networks. A server that returns a URL with such an address could make us
/// contact services that only we can reach (SSRF).
enum SpecialAddress {
  /// `bytes` are the 4 or 16 bytes of an address in network order. Sources: RFC 6890, RFC 1918, RFC 6598, RFC 3927, RFC
  /// 4193, RFC 4291; addresses that contain an IPv4 address (RFC 4291 section 2.5.5, RFC 6052, RFC 3056) are special if
  /// that one is.
  static func isSpecial(_ bytes: [UInt8]) -> Bool {
    bytes.count == 4 ? isSpecialIPv4(bytes) : bytes.count != 16 || isSpecialIPv6(bytes)
  }

  private static func isSpecialIPv4(_ b: [UInt8]) -> Bool {
    switch (b[0], b[1]) {
    case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127), (198, 18...19): true
    case (192, 0): b[2] == 0
    default: b[0] >= 224
    }
  }

  private static func isSpecialIPv6(_ b: [UInt8]) -> Bool {
    let isMapped = b[..<10].allSatisfy { $0 == 0 } && (b[10...11].allSatisfy { $0 == 0xFF })
    if isMapped || b[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return isSpecialIPv4(Array(b[12...]))
    }
    if b[..<12].allSatisfy({ $0 == 0 }) { return true }
    if b[0] == 0x20 && b[1] == 0x02 { return isSpecialIPv4(Array(b[2..<6])) }
    // RFC 8215: local prefixes of translators.
    if b[..<6].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 1]) { return true }
    return b[0] & 0xFE == 0xFC || (b[0] == 0xFE && b[1] >= 0x80) || b[0] == 0xFF
  }

  static func isSpecial(_ address: UnsafePointer<sockaddr>) -> Bool {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { at in
        isSpecial(withUnsafeBytes(of: at.pointee.sin_addr) { Array($0) })
      }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { at in
        isSpecial(withUnsafeBytes(of: at.pointee.sin6_addr) { Array($0) })
      }
    default: true
    }
  }

  /// The text of an address, for messages.
  static func text(_ address: UnsafePointer<sockaddr>, _ length: UInt32) -> String {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return "?" }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether a host is an address, written as such in a URL, that is special. Needs no DNS query.
  static func isSpecial(literal host: String) -> Bool { isSpecial(host, AI_NUMERICHOST) ?? false }

  /// Whether all addresses of a host are special: a name that has others too belongs to a public server, whose operator
  /// may have added one to reach what only we can reach. A name without an address is not special. nil if nobody can
  /// tell at the moment. Blocks during a DNS query.
  static func isSpecial(name host: String) -> Bool? { isSpecial(host, 0) }

  private static func isSpecial(_ host: String, _ flags: Int32) -> Bool? {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    var hints = addrinfo()
    hints.ai_flags = flags
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let bare = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
    switch getaddrinfo(bare, nil, &hints, &list) {
    case 0: break
    case EAI_AGAIN, EAI_FAIL, EAI_MEMORY, EAI_SYSTEM: return nil
    default: return false
    }
    defer { freeaddrinfo(list) }
    return areSpecial(list)
  }

  /// Whether the list has addresses, and all of them are special.
  static func areSpecial(_ list: UnsafePointer<addrinfo>?) -> Bool {
    var (next, isAny) = (list, false)
    while let entry = next {
      guard let address = entry.pointee.ai_addr, isSpecial(address) else { return false }
      (next, isAny) = (UnsafePointer(entry.pointee.ai_next), true)
    }
    return isAny
  }
}
