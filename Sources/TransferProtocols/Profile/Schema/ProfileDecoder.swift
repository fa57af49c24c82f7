import StrictYAML

/// Converts the tree of a profile to a ``Profile`` and collects all faults.
///
/// Each function returns nil (or a default) after it recorded a fault, and the others continue: one run shows all
/// faults.
struct ProfileDecoder {
  private(set) var faults: [YAMLFault] = []
  /// The names that templates may use; collected before the first one is compiled.
  var names = ProfileNames()
  /// A chunk is always the whole file.
  var isSingle = false
  /// Rules are checked after all steps are known; faults are reported at the position of the rule.
  var placedRules: [PlacedRule] = []

  struct PlacedRule {
    var rule: ProfileRule
    /// Its location in the profile, for display.
    var what: String
    /// nil for a common rule, and one of `auth.refresh`.
    var step: StepName?
    var mark: SourceMark
  }

  /// In text order.
  var sortedFaults: [YAMLFault] { Array(faults.sorted { $0.mark < $1.mark }.prefix(ProfileFaults.most)) }

  mutating func fault(_ mark: SourceMark, _ message: String) {
    let fault = YAMLFault(mark, message)
    if !faults.contains(fault) { faults.append(fault) }
  }

  /// A map with a known set of keys.
  struct Map {
    let mark: SourceMark
    private let entries: [String: YAMLNode]

    init(_ node: YAMLNode) {
      mark = node.mark
      entries = Dictionary(node.entries?.map { ($0.key, $0.value) } ?? [], uniquingKeysWith: { first, _ in first })
    }

    /// nil also for a key with `null`: it counts as missing.
    subscript(_ key: String) -> YAMLNode? {
      guard let node = entries[key], node.scalar != .null else { return nil }
      return node
    }
  }

  /// The node as a map; keys that are not among `keys` are faults.
  mutating func map(_ node: YAMLNode, _ what: String, keys: [String]) -> Map? {
    guard let entries = node.entries else {
      fault(node.mark, "\(what) has to be a map, and this is \(node.kind)")
      return nil
    }
    for entry in entries where !keys.contains(entry.key) {
      fault(entry.keyMark, "\(what) has no key \"\(entry.key)\"; it has: \(keys.joined(separator: " "))")
    }
    return Map(node)
  }

  mutating func list(_ node: YAMLNode?, _ what: String) -> [YAMLNode] {
    guard let node else { return [] }
    guard let list = node.list else {
      fault(node.mark, "\(what) has to be a list, and this is \(node.kind)")
      return []
    }
    return list
  }

  mutating func string(_ node: YAMLNode, _ what: String) -> String? {
    guard let text = node.text, node.scalar != .null else {
      fault(node.mark, "\(what) has to be text, and this is \(node.kind)")
      return nil
    }
    return text
  }

  mutating func bool(_ node: YAMLNode?, _ what: String, _ byDefault: Bool) -> Bool {
    guard let node else { return byDefault }
    guard case .bool(let value)? = node.scalar else {
      fault(node.mark, "\(what) has to be true or false, and this is \(node.kind)")
      return byDefault
    }
    return value
  }

  mutating func int(_ node: YAMLNode?, _ what: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let node else { return nil }
    guard case .int(let value)? = node.scalar, range.contains(value) else {
      let most = range.upperBound == .max ? "" : " to \(range.upperBound)"
      fault(node.mark, "\(what) has to be a whole number from \(range.lowerBound)\(most)")
      return nil
    }
    return value
  }

  /// One of the raw values of an enum.
  mutating func word<Word: RawRepresentable & CaseIterable>(_ node: YAMLNode?, _ what: String) -> Word?
  where Word.RawValue == String {
    guard let node else { return nil }
    guard let word = node.text.flatMap(Word.init(rawValue:)) else {
      let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
      fault(node.mark, "\(what) has to be one of: \(all)")
      return nil
    }
    return word
  }

  mutating func words<Word: RawRepresentable & CaseIterable>(_ node: YAMLNode?, _ what: String) -> [Word]
  where Word.RawValue == String {
    list(node, what).compactMap { word($0, "an element of \(what)") }
  }

  /// `4MiB`, `150MB`, `320 KiB`, or a number of bytes.
  mutating func size(_ node: YAMLNode?, _ what: String) -> Int64? {
    guard let node else { return nil }
    // Sums of a few of the largest ones are still numbers of 64 bits.
    guard let value = node.text.flatMap({ Self.quantity($0, Self.sizes) }), (0...1 << 60).contains(value) else {
      fault(node.mark, "\(what) has to be a size: a number of bytes, or one with KiB, MiB, GiB, KB, MB or GB")
      return nil
    }
    return value
  }

  /// `500ms`, `10s`, `30m`, `24h`, `7d`, or a number of seconds. In milliseconds.
  mutating func duration(_ node: YAMLNode?, _ what: String) -> Int64? {
    guard let node else { return nil }
    guard let value = node.text.flatMap({ Self.quantity($0, Self.times) }), value <= 366 * 86_400_000 else {
      fault(node.mark, "\(what) has to be a time: a number of seconds, or one with ms, s, m, h or d, up to 366d")
      return nil
    }
    return value
  }

  private static let sizes: [(String, Int64)] = [
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("KB", 1_000), ("MB", 1_000_000),
    ("GB", 1_000_000_000), ("TB", 1_000_000_000_000), ("B", 1), ("", 1),
  ]
  private static let times: [(String, Int64)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1_000),
  ]

  private static func quantity(_ text: String, _ units: [(String, Int64)]) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text[digits.endIndex...].drop { $0 == " " }
    guard let number = Int64(digits), let factor = units.first(where: { $0.0 == unit })?.1 else { return nil }
    let (product, isOverflow) = number.multipliedReportingOverflow(by: factor)
    return isOverflow ? nil : product
  }
}
