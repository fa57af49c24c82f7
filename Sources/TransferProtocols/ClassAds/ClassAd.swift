public import TransferModel

/// A record of HTCondor: names with values, in order. Names are not case-sensitive.
///
/// Source: HTCondor 25 manual, "ClassAds: Old and New"; the grammar is that of the "new" syntax.
public struct ClassAd: Sendable, Hashable {
  /// The value of a name. Expressions are kept apart and never evaluated.
  public indirect enum Value: Sendable, Hashable {
    /// Bytes without NUL, as in HTCondor: a path is such a value.
    case string([UInt8])
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case undefined
    case ad(ClassAd)
    case list([Value])
    /// Any expression other than a literal.
    case expression
  }

  public private(set) var names: [String] = []
  public private(set) var values: [Value] = []
  /// Indexed by lower-case names, so that an ad with many attributes takes time proportional to its length.
  private var places: [String: Int] = [:]

  public init() {}

  public init(_ members: [(String, Value?)]) {
    for (name, value) in members { self[name] = value }
  }

  /// Setting a name again replaces its value; nil changes nothing.
  public subscript(_ name: String) -> Value? {
    get { places[Self.lower(name)].map { values[$0] } }
    set {
      guard let newValue else { return }
      if let place = places[Self.lower(name)] { return values[place] = newValue }
      places[Self.lower(name)] = names.count
      names.append(name)
      values.append(newValue)
    }
  }

  /// nil unless it is a string.
  public func string(_ name: String) -> NameBytes? {
    if case .string(let bytes)? = self[name] { NameBytes(bytes) } else { nil }
  }

  /// Only ASCII letters are compared without regard to case.
  private static func lower(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension ClassAd.Value {
  public static func string(_ text: String) -> ClassAd.Value { .string(Array(text.utf8)) }
}

// MARK: - Writing

extension ClassAd {
  /// The ad in the "new" syntax, on one line without a line end. ``ClassAdReader`` can read it again.
  public var newText: [UInt8] {
    var text: [UInt8] = [0x5B]
    for (name, value) in zip(names, values) { text += Array(" \(name) = ".utf8) + value.text + [0x3B] }
    return text + [0x20, 0x5D]
  }

  /// The ad in the "long" syntax: one `Name = value` per line.
  public var longText: [UInt8] {
    zip(names, values).flatMap { Array("\($0) = ".utf8) + $1.text + [0x0A] }
  }
}

extension ClassAd.Value {
  fileprivate var text: [UInt8] {
    switch self {
    case .string(let bytes): [0x22] + bytes.flatMap(Self.escaped) + [0x22]
    case .integer(let number): Array(String(number).utf8)
    case .real(let number): Array((number.isFinite ? "\(number)" : "undefined").utf8)
    case .boolean(let isTrue): Array((isTrue ? "true" : "false").utf8)
    case .undefined, .expression: Array("undefined".utf8)
    case .ad(let ad): ad.newText
    case .list(let values): [0x7B, 0x20] + Array(values.map(\.text).joined(separator: [0x2C, 0x20])) + [0x20, 0x7D]
    }
  }

  /// Writes control characters as three octal digits; NUL cannot be represented, and is left out.
  private static func escaped(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case 0: return []
    case 0x22, 0x5C: return [0x5C, byte]
    case 0x01..<0x20, 0x7F: return [0x5C, 0x30 + (byte >> 6), 0x30 + (byte >> 3 & 7), 0x30 + (byte & 7)]
    default: return [byte]
    }
  }
}
