import ArgumentParser
import TransferReports

enum ColourChoice: String, ExpressibleByArgument, CaseIterable, Sendable { case auto, always, never }

extension TextStyle {
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
