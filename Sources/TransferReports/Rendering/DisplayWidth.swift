/// The number of terminal columns that text occupies: 2 for wide East Asian characters and emoji, 0 for combining
/// marks. Source: Unicode Standard Annex #11 (East Asian Width) for the ranges, #29 for the boundaries of characters.
package enum DisplayWidth {
  package static func of(_ text: some StringProtocol) -> Int {
    // A fast path: most text is printable ASCII, and values may have megabytes of it.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  package static func width(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.contains("\u{FE0F}") { return 2 }
    return scalars.map(width).max() ?? 0
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
      0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }

  /// The text, or its start and end around `mark` when it is wider than `columns`. Never cuts inside a character.
  package static func cutMiddle(_ text: String, to columns: Int, mark: String = "…") -> String {
    guard of(text) > columns else { return text }
    guard columns > 1 else { return columns == 1 ? mark : "" }
    let head = prefix(text, columns: (columns - 1) / 2)
    let tail = String(prefix(String(text.reversed()), columns: columns - 1 - of(head)).reversed())
    return head + mark + tail
  }

  private static func prefix(_ text: String, columns: Int) -> String {
    var taken = ""
    var used = 0
    for character in text {
      used += width(character)
      if used > columns { break }
      taken.append(character)
    }
    return taken
  }

  /// Filled with spaces to `columns`; longer text stays as it is.
  package static func pad(_ text: String, to columns: Int, alignsRight: Bool) -> String {
    let fill = String(repeating: " ", count: max(0, columns - of(text)))
    return alignsRight ? fill + text : text + fill
  }
}
