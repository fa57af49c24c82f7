import TransferReports

/// How text for people is laid out at this moment.
struct TextStyle: Sendable, Hashable {
  /// Columns to fit into; nil for a pipe or file, where nothing is cut.
  var columns: Int?
  var usesColour: Bool
  /// The locale has no characters beyond ASCII for our own signs; names stay what they are.
  var isASCII = false

  /// Between the figures of a line.
  var dot: String { isASCII ? " - " : " · " }
  var arrow: String { isASCII ? "->" : "→" }
  var times: String { isASCII ? "x" : "×" }
  /// Where a name is cut.
  var cut: String { isASCII ? "~" : "…" }

  static let plain = TextStyle(columns: nil, usesColour: false)

  enum Colour: Sendable { case bold, red, yellow, green }

  /// Colour repeats what the words say; it is never the only carrier.
  func paint(_ text: String, _ colour: Colour) -> String {
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

  /// The colour of a state of a row; nil for states that need no attention.
  static func colour(ofState state: String) -> Colour? {
    switch state {
    case "done", "ok": .green
    case "failed", "fatal", "unknown", "crashed", "mismatch": .red
    case "waiting", "retry", "interrupted", "paused": .yellow
    default: nil
    }
  }

  /// `--color`, then `NO_COLOR`, then `FORCE_COLOR` and `CLICOLOR_FORCE`, then whether it is a terminal.
  static func usesColour(_ choice: ColourChoice, environment: [String: String], isTerminal: Bool) -> Bool {
    func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
    switch choice {
    case .always: return true
    case .never: return false
    case .auto:
      if isSet("NO_COLOR") { return false }
      if isSet("FORCE_COLOR") || isSet("CLICOLOR_FORCE") { return true }
      return isTerminal && environment["TERM"] != "dumb"
    }
  }
}
