import TransferModel

/// Text inside of HTML.
enum HTMLText {
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
