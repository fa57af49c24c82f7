import TransferModel

/// One encoding of a secret, in which it may occur in a text.
struct SecretForm: Sendable {
  let bytes: [UInt8]
  /// It could be an ordinary word or a number.
  let isOrdinary: Bool

  /// All encodings of a secret.
  static func all(of secret: String) -> [SecretForm] {
    let bytes = Array(secret.utf8)
    let plain = SecretForm(bytes: bytes, isOrdinary: isOrdinary(bytes))
    var others: Set<[UInt8]> = [
      percentEncoded(bytes), Array(secret.replacing("/", with: "\\/").utf8),
      Array(secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").utf8),
      Array(secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").utf8),
    ]
    if bytes.count >= 4 { others.insert(Array(base64(bytes).utf8)) }
    others.remove(bytes)
    return [plain] + others.map { SecretForm(bytes: $0, isOrdinary: false) }
  }

  /// RFC 3986 section 2.1.
  static func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return bytes.flatMap { byte in
      let isUnreserved = TextPlaces.isWord(byte) || byte == 0x2D || byte == 0x2E || byte == 0x7E
      return isUnreserved ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  /// Shorter than any token, or only letters like a name.
  private static func isOrdinary(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { TextPlaces.isWord($0) }
      && (bytes.count < 8 || bytes.count < 20 && bytes.allSatisfy { $0 > 0x39 })
  }
}

/// The URL of an upload session, which works as a secret, in the parts and encodings in which servers repeat it.
struct SessionURLForms {
  private static let shortestToken = 16

  private let url: String
  /// Its path with the query.
  private let path: String
  /// The last component of the path, which may be empty, and the query values long enough to be a token.
  let names: [String]

  init?(_ url: String) {
    guard let mark = url.firstRange(of: "://") else { return nil }
    self.url = url
    path = String(url[mark.upperBound...].drop { $0 != "/" && $0 != "?" })
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    let query = path.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    let values = query.split(separator: "&").compactMap { $0.split(separator: "=", maxSplits: 1).last.map(String.init) }
    names = [last] + values.filter { $0.utf8.count >= Self.shortestToken }
  }

  /// The URL, its path with the query (the form that servers use), and its components long enough to be a token; each
  /// also escaped for JSON, markup and URLs. A path without a last component identifies no upload.
  var all: [SecretForm] {
    let tokens = names.filter { $0.utf8.count >= Self.shortestToken }
    let paths = path.utf8.count > SecretMask.shortest ? [path] : []
    return Set(([url] + paths + tokens).flatMap(Self.escapes)).sorted()
      .map { SecretForm(bytes: Array($0.utf8), isOrdinary: false) }
  }

  private static func escapes(_ text: String) -> [String] {
    let encoded = String(decoding: SecretForm.percentEncoded(Array(text.utf8)), as: UTF8.self)
    return [
      text, text.replacing("/", with: "\\/"), text.replacing("&", with: "&amp;"), text.replacing("&", with: "\\u0026"),
      encoded,
    ]
  }
}
