import TransferModel

/// Text inside of HTML.
package enum HTMLText {
  /// For content and for attributes in double quotes. Characters that control or reorder text become U+FFFD.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F || [0x22, 0x26, 0x27, 0x3C, 0x3E].contains($0) }) else {
      return text
    }
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      case "\n": out += "\n"
      default: out.unicodeScalars.append(SeparatedRow.isHarmless(scalar) ? scalar : "\u{FFFD}")
      }
    }
    return out
  }

  /// The same without entities, for text that a script inserts into the page.
  static func harmless(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    out.append(contentsOf: text.unicodeScalars.map { $0 == "\n" || SeparatedRow.isHarmless($0) ? $0 : "\u{FFFD}" })
    return String(out)
  }

  /// A figure as shown to people.
  static func cell(_ cell: Cell) -> String {
    switch cell {
    case .time(let ms): "<time datetime=\"\(Timestamp.rfc3339(ms))\">\(escaped(cell.text))</time>"
    default: escaped(cell.text)
    }
  }

  /// Everything but unreserved characters (RFC 3986 section 2.3).
  package static func percentEncoded(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(Unicode.Scalar(byte))
      default: "%" + hexText([byte]).uppercased()
      }
    }.joined()
  }

  /// At most two decimals, for coordinates.
  static func number(_ value: Double) -> String {
    let hundredths = Int(nearest: value * 100)
    let whole = hundredths / 100
    let rest = abs(hundredths % 100)
    let sign = hundredths < 0 && whole == 0 ? "-" : ""
    if rest == 0 { return "\(whole)" }
    return "\(sign)\(whole)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
  }
}
