import TransferModel

/// The `Content-Range` of a part (RFC 9110 section 14.4).
struct ContentRange: Sendable, Hashable {
  /// nil if the server cannot send the range (`bytes */123`).
  var range: ByteRange?
  /// Size of the whole file in bytes; nil for `*`.
  var size: Int64?

  /// nil for a malformed field: another unit, an end before the start, or an end beyond the whole.
  init?(_ field: String?) {
    guard let field, field.lowercased().hasPrefix("bytes ") else { return nil }
    let halves = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    if halves[1] != "*" {
      guard let whole = Self.number(halves[1]) else { return nil }
      size = whole
    }
    if halves[0] == "*" {
      if size == nil { return nil }
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < size ?? .max else {
      return nil
    }
    range = ByteRange(offset: first, length: last - first + 1)
  }

  private static func number(_ text: Substring) -> Int64? {
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}
