import TransferReports

/// The block at the bottom of a terminal, and the escape sequences that update it: cursor up, erase to the end of the
/// line. The cursor stays on the line below the block and is never hidden, so that a killed or stopped process leaves a
/// usable terminal. Within a frame, and only there, lines are clipped instead of wrapped, so that the layout survives a
/// terminal that just became narrower, or that considers a character wider than we do. A value; it writes nothing
/// itself.
struct ProgressScreen: Sendable {
  private var shown: [String] = []
  private var widths: [Int] = []
  private var columns = 0

  var isEmpty: Bool { shown.isEmpty }

  /// The sequence that replaces the previous block; nil if nothing changed.
  mutating func frame(_ lines: [String], columns: Int) -> String? {
    guard lines != shown else { return nil }
    return text(lines, above: "", columns)
  }

  /// Prints `text` (with its newline) permanently, and the block below it.
  mutating func above(_ text: String, columns: Int) -> String {
    shown.isEmpty ? text : self.text(shown, above: text, columns)
  }

  /// Removes the block.
  mutating func clear(columns: Int) -> String { shown.isEmpty ? "" : text([], above: "", columns) }

  /// Other output was written meanwhile: the next frame begins at the cursor.
  mutating func forget() { (shown, widths) = ([], []) }

  private mutating func text(_ lines: [String], above: String, _ columns: Int) -> String {
    let height = heightNow(columns)
    var out = "\r" + (height > 0 ? "\u{1B}[\(height)A" : "")
    // Lines that the terminal has wrapped must not be overwritten: it would join them when it becomes wider again.
    if !above.isEmpty || columns != self.columns { out += "\u{1B}[J" }
    out += above + "\u{1B}[?7l"
    for line in lines { out += line + "\u{1B}[K\n" }
    // Erases text that the terminal echoed below, and lines that the block no longer has.
    out += "\u{1B}[J\u{1B}[?7h"
    shown = lines
    widths = lines.map { Self.width($0) }
    self.columns = columns
    return out
  }

  /// Terminal lines that the block occupies now: a terminal that became narrower has wrapped its lines.
  private func heightNow(_ columns: Int) -> Int {
    widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
  }

  /// The text without colours, which are `ESC [ … m`.
  private static func width(_ line: String) -> Int {
    var plain = ""
    var isEscape = false
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if !isEscape { plain.append(character) }
      if isEscape, character == "m" { isEscape = false }
    }
    return DisplayWidth.of(plain)
  }
}
