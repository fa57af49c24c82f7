import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Shows the progress of a run on standard error: a block on a terminal, lines or records elsewhere, and messages
/// above. Any thread. A blocked terminal or reader delays nobody: missed output is written later.
final class ProgressReporter: Sendable {
  private struct State {
    var meter = ProgressMeter()
    var screen = ProgressScreen()
    var title = ""
    var figures: ProgressFigures?
    var lastShownMs: Int64?
    var announced: Set<ErrorCode> = []
    var limit = NoticeLimit()
    var stopSignal: Int32?
    /// Unwritten text.
    var backlog: [String] = []
  }

  private static let backlogLimit = 1_000
  private let err: OutputStream
  private let display: DisplayStream
  private let look: ProgressLook
  private let clock: any TransferClock
  private let state = Lock(State())

  init(_ err: OutputStream, _ look: ProgressLook, clock: any TransferClock = SystemClock()) {
    self.err = err
    display = DisplayStream(err)
    self.look = look
    self.clock = clock
  }

  /// For commands that only print remarks.
  convenience init(_ err: OutputStream, isQuiet: Bool) { self.init(err, ProgressLook(isQuiet: isQuiet)) }

  /// How often ``progress(_:)`` wants to be called, in milliseconds.
  var everyMs: Int64 { look.everyMs }

  /// The title of the block; safe for a terminal.
  func setTitle(_ title: String) { state.withLock { $0.title = title } }

  func progress(_ now: ProgressSnapshot) {
    state.withLock { state in
      let figures = state.meter.read(now)
      state.figures = figures
      show(figures, &state)
    }
  }

  func notice(_ notice: Notice) {
    state.withLock { state in
      // Only the first retry for each reason is printed; there may be thousands.
      if case .retrying(_, let failure, _) = notice, !state.announced.insert(failure.code).inserted { return }
      if case .draining(let requests) = notice, let signal = state.stopSignal {
        return put(draining(requests, signal), &state)
      }
      guard !look.isQuiet, let line = NoticeText.line(notice) else { return }
      switch state.limit.take(notice) {
      case .tell: put(line, &state)
      case .stop: put("further messages are not shown", &state)
      case .count: break
      }
    }
  }

  /// One line above the block.
  func say(_ line: String) {
    if !look.isQuiet { announce(line) }
  }

  /// The same, also with `--quiet`: for messages that a person at the terminal needs now.
  func announce(_ line: String) { state.withLock { put(line, &$0) } }

  /// A stop was requested by `signal`; the line is printed when the engine reports what is running.
  func stopAsked(by signal: Int32) { state.withLock { $0.stopSignal = signal } }

  /// One line with the current progress, for SIGUSR1; also with `--quiet`.
  func status() {
    state.withLock { state in
      guard let figures = state.figures else { return put("nothing is being sent yet", &state) }
      if case .records = look.mode { return write(record(figures), &state) }
      put(ProgressText.line(figures, units: look.units), &state)
    }
  }

  /// The process was continued after a stop: the screen contents are unknown.
  func resumed() { state.withLock { $0.screen.forget() } }

  /// Removes the block, so that further output starts on an empty line; prints the counts of suppressed messages, and
  /// the last record.
  func finish() {
    state.withLock { state in
      if let rest = state.limit.takeRest() { put(rest, &state) }
      if case .records = look.mode, let figures = state.figures, figures.now.elapsedMs != state.lastShownMs {
        state.lastShownMs = figures.now.elapsedMs
        state.backlog.append(record(figures))
      }
      display.write(state.screen.clear(columns: size.columns) + state.backlog.joined())
      state.backlog = []
      display.drain()
    }
  }
}

// MARK: - Showing

extension ProgressReporter {
  private func show(_ figures: ProgressFigures, _ state: inout State) {
    flush(&state)
    switch look.mode {
    case .silent: break
    case .block: showBlock(figures, &state)
    case .lines(let firstMs, let everyMs):
      guard isDue(figures, state, first: firstMs, every: everyMs) else { return }
      state.lastShownMs = figures.now.elapsedMs
      write(ProgressText.line(figures, units: look.units) + "\n", &state)
    case .records(let everyMs):
      guard isDue(figures, state, first: everyMs, every: everyMs) else { return }
      state.lastShownMs = figures.now.elapsedMs
      write(record(figures), &state)
    }
  }

  private func isDue(_ figures: ProgressFigures, _ state: State, first: Int64, every: Int64) -> Bool {
    state.lastShownMs.map { figures.now.elapsedMs - $0 >= every } ?? (figures.now.elapsedMs >= first)
  }

  private func showBlock(_ figures: ProgressFigures, _ state: inout State) {
    guard isDue(figures, state, first: 0, every: 100) else { return }
    // In the background the screen belongs to another process.
    guard err.isForeground else { return state.screen.forget() }
    guard display.isReady else { return }
    let size = size
    var block = ProgressBlock(columns: size.columns, rows: size.rows, title: state.title)
    (block.units, block.glyphs) = (look.units, look.glyphs)
    block.style = TextStyle(columns: nil, usesColour: look.usesColour)
    guard let text = state.screen.frame(block.lines(figures), columns: size.columns) else { return }
    state.lastShownMs = figures.now.elapsedMs
    display.write(text)
  }

  /// Read again for every frame, so that a change needs no signal.
  private var size: (columns: Int, rows: Int) {
    let now = err.windowSize
    return (now.columns > 0 ? now.columns : look.columns, now.rows > 0 ? now.rows : look.rows)
  }

  /// A line for people in the form of the current mode.
  private func put(_ line: String, _ state: inout State) {
    if case .records = look.mode {
      return write(text(ProgressRecord.notice(line, wallMs: clock.wallMs)), &state)
    }
    write((look.glyphs == .ascii ? line.replacing("–", with: "-") : line) + "\n", &state)
  }

  private func record(_ figures: ProgressFigures) -> String {
    text(ProgressRecord.tree(figures, wallMs: clock.wallMs))
  }

  private func text(_ record: FigureTree) -> String {
    let record = JSONWriter.bytes(record)
    return String(decoding: err.isTerminal ? JSONWriter.harmless(record) : record, as: UTF8.self) + "\n"
  }

  private func write(_ text: String, _ state: inout State) {
    if state.backlog.count < Self.backlogLimit { state.backlog.append(text) }
    flush(&state)
  }

  private func flush(_ state: inout State) {
    guard !state.backlog.isEmpty, display.isReady else { return }
    let text = state.backlog.joined()
    state.backlog = []
    display.write(state.screen.above(text, columns: size.columns))
  }

  private func draining(_ requests: Int, _ signal: Int32) -> String {
    let again = signal == SIGINT ? "Ctrl-C again stops now" : "a second signal stops now"
    let what = requests > 0 ? "draining \(Quantity.count(requests, "request"))" : "stopping"
    return "\(what) – \(again); nothing is lost, \"transfers run\" continues"
  }
}
