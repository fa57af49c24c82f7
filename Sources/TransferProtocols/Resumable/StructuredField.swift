/// Structured field values (RFC 9651), as far as resumable uploads use them. A value of another type counts as missing.
enum StructuredField {
  /// `?1` or `?0`.
  static func boolean(_ text: String?) -> Bool? {
    switch text.flatMap(item) {
    case "?1": true
    case "?0": false
    default: nil
    }
  }

  /// A non-negative integer of at most 15 digits.
  static func integer(_ text: String?) -> Int64? { text.flatMap(item).flatMap(number) }

  /// A dictionary of integers; nil for anything else. Members of other types are nil; of a repeated name the last value
  /// counts.
  static func dictionary(_ text: String?) -> [String: Int64?]? {
    guard let text else { return nil }
    var members: [String: Int64?] = [:]
    for member in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pair = trimmed(member).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = pair.first, isKey(name) else { return nil }
      members[String(name)] = .some(pair.count == 2 ? item(String(pair[1])).flatMap(number) : nil)
    }
    return members
  }

  /// Without its parameters.
  private static func item(_ text: String) -> Substring? {
    let bare = trimmed(text.prefix { $0 != ";" })
    return bare.isEmpty ? nil : bare
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }

  private static func isKey(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, (0x61...0x7A).contains(first) || first == 0x2A else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: true
      default: false
      }
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return start[...last]
  }

  private static func trimmed(_ text: some StringProtocol) -> Substring { trimmed(Substring(text)) }
}
