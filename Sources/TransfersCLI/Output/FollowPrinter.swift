import Transfers
import TransferModel
import TransferReports

/// Prints followed entries: lines for people, rows for programs.
struct FollowPrinter {
  private let common: CommonOptions
  private let context: Context
  private let style: TextStyle
  private var rows: RowPrinter?

  init(_ store: StoreIdentity, _ filters: [String: Cell], _ common: CommonOptions, _ context: Context)
    throws(CommandFailure)
  {
    self.common = common
    self.context = context
    style = common.style(context)
    guard !common.format.isForPeople || common.chosenColumns != nil else { return }
    rows = RowPrinter(
      schema: "transfers.follow/1", rowType: "followed", store: store, filters: filters, common.streaming, context)
  }

  var isClosed: Bool { rows?.isClosed ?? (context.out.state != .open) }

  mutating func print(_ page: [RecordedEvent]) {
    guard rows == nil else { rows?.print(FigureTable(FollowFigures.columns, page)); return }
    for row in page { context.out.writeLine(line(row)) }
  }

  func finish() throws(CommandFailure) {
    if let rows { return try rows.finish(empty: "nothing happened") }
    context.out.markComplete()
  }

  /// `2026-11-20 11:02:07Z  f3   part c9 ok        8.0 MiB in 250 ms  /data/x.bam`.
  private func line(_ row: RecordedEvent) -> String {
    switch row {
    case .event(let event):
      let about = event.file?.description ?? event.batch?.description ?? "-"
      let rest = [event.extent, event.path?.description, event.detail.isEmpty ? nil : printable(event.detail)]
        .compactMap(\.self)
      return
        "\(Self.clock(event.atMs))  \(Self.padded(about, 6)) \(printable(event.verb))  \(rest.joined(separator: "  "))"
    case .attempt(let followed):
      let attempt = followed.attempt
      let part = attempt.chunk.map { " \($0)" } ?? ""
      let outcome = AttemptOutcome(rawValue: attempt.outcome)
      let word = style.paint(attempt.outcome, outcome == .ok ? .green : outcome == .retry ? .yellow : .red)
      let why = [attempt.errorCode, attempt.message.map(printable)].compactMap(\.self).joined(separator: ": ")
      var parts = ["\(attempt.operation)\(part) \(word)"]
      if !why.isEmpty { parts.append(why) }
      if attempt.bytesTransferred > 0 { parts.append(Quantity.bytes(attempt.bytesTransferred)) }
      if let ms = attempt.totalMs { parts.append(Quantity.duration(ms)) }
      let state = FileState(rawValue: followed.fileState)?.isAtRest == true ? "  \(followed.fileState)" : ""
      return
        "\(Self.clock(row.atMs))  \(Self.padded(attempt.file.description, 6)) \(parts.joined(separator: style.dot))  \(followed.path)\(state)"
    }
  }

  private static func clock(_ ms: Int64) -> String { Timestamp.zoned(ms) }
  private static func padded(_ text: String, _ width: Int) -> String {
    DisplayWidth.pad(text, to: width, alignsRight: false)
  }
}

/// The columns of `follow`.
enum FollowFigures {
  static let columns: [Column<RecordedEvent>] = [
    .time("at", "At") { $0.atMs },
    .text("what", "What") { row in row.event == nil ? "attempt" : "event" },
    .text("id", "Id") { row in row.event.map { "e\($0.id)" } ?? row.attempt?.id.description ?? "" },
    .text("verb", "Verb") { row in row.event?.verb ?? row.attempt?.operation },
    .text("outcome", "Outcome") { $0.attempt?.outcome },
    .text("batch", "Batch") { $0.batch?.description },
    .text("file", "File") { row in (row.event?.file ?? row.attempt?.file)?.description },
    .integer("files", "Files") { row in row.event.flatMap { $0.files > 0 ? $0.files : nil } },
    .text("first_file") { $0.event?.firstFile?.description },
    .text("last_file") { $0.event?.lastFile?.description },
    .text("chunk") { $0.attempt?.chunk?.description },
    .text("file_state") { $0.fileState },
    .text("error_code", "Error") { $0.attempt?.errorCode },
    .text("message") { row in row.attempt?.message },
    .integer("http_status", "HTTP") { $0.attempt?.httpStatus },
    .bytes("bytes_transferred", "Transferred") { $0.attempt?.bytesTransferred },
    .bytes("bytes_acked") { $0.attempt?.bytesAcked },
    .duration("total_ms", "Time") { $0.attempt?.totalMs },
    .text("detail", "Detail") { $0.event?.detail },
    .name("path", "Path") { $0.path },
  ]
}

extension EventRow {
  /// `118 files from f1 to f204`; nil for none and for one.
  fileprivate var extent: String? {
    guard files > 1, let firstFile, let lastFile else { return nil }
    return "\(Quantity.count(files, "file")) from \(firstFile) to \(lastFile)"
  }
}

extension RecordedEvent {
  var event: EventRow? { if case .event(let event) = self { event } else { nil } }
  var attempt: AttemptRow? { if case .attempt(let followed) = self { followed.attempt } else { nil } }

  var batch: BatchID? {
    switch self {
    case .event(let event): event.batch
    case .attempt(let followed): followed.batch
    }
  }

  var path: NameBytes? {
    switch self {
    case .event(let event): event.path
    case .attempt(let followed): followed.path
    }
  }

  var fileState: String? { if case .attempt(let followed) = self { followed.fileState } else { nil } }
}
