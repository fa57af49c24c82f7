/// Scheme, host and port of a URL. Requests share connections only within one origin.
struct Origin: Hashable, Sendable {
  /// `https://example.org:443`, in lower case.
  let text: String
  let isTLS: Bool
  /// In lower case; an IPv6 address keeps its brackets.
  let host: String

  /// The origin to which libcurl will connect for an absolute `http` or `https` URL. Stricter than libcurl: user
  /// information, control characters, spaces and backslashes are refused, so that two parsers cannot disagree about the
  /// host.
  init(url: String) throws(RequestRefusal) {
    let bytes = Array(url.utf8)
    guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x5C }) else {
      throw .malformedURL("the URL has a space, backslash or control character")
    }
    guard let colon = bytes.firstIndex(of: 0x3A), bytes[colon...].starts(with: "://".utf8) else {
      throw .malformedURL("the URL is not absolute")
    }
    let scheme = Self.lowercased(bytes[..<colon])
    guard scheme == "http" || scheme == "https" else { throw .unsupportedScheme(scheme) }
    let authority = bytes[(colon + 3)...].prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    guard !authority.contains(0x40) else {
      throw .badArgument("the URL carries user information; give credentials by reference instead")
    }
    let (host, port) = Self.split(authority)
    guard !host.isEmpty else { throw .malformedURL("the URL has no host") }
    let effectivePort = port.isEmpty ? (scheme == "https" ? "443" : "80") : Self.lowercased(port)
    isTLS = scheme == "https"
    self.host = Self.lowercased(host)
    text = "\(scheme)://\(self.host):\(effectivePort)"
  }

  /// The colons inside of `[::1]` belong to the host.
  private static func split(_ authority: ArraySlice<UInt8>) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>) {
    let afterBracket = authority.lastIndex(of: 0x5D) ?? authority.startIndex
    guard let colon = authority[afterBracket...].lastIndex(of: 0x3A) else { return (authority, []) }
    return (authority[..<colon], authority[(colon + 1)...])
  }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).lowercased()
  }
}
