/// A JSON value (RFC 8259). Objects keep their order; of repeated names the last one counts.
enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  /// A number that is not a 64-bit integer, as written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  struct Member: Sendable, Hashable {
    var name: String
    var value: JSONValue
  }

  subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name == name }?.value
  }
}

/// JSON as text.
enum JSONText {
  static func of(_ value: JSONValue, isASCII: Bool = false) -> String {
    var out = ""
    append(value, isASCII, to: &out)
    return out
  }

  private static func append(_ value: JSONValue, _ isASCII: Bool, to out: inout String) {
    switch value {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .int(let value): out += String(value)
    case .number(let text): out += text
    case .string(let text): out += quoted(text, isASCII: isASCII)
    case .array(let values):
      out += "["
      for (i, value) in values.enumerated() {
        if i > 0 { out += "," }
        append(value, isASCII, to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      for (i, member) in members.enumerated() {
        out += (i > 0 ? "," : "") + quoted(member.name, isASCII: isASCII) + ":"
        append(member.value, isASCII, to: &out)
      }
      out += "}"
    }
  }

  /// With `isASCII` all other characters are escaped, as required in header fields.
  static func quoted(_ text: String, isASCII: Bool = false) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: out += "\\\(scalar)"
      case 0..<0x20, 0x7F: out += escape(UInt16(scalar.value))
      case 0x80... where isASCII: for unit in UTF16.encode(scalar)! { out += escape(unit) }
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }

  /// `\u00e9`
  static func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }
}
