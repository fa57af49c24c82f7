import ArgumentParser
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers top`: the current activity, full screen.
struct TopCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Show the current activity full screen, with keys for pause, resume, cancel and retry.",
    discussion: """
      Works in any terminal, also while an engine runs: totals, the rate of the last ten minutes, unfinished files \
      with their chunks, hosts with their failed requests, the last errors. Reads the ledger twice a second, and only \
      when it has changed. Keys act like the commands of the same name (? lists them); q quits and restores the \
      terminal. --once prints one screen without keys, which is also the output for a pipe and TERM=dumb.

      Examples:
        transfers top --last
        transfers top --once --state failed
      """)

  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @Flag(help: "Print one screen and exit.") var once = false
  @Flag(help: "Only ASCII.") var ascii = false
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    guard common.format == .table, common.columns == nil else {
      throw .usage("top is for terminals; status prints the same for programs", remedy: "transfers status --json")
    }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    let filter = try selection.filter(ledger, context)
    let isDumb = context.variable("TERM") == "dumb" || !context.out.isTerminal || isatty(0) != 1
    guard !once, !isDumb, common.output == nil else { return try print(ledger, filter, context) }
    guard TerminalModes.enter(0, context.out.descriptor) else { return try print(ledger, filter, context) }
    defer { TerminalModes.restore() }
    try watch(ledger, filter, context)
  }

  private func style(_ context: Context) -> TextStyle {
    TextStyle(
      columns: nil,
      usesColour: TextStyle.usesColour(
        common.colour, environment: context.environment, isTerminal: context.out.isTerminal),
      isASCII: ascii || !ProgressLook.hasBlocks(context.environment))
  }

  private func frame(
    _ reading: TopReading, _ state: TopState, _ path: String, _ context: Context, height: Int?
  ) -> TopFrame {
    let columns = context.out.windowSize.columns
    let told = context.variable("COLUMNS").flatMap(Int.init) ?? 0
    return TopFrame(
      reading: reading, state: state, name: printable(path), nowMs: context.clock.wallMs, style: style(context),
      columns: columns > 0 ? columns : told > 0 ? told : TopFrame.usualColumns, height: height,
      absence: Absence(selection))
  }

  private func print(_ ledger: OpenStore, _ filter: RowFilter, _ context: Context) throws(CommandFailure) {
    let reading = try LedgerAccess.read(ledger) { try TopReading($0, filter, context.clock) }
    var lines = frame(reading, TopState(), ledger.path, context, height: nil).lines
    // The key line is omitted because there are no keys.
    lines.removeLast()
    context.out.write(lines.joined(separator: "\n") + "\n")
    context.out.markComplete()
  }

  private func watch(_ ledger: OpenStore, _ filter: RowFilter, _ context: Context) throws(CommandFailure) {
    let isOver = Lock(false)
    let isStale = Lock(false)
    context.signals?.handle { _, _ in
      isOver.withLock { $0 = true }
      return true
    }
    context.signals?.remark { signal in
      if signal == SIGCONT { isStale.withLock { $0 = true } }
    }
    var state = TopState()
    var reading = try LedgerAccess.read(ledger) { try TopReading($0, filter, context.clock) }
    var pace = WatchPace(context.clock)
    var shown: [String] = []
    var keys: [TopKey] = []
    while !isOver.withLock(\.self), !context.out.lostItsReader {
      // A key applies to the rows that were displayed when it was pressed.
      for key in keys {
        switch state.press(key, reading) {
        case .quit: return
        case .rest: rest(context)
        case .act(let verb, let file):
          state.said = act(verb, file, ledger.path, context)
          pace.goOn()
        case nil: continue
        }
        shown = []
      }
      let mark = try failing { () throws(TransferError) in try ledger.liveMark(context.clock) }
      if pace.isDue(mark) {
        reading = try LedgerAccess.read(ledger) { try TopReading($0, filter, context.clock) }
        pace.looked(mark)
      }
      if isStale.withLock({ stale in
        defer { stale = false }
        return stale
      }) {
        _ = TerminalModes.enter(0, context.out.descriptor)
        shown = []
      }
      let rows = context.out.windowSize.rows
      let next = frame(reading, state, ledger.path, context, height: rows > 0 ? rows : TopFrame.usualRows).lines
      if next != shown { context.out.write(Self.drawn(next)) }
      shown = next
      keys = Self.keys(waitingMs: 500)
    }
  }

  /// One write: each line is erased to its end, and then everything below.
  static func drawn(_ lines: [String]) -> String {
    "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  private static func keys(waitingMs: Int32) -> [TopKey] {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, waitingMs) > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(0, &bytes, bytes.count)
    if count == 0, entry.revents & Int16(POLLHUP) != 0 { return [.character("q")] }
    return count > 0 ? TopKey.parse(Array(bytes[..<count])) : []
  }

  /// Runs the command of the same name; its first output line is shown.
  private func act(_ verb: ServeVerb, _ file: FileID, _ path: String, _ context: Context) -> String {
    do throws(CommandFailure) {
      let said = try InnerCommand(context: context, store: path).run([verb.rawValue, "\(file)"])
      let line = String(decoding: said, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
      return "\(file): \(line)"
    } catch { return "\(file): \(error.text)" }
  }

  /// Suspends the process until the shell continues it.
  private func rest(_ context: Context) {
    TerminalModes.restore()
    raise(SIGSTOP)
    _ = TerminalModes.enter(0, context.out.descriptor)
  }
}
