import TransferModel

/// The `name=value` parameters after the first word of a field, such as Content-Disposition.
///
/// In a quoted value a backslash is literal, as browsers send it, unless it escapes a quote within the value, as older
/// clients do; `%22`, `%0D` and `%0A` are decoded to the characters that browsers encode so. Source: RFC 7578 section
/// 4.2, HTML standard section "Multipart form data".
struct FieldParameters {
  private var values: [String: [UInt8]] = [:]

  init(_ field: String) {
    var rest = Array(field.utf8)[...]
    rest = rest.drop { $0 != 0x3B }
    while rest.popFirst() != nil {
      let name = rest.prefix { $0 != 0x3D && $0 != 0x3B }
      rest = rest.dropFirst(name.count)
      guard rest.first == 0x3D else { continue }
      rest = rest.dropFirst()
      let value = Self.value(&rest)
      let key = String(decoding: name, as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
      if values[key] == nil { values[key] = value }
    }
  }

  subscript(name: String) -> [UInt8]? { values[name] }

  /// Reads a value up to the semicolon after it.
  private static func value(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    guard rest.first == 0x22 else {
      let token = rest.prefix { $0 != 0x3B }
      rest = rest.dropFirst(token.count)
      return Array(token.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed())
    }
    rest = rest.dropFirst()
    var out: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == 0x22 { break }
      if byte == 0x5C, rest.first == 0x22, !isEnd(rest.dropFirst()) {
        out.append(0x22)
        rest = rest.dropFirst()
      } else {
        out.append(byte)
      }
    }
    rest = rest.drop { $0 != 0x3B }
    return decoded(out)
  }

  /// Whether a quote before these bytes would end the value.
  private static func isEnd(_ rest: ArraySlice<UInt8>) -> Bool {
    guard let next = rest.first(where: { $0 != 0x20 && $0 != 0x09 }) else { return true }
    return next == 0x3B
  }

  private static func decoded(_ value: [UInt8]) -> [UInt8] {
    let escapes: [[UInt8]: UInt8] = [Array("%22".utf8): 0x22, Array("%0D".utf8): 0x0D, Array("%0A".utf8): 0x0A]
    var (out, at) = ([UInt8](), 0)
    while at < value.count {
      if value[at] == 0x25, let byte = escapes[Array(value[at...].prefix(3))] {
        out.append(byte)
        at += 3
      } else {
        out.append(value[at])
        at += 1
      }
    }
    return out
  }
}
