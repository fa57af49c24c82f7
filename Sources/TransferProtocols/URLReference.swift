/// URLs in answers: `Location` may be absolute or relative (RFC 9110 section 10.2.2).
enum URLReference {
  /// The components of RFC 3986 appendix B, unchanged.
  struct Parts: Hashable {
    var scheme: String?
    var authority: String?
    var path: String
    /// Without the question mark.
    var query: String?

    /// The fragment is dropped: it is never sent.
    init(_ text: String) {
      var rest = text.prefix { $0 != "#" }
      if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
        scheme = rest[..<colon].lowercased()
        rest = rest[rest.index(after: colon)...]
      }
      if rest.hasPrefix("//") {
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        self.authority = String(authority)
        rest = rest[authority.endIndex...]
      }
      let path = rest.prefix { $0 != "?" }
      self.path = String(path)
      query = path.endIndex == rest.endIndex ? nil : String(rest[rest.index(after: path.endIndex)...])
    }

    private static func isScheme(_ text: Substring) -> Bool {
      guard let first = text.utf8.first, (0x41...0x5A).contains(first & 0xDF) else { return false }
      return text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
      }
    }

    var text: String {
      (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
    }
  }

  /// The absolute URL for `reference` in an answer from `base` (RFC 3986 section 5.2).
  static func resolve(_ reference: String, against base: String) -> String {
    var target = Parts(reference)
    let base = Parts(base)
    guard target.scheme == nil else { return target.text }
    target.scheme = base.scheme
    guard target.authority == nil else { return target.text }
    target.authority = base.authority
    if target.path.isEmpty {
      target.path = base.path
      target.query = target.query ?? base.query
      return target.text
    }
    if !target.path.hasPrefix("/") {
      let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
      target.path = folder + target.path
    }
    target.path = withoutDots(target.path)
    return target.text
  }

  /// RFC 3986 section 5.2.4, for paths that begin with a slash.
  private static func withoutDots(_ path: String) -> String {
    var out: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (i, segment) in segments.enumerated() {
      let isLast = i == segments.count - 1
      switch segment {
      case ".": if isLast { out.append("") }
      case "..":
        _ = out.popLast()
        if isLast { out.append("") }
      default: out.append(segment)
      }
    }
    return "/" + out.joined(separator: "/")
  }
}

extension WebOrigin {
  /// The origin of an absolute `http` or `https` URL; nil for anything else, and for one with user information.
  public init?(url: String) {
    let parts = URLReference.Parts(url)
    guard let scheme = parts.scheme, scheme == "http" || scheme == "https", let authority = parts.authority,
      let origin = try? WebOrigin(isTLS: scheme == "https", authority: authority), !origin.host.isEmpty
    else { return nil }
    self = origin
  }
}
