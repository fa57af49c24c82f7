import ArgumentParser

/// The value of `--progress`.
enum ProgressChoice: Sendable, Hashable, ExpressibleByArgument {
  /// A block on a terminal, else lines.
  case auto
  case tty
  /// Periodic lines; nil for the usual times.
  case plain(everyMs: Int64?)
  case json
  case none

  init?(argument: String) {
    switch argument {
    case "auto": self = .auto
    case "tty": self = .tty
    case "plain": self = .plain(everyMs: nil)
    case "json": self = .json
    case "none": self = .none
    default:
      guard argument.hasPrefix("plain:"), let span = TimeSpan(text: String(argument.dropFirst(6))), span.ms >= 100
      else { return nil }
      self = .plain(everyMs: span.ms)
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .auto: "auto"
    case .tty: "tty"
    case .plain: "plain"
    case .json: "json"
    case .none: "none"
    }
  }

  static var allValueStrings: [String] { ["auto", "tty", "plain", "plain:5s", "json", "none"] }
}

extension TimeSpan: ExpressibleByArgument {
  init(ms: Int64) { self.ms = ms }

  init?(argument: String) { self.init(text: argument) }

  /// As it is typed: `30s`.
  var defaultValueDescription: String { ms % 1000 == 0 ? "\(ms / 1000)s" : "\(ms)ms" }
}
