import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The progress mode of this process: decided once, from options, environment and the type of standard error.
struct ProgressLook: Sendable {
  enum Mode: Sendable, Hashable {
    /// Rewritten in place.
    case block
    /// A line from `firstMs` on, `everyMs` apart.
    case lines(firstMs: Int64, everyMs: Int64)
    /// A JSON record every `everyMs`.
    case records(everyMs: Int64)
    case silent
  }

  var mode = Mode.silent
  /// Suppresses notes too.
  var isQuiet = false
  var units = ByteUnits.iec
  var glyphs = ProgressBlock.Glyphs.blocks
  var usesColour = false
  /// For a terminal that does not report its size.
  var columns = 80
  var rows = 24

  /// How often figures are needed, in milliseconds.
  var everyMs: Int64 { mode == .block ? 100 : 1_000 }

  init(mode: Mode = .silent, isQuiet: Bool = false) {
    self.mode = mode
    self.isQuiet = isQuiet
  }

  init(_ options: ProgressOptions, _ common: CommonOptions, _ context: Context) {
    let isTerminal = context.err.isTerminal
    isQuiet = common.quiet
    mode = isQuiet ? .silent : Self.mode(options.progress, isTerminal: isTerminal, context.variable("TERM"))
    units = options.units
    glyphs = options.ascii || !Self.hasBlocks(context.environment) ? .ascii : .blocks
    usesColour = TextStyle.usesColour(common.colour, environment: context.environment, isTerminal: isTerminal)
    columns = context.variable("COLUMNS").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil } ?? 80
    rows = context.variable("LINES").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil } ?? 24
  }

  static func mode(_ choice: ProgressChoice, isTerminal: Bool, _ term: String?) -> Mode {
    switch choice {
    case .auto: isTerminal && term != "dumb" ? .block : .lines(firstMs: 10_000, everyMs: 30_000)
    case .tty: .block
    case .plain(nil): .lines(firstMs: 10_000, everyMs: 30_000)
    case .plain(let everyMs?): .lines(firstMs: everyMs, everyMs: everyMs)
    case .json: .records(everyMs: isTerminal ? 1_000 : 10_000)
    case .none: .silent
    }
  }

  /// The locale uses UTF-8, and the terminal has the glyphs.
  /// Source: POSIX, "Environment Variables", for which variable decides.
  static func hasBlocks(_ environment: [String: String]) -> Bool {
    if ["linux", "dumb"].contains(environment["TERM"]) { return false }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    return locale.uppercased().replacing("-", with: "").contains("UTF8")
  }
}
