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
    if bytes.count >= 4 { others.formUnion(encoded(bytes)) }
    others.formUnion(escaped(secret))
    var folded: Set<[UInt8]> = bytes.count >= 8 ? Set(cases(bytes)) : []
    folded.remove(bytes)
    others.subtract(folded.union([bytes]))
    return [plain] + folded.map { SecretForm(bytes: $0, isOrdinary: plain.isOrdinary) }
      + others.map { SecretForm(bytes: $0, isOrdinary: false) }
  }

  /// Byte strings one of which occurs wherever a form of the secret does. Escaping changes no letters and digits.
  static func traces(of secret: String) -> [[UInt8]] {
    let bytes = Array(secret.utf8)
    let word = longestWord(bytes)
    return bytes.count < 4 ? [word] : Array(Set([word] + cases(word) + encoded(bytes)))
  }

  /// Base64 without its padding, also for URLs, and hexadecimal digits: filters of profiles make the same.
  private static func encoded(_ bytes: [UInt8]) -> [[UInt8]] {
    let padded = Array(base64(bytes).utf8)
    let plain = Array(padded.prefix { $0 != 0x3D })
    let hex = Array(hexText(bytes).utf8)
    let ofURL = plain.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
    return [padded, plain, ofURL, hex, hex.map(upper)]
  }

  private static func cases(_ bytes: [UInt8]) -> [[UInt8]] { [bytes.map(upper), bytes.map(lower)] }

  private static func upper(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte - 0x20 : byte }
  private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }

  /// As writers of JSON do that write only ASCII: RFC 8259 section 7.
  private static func escaped(_ secret: String) -> [[UInt8]] {
    guard !secret.utf8.allSatisfy({ $0 < 0x80 }) else { return [] }
    return [false, true].map { isUpper in
      secret.utf16.flatMap { unit -> [UInt8] in
        guard unit >= 0x80 else { return [UInt8(unit)] }
        let digits = String(unit, radix: 16, uppercase: isUpper)
        return Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      }
    }
  }

  /// The longest run of letters and digits.
  static func longestWord(_ bytes: [UInt8]) -> [UInt8] {
    var longest = bytes[..<0]
    var start = 0
    for (index, byte) in (bytes + [0]).enumerated() where byte == 0x5F || !TextPlaces.isWord(byte) {
      if index - start > longest.count { longest = bytes[start..<index] }
      start = index + 1
    }
    return Array(longest)
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
