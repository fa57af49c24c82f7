/// Classifies parts of an answer's text: names chosen by a program, or values.
struct TextPlaces {
  private let bytes: [UInt8]
  /// For each byte of JSON, whether it belongs to a string value rather than a member name; empty for other text.
  private let isValueString: [Bool]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let first = bytes.first { $0 > 0x20 }
    isValueString = first == 0x7B || first == 0x5B ? Self.valueStrings(bytes) : []
  }

  static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
    default: false
    }
  }

  /// A whole word that is not a name.
  func isValue(_ range: Range<Int>) -> Bool {
    let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : 0x20
    let after = range.upperBound < bytes.count ? bytes[range.upperBound] : 0x20
    guard !Self.isWord(before), !Self.isWord(after), after != 0x3D else { return false }
    guard isValueString.isEmpty else { return isValueString[range.lowerBound] }
    // `<Session>`, `</Session>`, `<Session a="b">`
    let isTag = before == 0x3C || (before == 0x2F && range.lowerBound > 1 && bytes[range.lowerBound - 2] == 0x3C)
    return !isTag
  }

  private static func valueStrings(_ bytes: [UInt8]) -> [Bool] {
    var found = [Bool](repeating: false, count: bytes.count)
    var i = 0
    while i < bytes.count {
      guard bytes[i] == 0x22 else {
        i += 1
        continue
      }
      let start = i + 1
      i = start
      while i < bytes.count, bytes[i] != 0x22 { i += bytes[i] == 0x5C ? 2 : 1 }
      let end = min(i, bytes.count)
      i = end + 1
      var next = i
      while next < bytes.count, bytes[next] <= 0x20 { next += 1 }
      if next >= bytes.count || bytes[next] != 0x3A { for at in start..<max(start, end) { found[at] = true } }
    }
    return found
  }
}
