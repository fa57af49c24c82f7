import TransferModel
import TransferReports
import Transfers

/// The state of a ledger's engine, as far as other processes can tell.
struct EngineStatus: Sendable {
  let alive: Bool
  private let run: RunRow?

  init(_ state: EngineState) {
    alive = state.isAlive
    run = state.run
  }

  static let columns: [Column<EngineStatus>] = [
    .flag("alive", "engine") { $0.alive }.saying { $0.line },
    .text("run") { $0.run?.id.description },
    .integer("pid") { $0.run?.pid },
    .text("host") { $0.run?.host },
    .time("started_at") { $0.run?.startedMs },
    .time("heartbeat_at") { $0.run?.heartbeatMs },
    .time("ended_at") { $0.run?.endedMs },
    .text("how") { $0.run?.how },
  ]

  /// The last run has no recorded end; this is also true while it runs.
  var hasCrashed: Bool { run.map { $0.endedMs == nil } ?? false }

  var line: String {
    guard let run else { return "none has run yet" }
    let since = Cell(time: run.startedMs).text
    if alive { return "running since \(since), process \(run.pid) on \(printable(run.host))" }
    guard run.endedMs != nil else { return "not running; the last one, since \(since), crashed" }
    return "not running; the last one ended \(Cell(time: run.endedMs).text) (\(Cell(run.how).text))"
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
    case .nothingRecorded: "nothing is recorded"
    case .nothingMatches: "nothing matches"
    case .hidden(let files): "nothing is left to show; \(Quantity.count(files, "file")) hidden: --hidden shows them"
    }
  }
}

/// The write-ahead log of the ledger, and the processes that prevent it from being emptied.
struct LogStatus: Sendable {
  let bytes: Int64
  /// Processes that read a state of the ledger, when the log is longer than it should be.
  let heldBy: [Int32]
  /// An engine empties it at a quarter of this.
  static let longest: Int64 = 64 << 20

  init(_ condition: StoreCondition) {
    bytes = condition.walBytes
    heldBy = condition.walBytes > Self.longest ? condition.walReaders : []
  }

  /// Shown as text only if the log is long.
  static let columns: [Column<LogStatus>] = [
    .bytes("bytes", "log") { $0.bytes }.saying { $0.bytes > longest ? $0.text : nil },
    .list("held_by") { $0.heldBy.map(String.init) },
  ]

  var text: String {
    let size = "\(Quantity.bytes(bytes)) of write-ahead log"
    if heldBy.isEmpty { return size }
    let who = heldBy.map { "process \($0)" }.joined(separator: ", ")
    return "\(size), kept by \(who): it grows until that read ends"
  }
}
