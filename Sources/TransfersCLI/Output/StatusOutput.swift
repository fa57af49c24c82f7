import TransferModel
import TransferReports
import Transfers

/// What `status` shows.
struct StatusOutput: OutputValue {
  let now: StoreStatus
  let engine: EngineStatus
  let log: LogStatus
  let status: ExitCode
  private let absence: Absence

  init(_ now: StoreStatus, log: LogStatus, absence: Absence) {
    (self.now, self.log, self.absence) = (now, log, absence)
    engine = EngineStatus(now.engine)
    var numbers = RunNumbers(FileTotals(now.totals), wallMs: 0)
    numbers.mismatched += now.contradicted
    status = ExitCode(numbers)
  }

  static let form = ReportForm<StatusOutput>(
    "transfers.status/3",
    overview + [.table("active", "active", LiveFileFigures.columns) { $0.active }] + causes)

  /// Everything except rows of files.
  static let overview: [SectionForm<StatusOutput>] =
    [
      .record("engine", nil, EngineStatus.columns) { $0.engine },
      .record("log", nil, LogStatus.columns) { $0.log },
      .facts(
        [
          .text("result") { $0.status.name },
          .counts("files", "files") { $0.files }.saying { $0.isEmpty ? nil : $0.counts },
          .integer("files_total") { $0.now.totals.files },
          .integer("files_left") { $0.now.totals.left },
          .integer("files_contradicted", "checks") { $0.now.contradicted }.saying { $0.contradictions },
          .bytes("bytes") { $0.now.totals.bytes },
          .bytes("bytes_acked", "bytes") { $0.now.totals.bytesAcked }.saying { $0.isEmpty ? nil : $0.sizes },
          .integer("files_unsized") { $0.now.totals.unsized },
          .bytes("bytes_in_flight") { $0.now.bytesInFlight },
          .rate("bps") { $0.now.bytesPerSecond },
          .time("next_due_at", "next retry") { $0.now.nextDueMs },
          .integer("callbacks_waiting", "callbacks") { $0.now.callbacks.waiting }.saying { $0.now.callbacks.words },
          .integer("callbacks_given_up") { $0.now.callbacks.givenUp },
          .integer("callbacks_forgotten") { $0.now.callbacks.forgotten },
        ] + RemovalFigures.columns { $0.now.removals }),
      RemovalFigures.reasons { $0.now.removals },
      .words { $0.isEmpty ? $0.absence.line : nil },
      .table("overdue", "past their deadline", overdue) { $0.now.overdue },
      .table("held", "cannot be sent", BatchFigures.held) { $0.now.held },
    ]

  /// Why files ended without success, or wait for their copies.
  static let causes: [SectionForm<StatusOutput>] =
    [
      .table("failures", nil, FailureFigures.ofFiles, TableLook(isForPrograms: true)) { $0.now.failures },
      .forPeople("failures", FailureFigures.inShort, TableLook(limit: 5)) { $0.now.failures },
    ]

  /// Batches that wait for a person because their deadline has passed.
  private static let overdue: [Column<OverdueBatch>] = [
    .text("batch", "Batch") { $0.id.description },
    .time("deadline_at", "Deadline") { $0.deadlineMs },
    .integer("files", "Not begun") { $0.files },
    .text("next", "Next") { "transfers set \($0.id) --deadline none" },
  ]

  private var isEmpty: Bool { now.totals.files == 0 }

  private var active: [LiveFile] { now.active.map { LiveFile($0, now.inFlight[$0.id]) } }

  private var files: [String: Int] {
    let pairs = FileState.allCases.map { ($0.rawValue, now.totals.count($0)) }
    return Dictionary(uniqueKeysWithValues: pairs).filter { $0.value > 0 }
  }

  /// `4 waiting, 1 done`, in the order of states.
  private var counts: String {
    FileState.allCases.filter { now.totals.count($0) > 0 }.map { "\(now.totals.count($0)) \($0.rawValue)" }
      .joined(separator: ", ")
  }

  private var contradictions: String? {
    guard now.contradicted > 0 else { return nil }
    return "\(Quantity.count(now.contradicted, "done file")) no longer as stored (transfers report integrity)"
  }

  private var sizes: String {
    let share = ProgressText.share(now.totals, acked: now.totals.bytesAcked)
    let rate = now.bytesPerSecond.map { " at \(Quantity.bytesPerSecond($0))" } ?? ""
    let inFlight = now.bytesInFlight > 0 ? ", \(Quantity.bytes(now.bytesInFlight)) in flight\(rate)" : ""
    return "\(Quantity.bytes(now.totals.bytesAcked)) of \(Quantity.bytes(now.totals.bytes)) acknowledged (\(share))"
      + inFlight
  }

  /// For the line on standard error: `2 failed, 1 unknown, 5 done`.
  var reason: String {
    let states: [FileState] = [.failed, .unknown, .cancelled, .done]
    let counts = states.filter { now.totals.count($0) > 0 }.map { "\(now.totals.count($0)) \($0.rawValue)" }
    let contradicted = now.contradicted > 0 ? ["\(now.contradicted) contradicted by a later check"] : []
    return (contradicted + counts + (now.totals.left > 0 ? ["\(now.totals.left) left"] : [])).joined(separator: ", ")
  }
}

extension CallbacksLeft {
  /// `2 waiting, 1 given up (transfers callbacks list)`; nil when all were delivered.
  var words: String? {
    let parts = [waiting > 0 ? "\(waiting) waiting" : nil, givenUp > 0 ? "\(givenUp) given up" : nil]
    let told = parts.compactMap(\.self).joined(separator: ", ")
    let lines = [told.isEmpty ? nil : "\(told) (transfers callbacks list)", forgotten > 0 ? Self.lost(forgotten) : nil]
    let text = lines.compactMap(\.self).joined(separator: ", ")
    return text.isEmpty ? nil : text
  }

  private static func lost(_ count: Int) -> String {
    "\(count) given up and deleted (transfers store sql \"SELECT * FROM v_forgotten_callbacks\")"
  }
}
