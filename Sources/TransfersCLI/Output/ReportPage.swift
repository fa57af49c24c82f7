import Transfers
import TransferModel
import TransferReports

/// The page of `report --format html`: the subreports in one document.
struct ReportPage: OutputValue {
  /// Maximum number of listed files; such a page stays below a megabyte.
  static let fileLimit = 10_000
  /// Maximum number of listed runs, events and receipts; if there are more, the page names the command that lists them.
  static let historyLimit = 500
  /// Number of slowest files shown with their parts.
  static let slowLimit = 10
  /// Number of unfinished files shown with a map of their chunks, and number of chunks of each.
  static let mapLimit = 12
  static let chunkLimit = 2_000

  let summary: SummaryOutput
  let throughput: [ThroughputRow]
  let hosts: [HostRow]
  let retries: RetriesReport
  let days: [PeriodRow]
  let slow: SlowReport
  let latency: LatencyReport
  let waste: WasteReport
  let integrity: IntegrityReport
  let files: [FileRow]
  let maps: [MappedFile]
  let runs: RunFigures
  let events: [EventRow]
  let receipts: [StoredReceipt]
  /// Whether files beyond the limit are on further pages.
  private let hasFurtherPages: Bool

  init(
    _ reader: StoreReader, _ filter: RowFilter, absence: Absence, _ clock: any TransferClock,
    fileLimit: Int = Self.fileLimit, hasFurtherPages: Bool = false
  ) throws {
    self.hasFurtherPages = hasFurtherPages
    summary = SummaryOutput(figures: try reader.summary(filter), absence: absence)
    throughput = try reader.throughput(filter, nowMs: clock.wallMs) { ThroughputSeries.automaticStepMs($0) }
    hosts = try reader.hosts(filter)
    retries = RetriesReport(figures: try reader.retries(filter))
    days = try reader.periods(.day, filter)
    slow = SlowReport(rows: try reader.slow(filter, limit: Self.slowLimit, clock))
    latency = LatencyReport(try reader.latencies(filter, by: nil))
    waste = WasteReport(figures: try reader.waste(filter))
    integrity = IntegrityReport(figures: try reader.integrity(filter))
    files = try reader.files(filter, after: 0, limit: fileLimit)
    maps = try Self.maps(reader, files)
    runs = try reader.runs(filter)
    events = try reader.events(filter, after: 0, limit: Self.historyLimit + 1)
    receipts = try reader.storedReceipts(filter, after: 0, limit: Self.historyLimit + 1).receipts
  }

  static let form = ReportForm<ReportPage>(
    "transfers.report/1",
    [
      .words { $0.summary.figures.totals.files == 0 ? $0.summary.absence.line : nil },
      .merged(SummaryFigures.ofPage) { $0.summary.figures },
      .table("throughput", "throughput", ThroughputFigures.columns, TableLook(chart: .series(x: "from", y: "bps"))) {
        $0.throughput
      },
      .table("hosts", "hosts", HostFigures.columns) { $0.hosts },
      .object("slow", "where the time of the slowest files went", SlowReport.form.sections) { $0.slow },
      .table(
        "chunk_maps", "chunks of files that are not done", MappedFileFigures.columns,
        TableLook(chart: .maps(name: "id", map: "map"))
      ) { $0.maps },
      .object("latency", "latency", LatencyReport.form.sections) { $0.latency },
      .object("waste", "bytes transferred for nothing", WasteReport.form.sections) { $0.waste },
      .object("integrity", "how done files are proven", IntegrityReport.form.sections) { $0.integrity },
      .object("retries", "retries", RetriesReport.form.sections) { $0.retries },
      .table("days", "days", PeriodFigures.columns, TableLook(chart: .series(x: "from", y: "bytes"))) { $0.days },
      .forPeople("runs of the engine", RunHistoryFigures.columns) { Self.short($0.runs.rows) },
      .forPeople("what people and engines did", EventFigures.columns) { Self.short($0.events) },
      .forPeople("receipts", ReceiptFigures.columns) { Self.short($0.receipts) },
      .words(\.omission),
      .words(\.shortage),
      .words(\.replaced),
      .table("files_listed", "files", FileFigures.columns, TableLook(whole: "transfers report files")) { $0.files },
    ])

  /// Files in several chunks whose chunks are not all stored.
  private static func maps(_ reader: StoreReader, _ files: [FileRow]) throws -> [MappedFile] {
    let begun = Set([FileState.active, .finishing, .paused, .failed, .unknown, .pending].map(\.rawValue))
    var maps: [MappedFile] = []
    for file in files where begun.contains(file.state) && file.attempts > 0 && maps.count < mapLimit {
      let chunks = try reader.chunkMap(of: file.id, limit: chunkLimit)
      if chunks.count > 1 { maps.append(MappedFile(file, chunks)) }
    }
    return maps
  }

  /// Empty if a list is too long for the page.
  private static func short<Row>(_ rows: [Row]) -> [Row] { rows.count > historyLimit ? [] : rows }

  private var omission: String? {
    let long = [("runs", runs.rows.count), ("events", events.count), ("receipts", receipts.count)]
    let names = long.filter { $0.1 > Self.historyLimit }.map(\.0)
    guard !names.isEmpty else { return nil }
    return "More than \(Self.historyLimit) \(names.joined(separator: ", ")) are not listed here: "
      + names.map { "transfers report \($0)" }.joined(separator: ", ")
  }

  private var shortage: String? {
    guard !hasFurtherPages else { return nil }
    let all = summary.figures.totals.files
    let listed = files.count - replacedCount
    return listed < all ? "\(listed) of \(all) files are listed here: transfers report files has all" : nil
  }

  /// They are rows, but the summary counts the file that took their place.
  private var replaced: String? {
    guard replacedCount > 0, !hasFurtherPages || files.count < Self.fileLimit else { return nil }
    return
      "\(Quantity.count(replacedCount, "row")) below \(replacedCount == 1 ? "is" : "are") superseded: the source changed "
      + "while it was sent, and the summary counts its successor."
  }

  private var replacedCount: Int { files.count { $0.state == FileState.superseded.rawValue } }
}
