import StrictYAML

/// Reads nodes of the tree of a profile as plain values.
///
/// Each function returns nil (or a default) after it recorded a fault, and its caller continues: one run shows all
/// faults. `what` is the node's place in the profile, for display.
struct NodeReader {
  let faults: FoundFaults

  func fault(_ mark: SourceMark, _ message: String) { faults.add(mark, message) }

  /// The node as a map; keys that are not among `keys` are faults.
  func map(_ node: YAMLNode, _ what: String, keys: [String]) -> NodeMap? {
    guard let entries = node.entries else {
      fault(node.mark, "\(what) has to be a map, and this is \(node.kind)")
      return nil
    }
    for entry in entries where !keys.contains(entry.key) {
      fault(entry.keyMark, "\(what) has no key \"\(entry.key)\"; it has: \(keys.joined(separator: " "))")
    }
    return NodeMap(node)
  }

  /// The node of a key that has to be there.
  func required(_ key: String, _ map: NodeMap, _ what: String) -> YAMLNode? {
    guard let node = map[key] else {
      fault(map.mark, "\(what) needs the key \"\(key)\"")
      return nil
    }
    return node
  }

  func list(_ node: YAMLNode?, _ what: String) -> [YAMLNode] {
    guard let node else { return [] }
    guard let list = node.list else {
      fault(node.mark, "\(what) has to be a list, and this is \(node.kind)")
      return []
    }
    return list
  }

  func string(_ node: YAMLNode, _ what: String) -> String? {
    guard let text = node.text, node.scalar != .null else {
      fault(node.mark, "\(what) has to be text, and this is \(node.kind)")
      return nil
    }
    return text
  }

  func bool(_ node: YAMLNode?, _ what: String, _ byDefault: Bool) -> Bool {
    guard let node else { return byDefault }
    guard case .bool(let value)? = node.scalar else {
      fault(node.mark, "\(what) has to be true or false, and this is \(node.kind)")
      return byDefault
    }
    return value
  }

  func int(_ node: YAMLNode?, _ what: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let node else { return nil }
    guard case .int(let value)? = node.scalar, range.contains(value) else {
      let most = range.upperBound == .max ? "" : " to \(range.upperBound)"
      fault(node.mark, "\(what) has to be a whole number from \(range.lowerBound)\(most)")
      return nil
    }
    return value
  }

  /// One of the raw values of an enum.
  func word<Word: RawRepresentable & CaseIterable>(_ node: YAMLNode?, _ what: String) -> Word?
  where Word.RawValue == String {
    guard let node else { return nil }
    guard let word = node.text.flatMap(Word.init(rawValue:)) else {
      let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
      fault(node.mark, "\(what) has to be one of: \(all)")
      return nil
    }
    return word
  }

  func words<Word: RawRepresentable & CaseIterable>(_ node: YAMLNode?, _ what: String) -> [Word]
  where Word.RawValue == String {
    list(node, what).compactMap { word($0, "an element of \(what)") }
  }

  /// `4MiB`, `150MB`, `320 KiB`, or a number of bytes.
  func size(_ node: YAMLNode?, _ what: String) -> Int64? {
    guard let node else { return nil }
    // Sums of a few of the largest ones are still numbers of 64 bits.
    guard let value = node.text.flatMap({ Self.quantity($0, Self.sizes) }), (0...1 << 60).contains(value) else {
      fault(node.mark, "\(what) has to be a size: a number of bytes, or one with KiB, MiB, GiB, KB, MB or GB")
      return nil
    }
    return value
  }

  /// `500ms`, `10s`, `30m`, `24h`, `7d`, or a number of seconds. In milliseconds.
  func duration(_ node: YAMLNode?, _ what: String) -> Int64? {
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
