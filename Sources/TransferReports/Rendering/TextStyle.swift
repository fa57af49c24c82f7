/// The current layout of text for people.
package struct TextStyle: Sendable, Hashable {
  /// Maximum number of columns; nil for a pipe or file, where nothing is truncated.
  package var columns: Int?
  package var usesColour: Bool
  /// The locale has only ASCII characters for our own symbols; names stay unchanged.
  package var isASCII: Bool

  /// The separator between figures of a line.
  package var dot: String { isASCII ? " - " : " · " }
  package var arrow: String { isASCII ? "->" : "→" }
  package var times: String { isASCII ? "x" : "×" }
  /// The mark where a name is truncated.
  package var cut: String { isASCII ? "~" : "…" }

  package init(columns: Int?, usesColour: Bool, isASCII: Bool = false) {
    (self.columns, self.usesColour, self.isASCII) = (columns, usesColour, isASCII)
  }

  package static let plain = TextStyle(columns: nil, usesColour: false)

  /// The text as a terminal shows it with this tone.
  func paint(_ text: String, _ tone: Tone?) -> String {
    switch tone {
    case .good: paint(text, .green)
    case .bad: paint(text, .red)
    case .caution: paint(text, .yellow)
    case nil: text
    }
  }

  package enum Colour: Sendable { case bold, red, yellow, green }

  package func paint(_ text: String, _ colour: Colour) -> String {
    guard usesColour, !text.isEmpty else { return text }
    let code =
      switch colour {
      case .bold: "1"
      case .red: "31"
      case .yellow: "33"
      case .green: "32"
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// The tone of a state, an outcome, a result or a verdict; nil if it needs no attention.
  static func tone(of key: String, _ cell: Cell) -> Tone? {
    guard ["state", "outcome", "result", "verdict", "status"].contains(key), case .text(let word) = cell else {
      return nil
    }
    switch word {
    case "done", "ok", "passed": return .good
    case "failed", "fatal", "unknown", "crashed", "mismatch", "partial", "fail", "held": return .bad
    case "waiting", "retry", "interrupted", "paused", "work_left", "timeout", "warn": return .caution
    default: return nil
    }
  }
}
