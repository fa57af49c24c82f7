public import TransferModel

/// A URL supplied by a command for a file.
public enum SignedURL {
  /// A request that begins this shortly before the expiry may be too late, in milliseconds.
  private static let margin: Int64 = 5_000
  private static let longest = 8_192

  /// - Parameter own: the URL of the file itself.
  /// - Throws: `auth.needs_url` for an unusable URL; never quotes the text.
  public static func check(_ text: String, for own: WebOrigin) throws(Failure) {
    guard text.utf8.count <= longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }),
      let origin = WebOrigin(url: text)
    else { throw Failure(.authNeedsURL, "what the command wrote is not an http or https URL without user information") }
    guard origin.isTLS || !own.isTLS else {
      throw Failure(.authNeedsURL, "the command gave an http URL for a file that is fetched by https")
    }
  }

  /// Whether its own expiry time has passed or is near.
  public static func isExpired(_ url: String, wallMs: Int64) -> Bool {
    expiry(of: url).map { $0 - margin <= wallMs } ?? false
  }

  /// The expiry in milliseconds since 1970 UTC; nil if the URL contains none. AWS and Google with signature version 4
  /// have a date and a number of seconds, CloudFront and AWS version 2 have `Expires` in seconds since 1970, Azure has
  /// `se`.
  static func expiry(of url: String) -> Int64? {
    let query = url.drop { $0 != "?" }.dropFirst().split(separator: "&")
    for vendor in ["x-amz", "x-goog"] {
      guard let date = value("\(vendor)-date", query).flatMap(milliseconds),
        let seconds = value("\(vendor)-expires", query).flatMap({ Int32($0) })
      else { continue }
      return date + Int64(seconds) * 1_000
    }
    if let seconds = value("expires", query).flatMap({ Int64($0) }), (1...99_999_999_999).contains(seconds) {
      return seconds * 1_000
    }
    return value("se", query).flatMap(milliseconds)
  }

  private static func value(_ name: String, _ query: [Substring]) -> String? {
    guard let found = query.first(where: { $0.lowercased().hasPrefix(name + "=") }) else { return nil }
    return PercentEncoding.decode(found.utf8.dropFirst(name.utf8.count + 1)).flatMap {
      String(validating: $0, as: UTF8.self)
    }
  }

  /// Parses `20130524T000000Z`, `2013-05-24T00:00:00Z` or a date alone, all in UTC.
  private static func milliseconds(_ text: String) -> Int64? {
    let digits = text.utf8.prefix { $0 != 0x2E }.filter { (0x30...0x39).contains($0) }
    guard digits.count == 8 || (digits.count == 14 && text.hasSuffix("Z")) else { return nil }
    let all = digits + [UInt8](repeating: 0x30, count: 14 - digits.count)
    func number(_ range: Range<Int>) -> Int { all[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
    return CivilTime(
      year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10), minute: number(10..<12),
      second: number(12..<14))?.wallMs
  }
}
