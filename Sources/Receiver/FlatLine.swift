/// A JSON object of strings and integers on one line, and nothing deeper: all that the record needs.
struct FlatLine {
  enum Value: Equatable {
    case text(String)
    case number(Int64)

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Int64? { if case .number(let number) = self { number } else { nil } }
  }

  private var out: [UInt8]

  init() {
    out = []
    out.reserveCapacity(256)
    out.append(0x7B)
  }

  /// Ends the object and returns it with its newline.
  consuming func finished() -> [UInt8] {
    out.append(0x7D)
    out.append(0x0A)
    return out
  }

  mutating func add(_ key: String, _ number: Int64) {
    addKey(key)
    out += String(number).utf8
  }

  mutating func add(_ key: String, _ text: String) {
    addKey(key)
    appendJSONString(text, to: &out)
  }

  private mutating func addKey(_ key: String) {
    if out.count > 1 { out.append(0x2C) }
    out.append(0x22)
    out += key.utf8
    out.append(0x22)
    out.append(0x3A)
  }

  /// Reads what ``add(_:_:)-(String,Int64)`` wrote; nil for anything else.
  static func read(_ line: ArraySlice<UInt8>) -> [String: Value]? {
    guard line.first == 0x7B, line.last == 0x7D else { return nil }
    var rest = line.dropFirst().dropLast()
    var fields: [String: Value] = [:]
    while !rest.isEmpty {
      if !fields.isEmpty {
        guard rest.popFirst() == 0x2C else { return nil }
      }
      guard let key = string(&rest), rest.popFirst() == 0x3A, let value = value(&rest) else { return nil }
      guard fields.updateValue(value, forKey: key) == nil else { return nil }
    }
    return fields
  }

  private static func value(_ rest: inout ArraySlice<UInt8>) -> Value? {
    if rest.first == 0x22 { return string(&rest).map(Value.text) }
    let digits = rest.prefix { $0 == 0x2D || (0x30...0x39).contains($0) }
    rest = rest.dropFirst(digits.count)
    return Int64(String(decoding: digits, as: UTF8.self)).map(Value.number)
  }

  private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.popFirst() == 0x22 else { return nil }
    var out: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case 0x22: return String(validating: out, as: UTF8.self)
      case 0x5C:
        guard let escaped = escape(&rest) else { return nil }
        out.append(escaped)
      default: out.append(byte)
      }
    }
    return nil
  }

  private static func escape(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
    guard let byte = rest.popFirst() else { return nil }
    if byte == 0x22 || byte == 0x5C { return byte }
    guard byte == 0x75, rest.count >= 4 else { return nil }
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

/// Adds text as a JSON string, its quotes included.
func appendJSONString(_ text: String, to out: inout [UInt8]) {
  out.append(0x22)
  for byte in text.utf8 {
    switch byte {
    case 0x22, 0x5C:
      out.append(0x5C)
      out.append(byte)
    case 0..<0x20: out += Array("\\u00".utf8) + Array((byte < 16 ? "0" : "").utf8) + String(byte, radix: 16).utf8
    default: out.append(byte)
    }
  }
  out.append(0x22)
}
