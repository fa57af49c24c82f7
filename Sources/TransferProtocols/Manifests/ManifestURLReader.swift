import TransferModel

/// Parses absolute URLs in manifests, for the schemes of downloads.
struct ManifestURLReader {
  static let longest = 8192
  /// `https://`, …
  private static let schemes = AllProtocols.downloads.flatMap(\.schemes)

  /// Scheme and authority of the last accepted URL: most lists contain one server.
  private var known: [UInt8] = []

  /// Whether the text is a URL with a scheme and an authority; anything else is a relative path.
  static func isAbsolute(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = text.first, isLetter(first) else { return false }
    let scheme = text.prefix { isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
    return text[scheme.endIndex...].starts(with: [0x3A, 0x2F, 0x2F])
  }

  /// Whether it can be fetched, judging by its beginning.
  static func hasKnownScheme(_ url: UnsafeRawBufferPointer) -> Bool {
    schemes.contains { scheme in
      url.count > scheme.utf8.count && zip(url, scheme.utf8).allSatisfy { isLetter($0) ? $0 | 0x20 == $1 : $0 == $1 }
    }
  }

  /// The URL as text.
  mutating func read(_ url: UnsafeRawBufferPointer) throws(ManifestFault) -> String {
    guard url.count <= Self.longest else {
      throw ManifestFault("its URL is longer than \(Self.longest) bytes", "give a shorter URL")
    }
    guard url.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw ManifestFault("its URL holds characters that no URL has", "percent-encode them")
    }
    guard !url.contains(0x23) else {
      throw ManifestFault("a fragment (\"#…\") of a URL is never sent", "write %23 for the character itself")
    }
    let rest = try checkOrigin(of: url)
    if let mark = rest.firstIndex(of: 0x3F) {
      let query = String(decoding: rest[(mark + 1)...], as: UTF8.self)
      guard !CredentialQuery.isOne(query) else {
        throw ManifestFault(
          "the query of its URL carries a credential or signature, which would be stored and shown",
          "give the URL without it, and a command that prints the signed URL (--url-command), or a token (--auth)")
      }
    }
    return String(decoding: url, as: UTF8.self)
  }

  /// Returns what follows scheme and authority.
  private mutating func checkOrigin(
    of url: UnsafeRawBufferPointer
  ) throws(ManifestFault) -> Slice<UnsafeRawBufferPointer> {
    if url.count > known.count, url.starts(with: known), !known.isEmpty, Self.endsAuthority(url[known.count]) {
      return url[known.count...]
    }
    guard Self.isAbsolute(url), Self.hasKnownScheme(url), let colon = url.firstIndex(of: 0x3A) else {
      throw ManifestFault("the scheme of its URL is unknown", "use one of \(Self.schemes.joined(separator: ", "))")
    }
    let authority = url[(colon + 3)...].prefix { !Self.endsAuthority($0) }
    guard !authority.contains(0x40) else {
      throw ManifestFault("its URL carries user information", "take it out, and give credentials with --auth")
    }
    do throws(OriginFault) {
      _ = try WebOrigin(isTLS: true, authority: String(decoding: authority, as: UTF8.self))
    } catch {
      throw ManifestFault("the host or the port of its URL is wrong: \(error.cause)", error.remedy)
    }
    known = Array(url[..<authority.endIndex])
    return url[authority.endIndex...]
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool { byte == 0x2F || byte == 0x3F }
  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
