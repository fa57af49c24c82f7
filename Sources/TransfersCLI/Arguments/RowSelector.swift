import TransferModel

/// Ids as people type them: `b12`, `f345`, `c9`, `a77`, and ranges `b12-b15` (both ends included).
struct RowSelector: Hashable, Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case batch = "b"
    case file = "f"
    case chunk = "c"
    case attempt = "a"
  }

  let kind: Kind
  let range: ClosedRange<Int64>

  init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 2, let (kind, first) = Self.id(parts[0]) else { return nil }
    guard let (lastKind, last) = parts.count == 2 ? Self.id(parts[1]) : (kind, first), lastKind == kind, first <= last
    else { return nil }
    self.kind = kind
    range = first...last
  }

  /// As people type it.
  var text: String {
    let first = "\(kind.rawValue)\(range.lowerBound)"
    return range.count == 1 ? first : "\(first)-\(kind.rawValue)\(range.upperBound)"
  }

  private static func id(_ text: Substring) -> (Kind, Int64)? {
    guard let letter = text.first, let kind = Kind(rawValue: String(letter)),
      text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(text.dropFirst()), number > 0
    else { return nil }
    return (kind, number)
  }

  static func parse(_ texts: [String]) throws(CommandFailure) -> [RowSelector] {
    var selectors: [RowSelector] = []
    for text in texts {
      guard let selector = RowSelector(text: text) else {
        throw .usage(
          "\"\(printable(text))\" is no id", remedy: "b12 (batch), f345 (file), c9 (chunk), a77 (attempt) or b12-b15")
      }
      selectors.append(selector)
    }
    return selectors
  }
}
