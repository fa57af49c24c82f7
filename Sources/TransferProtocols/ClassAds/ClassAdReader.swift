/// Reads consecutive ClassAds in the "new" syntax, with comments and blanks between them.
///
/// Literals, lists and ads are read as values. Any other expression is skipped by matching its brackets and strings,
/// and becomes ``ClassAd/Value/expression``: its meaning depends on ads that are not available here. At most
/// ``deepest`` nested levels.
///
/// Source: HTCondor 25, `src/classad/lexer.cpp`: adjacent strings are one, `\ooo` is octal, NUL cannot be in a string.
public struct ClassAdReader {
  public static let deepest = 64

  private let bytes: [UInt8]
  private var index = 0
  /// The position after the last complete ad.
  public private(set) var end = 0

  /// Everything was read; after a fault: the text ends within an ad.
  public var isAtEnd: Bool { index >= bytes.count }

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The fault, and the line on which it was detected, from 1.
  public struct Fault: Error, Sendable, Hashable {
    public var line: Int
    public var cause: String
  }

  /// The next ad; nil at the end.
  public mutating func next() throws(Fault) -> ClassAd? {
    try skipBlanks()
    guard index < bytes.count else { return nil }
    let ad = try ad(depth: 1)
    end = index
    return ad
  }

  // MARK: - Grammar

  private mutating func ad(depth: Int) throws(Fault) -> ClassAd {
    guard depth <= Self.deepest else { throw fault("it is nested too deeply") }
    try expect(0x5B, "a ClassAd begins with [")
    var ad = ClassAd()
    while true {
      try skipBlanks()
      switch peek {
      case 0x3B: index += 1
      case 0x5D:
        index += 1
        return ad
      default:
        let name = try name()
        try skipBlanks()
        try expect(0x3D, "a name is followed by =")
        ad[name] = try value(depth: depth, ends: [0x3B, 0x5D])
      }
    }
  }

  private mutating func name() throws(Fault) -> String {
    let isQuoted = peek == 0x27
    let text = isQuoted ? try quoted(0x27) : word()
    let isName = isQuoted || !(text.first.map { (0x30...0x39).contains($0) } ?? true)
    guard isName, !text.isEmpty, let name = String(validating: text, as: UTF8.self) else {
      throw fault(peek == nil ? Self.cut : "a name of an attribute is expected")
    }
    return name
  }

  /// A value that ends at one of `ends`, which is not consumed.
  private mutating func value(depth: Int, ends: [UInt8]) throws(Fault) -> ClassAd.Value {
    try skipBlanks()
    let start = index
    let value = try literal(depth: depth)
    try skipBlanks()
    guard let byte = peek else { throw fault(Self.cut) }
    if let value, ends.contains(byte) { return value }
    index = start
    try skipExpression(to: ends)
    return .expression
  }

  /// nil at the start of an expression.
  private mutating func literal(depth: Int) throws(Fault) -> ClassAd.Value? {
    switch peek {
    case 0x22: return .string(try strings())
    case 0x5B: return .ad(try ad(depth: depth + 1))
    case 0x7B: return .list(try list(depth: depth + 1))
    default: return Self.plain(word())
    }
  }

  private mutating func list(depth: Int) throws(Fault) -> [ClassAd.Value] {
    guard depth <= Self.deepest else { throw fault("it is nested too deeply") }
    index += 1
    var values: [ClassAd.Value] = []
    try skipBlanks()
    if peek == 0x7D {
      index += 1
      return values
    }
    while true {
      values.append(try value(depth: depth, ends: [0x2C, 0x7D]))
      defer { index += 1 }
      if peek == 0x7D { return values }
    }
  }

  /// Adjacent strings are joined.
  private mutating func strings() throws(Fault) -> [UInt8] {
    var text: [UInt8] = []
    while peek == 0x22 {
      text += try quoted(0x22)
      try skipBlanks()
    }
    return text
  }

  private mutating func quoted(_ quote: UInt8) throws(Fault) -> [UInt8] {
    index += 1
    var text: [UInt8] = []
    while let byte = peek {
      index += 1
      if byte == quote { return text }
      text.append(byte == 0x5C ? try escape() : byte)
      guard text.last != 0 else { throw fault("a string has a NUL in it") }
    }
    throw fault("a string has no end")
  }

  private mutating func escape() throws(Fault) -> UInt8 {
    guard let byte = peek else { throw fault("a string has no end") }
    index += 1
    switch byte {
    case 0x61: return 0x07
    case 0x62: return 0x08
    case 0x74: return 0x09
    case 0x6E: return 0x0A
    case 0x66: return 0x0C
    case 0x72: return 0x0D
    case 0x76: return 0x0B
    case 0x22, 0x27, 0x3F, 0x5C: return byte
    case 0x30...0x37:
      // Three digits if the first is small enough.
      var (number, digits) = (byte - 0x30, 1)
      while digits < (byte <= 0x33 ? 3 : 2), let next = peek, (0x30...0x37).contains(next) {
        number = number << 3 | (next - 0x30)
        (digits, index) = (digits + 1, index + 1)
      }
      return number
    default: throw fault("a string has an escape that ClassAds do not have")
    }
  }

  /// Skips to one of `ends` outside of brackets and strings.
  private mutating func skipExpression(to ends: [UInt8]) throws(Fault) {
    var closers: [UInt8] = []
    while true {
      try skipBlanks()
      guard let byte = peek else { throw fault(Self.cut) }
      if closers.isEmpty, ends.contains(byte) { return }
      switch byte {
      case 0x22, 0x27: _ = try quoted(byte)
      case 0x28, 0x5B, 0x7B:
        closers.append(byte == 0x28 ? 0x29 : byte + 2)
        index += 1
      case 0x29, 0x5D, 0x7D:
        guard closers.popLast() == byte else { throw fault("brackets do not match") }
        index += 1
      default: index += 1
      }
    }
  }

  // MARK: - Words

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Letters, digits and the other characters of numbers.
  private mutating func word() -> [UInt8] {
    let start = index
    while let byte = peek {
      let isLetter = (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F || (0x30...0x39).contains(byte)
      // A sign begins a number, or is part of its exponent.
      let isSign = (byte == 0x2D || byte == 0x2B) && (index == start || bytes[index - 1] | 0x20 == 0x65)
      guard isLetter || byte == 0x2E || isSign else { break }
      index += 1
    }
    return Array(bytes[start..<index])
  }

  private static func plain(_ word: [UInt8]) -> ClassAd.Value? {
    let text = String(decoding: word, as: UTF8.self).lowercased()
    switch text {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "undefined": return .undefined
    default: break
    }
    guard let first = word.first(where: { $0 != 0x2D && $0 != 0x2B }), (0x30...0x39).contains(first) || first == 0x2E
    else { return nil }
    if let number = Int64(text) { return .integer(number) }
    return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
  }

  /// Skips blanks and comments.
  private mutating func skipBlanks() throws(Fault) {
    while let byte = peek {
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        index += 1
      } else if byte == 0x2F, index + 1 < bytes.count, bytes[index + 1] == 0x2F {
        while let next = peek, next != 0x0A { index += 1 }
      } else if byte == 0x2F, index + 1 < bytes.count, bytes[index + 1] == 0x2A {
        try skipComment()
      } else {
        return
      }
    }
  }

  private mutating func skipComment() throws(Fault) {
    index += 2
    while index + 1 < bytes.count {
      if bytes[index] == 0x2A, bytes[index + 1] == 0x2F {
        index += 2
        return
      }
      index += 1
    }
    index = bytes.count
    throw fault("a comment has no end")
  }

  private mutating func expect(_ byte: UInt8, _ cause: String) throws(Fault) {
    guard peek == byte else { throw fault(peek == nil ? Self.cut : cause) }
    index += 1
  }

  private static let cut = "it ends within a ClassAd"

  private func fault(_ cause: String) -> Fault {
    Fault(line: 1 + bytes[..<index].count { $0 == 0x0A }, cause: cause)
  }
}
