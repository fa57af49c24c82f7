import TransferModel

/// Decides which queries of URLs may be stored, because URLs are stored, shown and logged. A query is taken for a
/// credential if a parameter says so by its name, if it expires (only a signed URL does), or if a value looks random
/// and its parameter is not one that names content. So the signatures of servers that nobody knows are found, too.
package enum CredentialQuery {
  /// `query` is the part after the question mark.
  static func isOne(_ query: some StringProtocol) -> Bool { isOne(Array(query.utf8)) }

  package static func isOne(_ query: some Collection<UInt8>) -> Bool {
    isOne(query, separators: separators) || isTimedHash(query)
  }

  /// Whether the value of a parameter with this name is always a credential.
  package static func isSecret(name: some Collection<UInt8>) -> Bool { isSecret(text(of: name)) }

  /// Whether the value of a parameter is a credential, judged without the others.
  package static func isSecret(name: some Collection<UInt8>, value: some Collection<UInt8>) -> Bool {
    let (name, value) = (text(of: name), decoded(value))
    return isSecret(name) || !namesContent(name) && (RandomText.isLikely(value) || isHash(value))
      || value.contains(0x3D) && isOne(value, separators: innerSeparators, depth: 1)
  }

  /// Whether the parameter names content, or the time of expiry: not what is to be hidden of a signed URL.
  package static func isOpen(name: some Collection<UInt8>) -> Bool {
    let name = text(of: name)
    return !isSecret(name) && (namesContent(name) || name.contains("expir") || ends.contains(name))
  }

  /// A digest beside a time, whatever the two parameters are called (`h=…&t=…`): a signature of older programs for
  /// nginx, lighttpd and others.
  private static func isTimedHash(_ query: some Collection<UInt8>) -> Bool {
    let pairs = query.split { separators.contains($0) }.compactMap { pair -> (name: String, value: [UInt8])? in
      guard let mark = pair.firstIndex(of: 0x3D) else { return nil }
      return (text(of: pair[..<mark]), decoded(pair[pair.index(after: mark)...]))
    }
    return pairs.contains { !namesContent($0.name) && isHash($0.value) } && pairs.contains { isTime($0.value) }
  }

  /// 64 bits or more in hexadecimal.
  private static func isHash(_ value: [UInt8]) -> Bool {
    guard value.count >= 16, value.count % 2 == 0 else { return false }
    let letters = value.count { (0x61...0x66).contains($0) || (0x41...0x46).contains($0) }
    let digits = value.count { (0x30...0x39).contains($0) }
    return letters > 0 && digits > 0 && letters + digits == value.count
  }

  /// Seconds or milliseconds since 1970.
  private static func isTime(_ value: [UInt8]) -> Bool {
    (10...13).contains(value.count) && value.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static let separators: Set<UInt8> = [0x26, 0x3B]
  /// Parameters in the value of another one: Akamai writes `hdnts=exp=…~hmac=…`.
  private static let innerSeparators: Set<UInt8> = [0x26, 0x3B, 0x7E, 0x2C, 0x21, 0x7C]

  private static let deepest = 4

  private static func isOne(_ query: some Collection<UInt8>, separators: Set<UInt8>, depth: Int = 0) -> Bool {
    query.split { separators.contains($0) }.contains { pair in
      guard let mark = pair.firstIndex(of: 0x3D) else { return RandomText.isLikely(decoded(pair)) }
      let (name, value) = (text(of: pair[..<mark]), decoded(pair[pair.index(after: mark)...]))
      if isSecret(name) || expires(name, value) { return true }
      if !namesContent(name), RandomText.isLikely(value) { return true }
      return depth < deepest && value.contains(0x3D) && isOne(value, separators: innerSeparators, depth: depth + 1)
    }
  }

  private static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
    PercentEncoding.decode(Array(bytes)) ?? Array(bytes)
  }

  /// The name in lower case, without `-` and `_`.
  private static func text(of name: some Collection<UInt8>) -> String {
    String(decoding: decoded(name).filter { $0 != 0x2D && $0 != 0x5F }, as: UTF8.self).lowercased()
  }

  // MARK: - Names

  /// Parameters whose value is always a credential: Akamai (hdnts, hdnea, hdntl, gda), CloudFront (policy, keypairid),
  /// Cloudflare (verify), Dropbox (rlkey), Google Drive (resourcekey), Huawei (authinfo), Tencent (sign), Upyun (upt).
  private static let secrets: Set<String> = [
    "auth", "authorization", "authinfo", "pwd", "pw", "pass", "sid", "session", "sessionid", "ticket", "verify",
    "hdnts", "hdnea", "hdntl", "gda", "policy", "appid", "keypairid", "rlkey", "resourcekey", "sign", "upt",
  ]
  /// The same for all names that contain one of these: GitLab, Alibaba, Tencent, Huawei, Wangsu (wsSecret, wsKeyHash)
  /// and others have parameters of their own.
  private static let secretParts = [
    "token", "secret", "passw", "signature", "credential", "apikey", "accesskey", "accessid", "authkey", "privatekey",
    "keyhash", "jwt", "hmac",
  ]
  /// The same for all names that end with one of these: OneDrive has tempauth, OpenStack Swift temp_url_sig.
  private static let secretEnds = ["sig", "auth"]

  private static func isSecret(_ name: String) -> Bool {
    secrets.contains(name) || secretParts.contains { name.contains($0) } || secretEnds.contains { name.hasSuffix($0) }
  }

  /// Parameters of which a time, in seconds or milliseconds since 1970, is a time of expiry.
  private static let ends: Set<String> = ["e", "exp", "se", "until", "validuntil", "validto", "notafter", "deadline"]

  private static func expires(_ name: String, _ value: [UInt8]) -> Bool {
    if name.contains("expir") || name == "ttl" { return true }
    return ends.contains(name) && isTime(value)
  }

  /// Parameters that name a file, a version or a record, which may be a hash or a random ID.
  private static let contents: Set<String> = [
    "id", "uuid", "guid", "oid", "doi", "ref", "rev", "revision", "commit", "sha", "sha1", "sha256", "sha512",
    "version", "v", "generation", "etag", "file", "filename", "name", "path", "object", "query", "q",
  ]

  private static func namesContent(_ name: String) -> Bool { contents.contains(name) || name.hasSuffix("id") }
}

/// Detects values that nobody chose: signatures and tokens in hexadecimal, Base64 and similar forms.
enum RandomText {
  private enum Kind { case lower, upper, digit, other }

  /// A token of less than 64 bits would be guessed: shorter texts are none.
  private static let shortest = 16
  private static let fewestChanges = 5

  /// Random text changes between letters and digits, and between small and capital letters, at nearly every other
  /// character; words, numbers, times and names of products at one of five at most. A capital letter may begin a word.
  static func isLikely(_ text: [UInt8]) -> Bool {
    let kinds = text.map(kind)
    let length = kinds.count { $0 != .other }
    guard length >= shortest else { return false }
    let changes = zip(kinds, kinds.dropFirst()).count { before, now in
      before != now && before != .other && now != .other && !(before == .upper && now == .lower)
    }
    return changes >= fewestChanges && 4 * changes >= length
  }

  private static func kind(_ byte: UInt8) -> Kind {
    switch byte {
    case 0x61...0x7A: .lower
    case 0x41...0x5A: .upper
    case 0x30...0x39: .digit
    default: .other
    }
  }
}

extension String {
  fileprivate func contains(_ part: String) -> Bool {
    let (text, part) = (Array(utf8), Array(part.utf8))
    return text.indices.contains { text[$0...].starts(with: part) }
  }
}
