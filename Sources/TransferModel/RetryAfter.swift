import HTTPTypes

/// The wait requested by a server (RFC 9110 section 10.2.3, and the fields of object stores).
package enum RetryAfter {
  /// The longest accepted wait, in milliseconds: one hour.
  package static let longestMs: Int64 = 3_600_000

  /// The wait in milliseconds, 0 … ``longestMs``; nil if the server requests none or in an unknown form.
  ///
  /// `Retry-After` holds seconds or a date; the date is compared with the answer's own `Date`, because two clocks
  /// differ, and with ours (`wallMs`, milliseconds since 1970 UTC) only when there is none. `x-amz-retry-after` and
  /// `retry-after-ms` hold milliseconds.
  package static func milliseconds(_ fields: HTTPFields, wallMs: Int64) -> Int64? {
    if let text = fields[.retryAfter] { return retryAfter(trimmed(text), fields, wallMs) }
    for name in ["x-amz-retry-after", "retry-after-ms"] {
      guard let field = HTTPField.Name(name), let text = fields[field] else { continue }
      if let number = whole(trimmed(text)) { return clamped(number) }
    }
    return nil
  }

  private static func retryAfter(_ text: String, _ fields: HTTPFields, _ wallMs: Int64) -> Int64? {
    if let seconds = whole(text) { return clamped(min(seconds, longestMs) * 1000) }
    guard let date = HTTPDate.parse(text, wallMs: wallMs) else { return nil }
    let now = fields[.date].flatMap { HTTPDate.parse($0, wallMs: wallMs) } ?? wallMs
    return clamped(date - now)
  }

  /// Any number of digits with an optional sign; too large counts as very large.
  private static func whole(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return isNegative ? 0 : Int64(digits) ?? .max
  }

  private static func clamped(_ value: Int64) -> Int64 { min(max(value, 0), longestMs) }

  private static func trimmed(_ text: String) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
