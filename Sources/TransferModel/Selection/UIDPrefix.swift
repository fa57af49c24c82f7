/// The typed beginning of a uid: 8 hexadecimal digits or more, with or without dashes.
package struct UIDPrefix: Sendable, Hashable {
  package let lowest, highest: [UInt8]

  /// nil for anything else.
  package init?(text: String) {
    let dashes = text.utf8.enumerated().filter { $0.element == 0x2D }.map(\.offset)
    guard dashes.isEmpty || dashes == Array([8, 13, 18, 23].prefix(dashes.count)) else { return nil }
    let digits = text.unicodeScalars.filter { $0 != "-" }
    guard (8...32).contains(digits.count), digits.allSatisfy({ $0.properties.isASCIIHexDigit }) else { return nil }
    let values = digits.compactMap { Character($0).hexDigitValue }.map(UInt8.init)
    lowest = Self.bytes(values, filler: 0)
    highest = Self.bytes(values, filler: 15)
  }

  /// The time in a UUIDv7: its first 48 bits. Source: RFC 9562, section 5.7
  package var firstMs: Int64 { lowest.prefix(6).reduce(0) { $0 << 8 | Int64($1) } }
  package var lastMs: Int64 { highest.prefix(6).reduce(0) { $0 << 8 | Int64($1) } }

  private static func bytes(_ digits: [UInt8], filler: UInt8) -> [UInt8] {
    let all = digits + Array(repeating: filler, count: 32 - digits.count)
    return stride(from: 0, to: 32, by: 2).map { all[$0] << 4 | all[$0 + 1] }
  }
}
