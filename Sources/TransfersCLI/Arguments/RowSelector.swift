import Transfers
import TransferModel

/// IDs as people type them: `b12`, `f345`, `c9`, `a77`, `s4`, and ranges `b12-b15` (both ends included).
struct RowSelector: Hashable, Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case batch = "b"
    case file = "f"
    case chunk = "c"
    case attempt = "a"
    case session = "s"
  }

  let kind: Kind
  let range: ClosedRange<Int64>

  init(_ kind: Kind, _ range: ClosedRange<Int64>) {
    self.kind = kind
    self.range = range
  }

  init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 2, let (kind, first) = Self.id(parts[0]) else { return nil }
    guard let (lastKind, last) = parts.count == 2 ? Self.id(parts[1]) : (kind, first), lastKind == kind, first <= last
    else { return nil }
    self.init(kind, first...last)
  }

  /// As people type it.
  var text: String {
    let first = "\(kind.rawValue)\(range.lowerBound)"
    return range.count == 1 ? first : "\(first)-\(kind.rawValue)\(range.upperBound)"
  }

  /// These rows by their numbers.
  var filter: RowFilter {
    var filter = RowFilter()
    switch kind {
    case .batch: filter.batches = [range]
    case .file: filter.files = [range]
    case .chunk: filter.chunks = [range]
    case .attempt: filter.attempts = [range]
    case .session: filter.sessions = [range]
    }
    return filter
  }

  private static func id(_ text: Substring) -> (Kind, Int64)? {
    guard let letter = text.first, let kind = Kind(rawValue: String(letter)),
      text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(text.dropFirst()), number > 0
    else { return nil }
    return (kind, number)
  }

  /// Refuses invalid IDs before a ledger is opened.
  static func check(_ texts: [String]) throws(CommandFailure) {
    for text in texts where RowSelector(text: text) == nil && UIDPrefix(text: text) == nil {
      throw .usage(
        "\"\(shown(text))\" is not an ID",
        remedy: "b12 (batch), f345 (file), c9 (chunk), a77 (attempt), s4 (session, for gc) or b12-b15")
    }
  }

  /// Parses IDs and uid prefixes; the latter are looked up among batches and files, and attempts if requested.
  static func parse(
    _ texts: [String], _ ledger: OpenStore, findsAttempts: Bool = false
  ) throws(CommandFailure) -> [RowSelector] {
    try check(texts)
    var selectors: [RowSelector] = []
    for text in texts {
      if let selector = RowSelector(text: text) {
        selectors.append(selector)
      } else if let prefix = UIDPrefix(text: text) {
        selectors.append(try find(prefix, text, ledger, findsAttempts))
      }
    }
    return selectors
  }

  private static func find(
    _ prefix: UIDPrefix, _ text: String, _ ledger: OpenStore, _ findsAttempts: Bool
  ) throws(CommandFailure) -> RowSelector {
    let found = try LedgerAccess.read(ledger) { try $0.rows(withUID: prefix, limit: 5, findsAttempts: findsAttempts) }
    let ids = found.map { RowSelector(text: $0) }
    guard let first = ids.first, let selector = first else {
      throw .usage("the uid \(shown(text))… does not exist in this ledger", remedy: "transfers list --json shows uids")
    }
    guard found.count == 1 else {
      let some = found.prefix(4).joined(separator: ", ") + (found.count > 4 ? ", …" : "")
      throw .usage("the uid prefix \(shown(text))… is ambiguous: \(some)", remedy: "give more digits, or an ID")
    }
    return selector
  }

  /// An argument that may be anything, for one line.
  private static func shown(_ text: String) -> String { NameBytes(EscapedArgument.decode(text)).description }
}
