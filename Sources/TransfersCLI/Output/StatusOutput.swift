import TransferModel
import TransferReports
import Transfers

/// The engine of a ledger, as far as one can tell from outside.
struct EngineStatus: Encodable, Sendable {
  let alive: Bool
  let run, pid, host, startedAt, heartbeatAt, endedAt, how: Cell

  init(_ state: EngineState) {
    alive = state.isAlive
    let run = state.run
    self.run = Cell(run?.id.description)
    pid = Cell(run?.pid)
    host = Cell(run?.host)
    startedAt = Cell(time: run?.startedMs)
    heartbeatAt = Cell(time: run?.heartbeatMs)
    endedAt = Cell(time: run?.endedMs)
    how = Cell(run?.how)
  }

  var line: String {
    if run == .none { return "engine: none has run yet" }
    if alive { return "engine: running since \(startedAt.text), process \(pid.text) on \(host.text)" }
    if endedAt == .none { return "engine: not running; the last one, since \(startedAt.text), crashed" }
    return "engine: not running; the last one ended \(endedAt.text) (\(how.text))"
  }
}

/// Why there is nothing to show.
enum Absence: Sendable, Hashable {
  case nothingRecorded, nothingMatches
  /// The number of hidden files.
  case hidden(Int)

  init(_ selection: SelectionOptions, hidden: Int = 0) {
    self = hidden > 0 ? .hidden(hidden) : selection.narrowing.isEmpty ? .nothingRecorded : .nothingMatches
  }

  var line: String {
    switch self {
    case .nothingRecorded: "nothing is recorded\n"
    case .nothingMatches: "nothing matches\n"
    case .hidden(let files): "nothing is left to show; \(Quantity.count(files, "file")) hidden: --hidden shows them\n"
    }
  }
}

/// The write-ahead log of the ledger, and who keeps it from being emptied.
struct LogStatus: Encodable, Sendable {
  let bytes: Int64
  /// Processes that read a state of the ledger, when the log is longer than it should be.
  let heldBy: [Int32]
  /// An engine empties it at a quarter of this.
  static let longest: Int64 = 64 << 20

  init(_ condition: StoreCondition) {
    bytes = condition.walBytes
    heldBy = condition.walBytes > Self.longest ? condition.walReaders : []
  }

  /// Empty while it is short.
  var line: String { bytes > Self.longest ? "log: \(text)\n" : "" }

  var text: String {
    let size = "\(Quantity.bytes(bytes)) of write-ahead log"
    if heldBy.isEmpty { return size }
    let who = heldBy.map { "process \($0)" }.joined(separator: ", ")
    return "\(size), kept by \(who): it grows until the reading there ends"
  }
}

/// What `status` shows.
struct StatusOutput: OutputValue {
  static let schema = "transfers.status/3"
  let engine: EngineStatus
  /// The name of the exit code that these files deserve, as after a `run` that ended now.
  let result: String
  let files: [String: Int]
  let filesTotal, filesLeft: Int
  let bytes, bytesAcked: Int64
  let nextDueAt: Cell
  let active: FigureTable
  let failures: FigureTable
  let overdue: [Overdue]
  let log: LogStatus
  let status: ExitCode
  private let totals: StateTotals
  private let problems: [FailureRow]
  private let absence: Absence

  private enum CodingKeys: String, CodingKey {
    case engine, result, files, filesTotal, filesLeft, bytes, bytesAcked, nextDueAt, active, failures, overdue, log
  }

  /// A batch that waits for a person because its deadline has passed.
  struct Overdue: Encodable, Sendable {
    let batch: String
    let deadlineAt: Cell
    let files: Int

    var line: String {
      "\(batch): its deadline passed \(deadlineAt.text); \(Quantity.count(files, "file")) not begun: transfers set \(batch) --deadline none"
    }
  }

  init(_ now: StoreStatus, log: LogStatus, absence: Absence) {
    self.absence = absence
    self.log = log
    engine = EngineStatus(now.engine)
    let totals = now.totals
    self.totals = totals
    problems = now.failures
    let pairs = FileState.allCases.map { ($0.rawValue, totals.count($0)) }
    files = Dictionary(uniqueKeysWithValues: pairs).filter { $0.value > 0 }
    status = ExitCode(RunNumbers(FileTotals(totals), wallMs: 0))
    result = status.name
    filesTotal = totals.files
    filesLeft = totals.left
    (bytes, bytesAcked) = (totals.bytes, totals.bytesAcked)
    nextDueAt = Cell(time: now.nextDueMs)
    active = FigureTable(FileFigures.columns, now.active)
    failures = FigureTable(FailureFigures.ofFiles, now.failures)
    overdue = now.overdue.map {
      Overdue(batch: $0.id.description, deadlineAt: .time($0.deadlineMs), files: $0.files)
    }
  }

  func text(_ style: TextStyle) -> String {
    var out = engine.line + "\n"
    out += log.line
    if totals.files == 0 { return out + absence.line }
    let counts = FileState.allCases.filter { totals.count($0) > 0 }.map { state in
      let words = "\(totals.count(state)) \(state.rawValue)"
      return TextStyle.colour(ofState: state.rawValue).map { style.paint(words, $0) } ?? words
    }
    let percent = ProgressText.percent(totals.bytesAcked, of: totals.bytes)
    out += "files: \(counts.joined(separator: ", "))\n"
    out += "bytes: \(Quantity.bytes(totals.bytesAcked)) of \(Quantity.bytes(totals.bytes)) acknowledged (\(percent)%)\n"
    out += overdue.map { $0.line + "\n" }.joined()
    if nextDueAt != .none { out += "next retry: \(nextDueAt.text)\n" }
    if !active.rows.isEmpty {
      var table = Table(style, indent: 2)
      out += table.page(active)
    }
    if !problems.isEmpty {
      out += "failures:\n" + problems.prefix(5).map { FailureFigures.line($0, times: style.times) + "\n" }.joined()
    }
    return out
  }

  /// For the line on standard error: `2 failed, 1 unknown, 5 done`.
  var reason: String {
    let states: [FileState] = [.failed, .unknown, .cancelled, .done]
    let counts = states.filter { totals.count($0) > 0 }.map { "\(totals.count($0)) \($0.rawValue)" }
    return (counts + (totals.left > 0 ? ["\(totals.left) left"] : [])).joined(separator: ", ")
  }
}
