import TransferModel
import TransferReports
import Transfers

/// A configured job, and its status in the ledger.
struct JobStatus: OutputValue {
  let name: String
  /// nil for one that is in the ledger only.
  let job: ConfigSection?
  /// nil when it has not run yet.
  var last: JobRow?
  var totals = StateTotals()
  var unfinished = UnfinishedFiles()
  var duplicates = 0
  var batches: [BatchRow] = []
  /// The last complete scan of each of its sources and places, the newest first.
  var scans: [ScanRow] = []
  var removals = RemovalTotals()
  var callbacks = CallbacksLeft()
  var quota: QuotaUsage?
  /// The effective ones, with their origins.
  var settings: [ConfigShowCommand.Value] = []
  let nowMs: Int64

  /// Reads the job from a ledger; a missing ledger has none.
  static func read(
    _ name: String, _ job: ConfigSection?, _ storePath: String, _ context: Context, batches: Int = 5
  ) throws(CommandFailure) -> JobStatus {
    let status = JobStatus(name: name, job: job, nowMs: context.clock.wallMs)
    return try reading(storePath, context) { reader in try status.filled(from: reader, reader.jobs(), batches: batches)
    }
      ?? status
  }

  /// All jobs of the configuration and of a ledger, by name, from one snapshot.
  static func all(_ storePath: String, _ context: Context) throws(CommandFailure) -> [JobStatus] {
    let (jobs, nowMs) = (context.config.jobs, context.clock.wallMs)
    func statuses(_ names: some Sequence<String>) -> [JobStatus] {
      Set(names).sorted().map { JobStatus(name: $0, job: jobs[$0], nowMs: nowMs) }
    }
    let read = try reading(storePath, context) { reader in
      let known = try reader.jobs()
      return try statuses(jobs.keys + known.map(\.job)).map { try $0.filled(from: reader, known, batches: 0) }
    }
    return read ?? statuses(jobs.keys)
  }

  /// nil if there is no ledger.
  private static func reading<Value>(
    _ storePath: String, _ context: Context, _ body: (StoreReader) throws -> Value
  ) throws(CommandFailure) -> Value? {
    let ledger: OpenStore
    do throws(TransferError) {
      ledger = try OpenStore(at: storePath, .readOnly, on: context.machine)
    } catch {
      guard error.kind == .storeMissing else { throw CommandFailure(error) }
      return nil
    }
    defer { ledger.close() }
    return try LedgerAccess.read(ledger, body)
  }

  private func filled(from reader: StoreReader, _ known: [JobRow], batches: Int) throws -> JobStatus {
    var status = self
    status.last = known.first { $0.job == name }
    var terms = BatchTerms()
    terms.jobs = [name]
    var filter = RowFilter()
    filter.withinBatches = try reader.batches(terms)
    filter.leavesOutHidden = try reader.hasHiddenRows()
    status.totals = try reader.stateTotals(filter)
    status.unfinished = try reader.unfinished(ofJob: name)
    status.duplicates = try reader.duplicates(ofJob: name)
    status.scans = try reader.scans(ofJob: name)
    status.removals = try reader.removals(filter)
    status.callbacks = try reader.callbacksLeft(ofJob: name)
    status.quota = try reader.quota(ofJob: name, nowMs: nowMs)
    guard batches > 0 else { return status }
    let newest = try reader.newestBatches(ofJob: name, limit: batches)
    filter.withinBatches = newest.map(\.rawValue)
    status.batches = try reader.batches(filter.withHidden, after: 0, limit: batches, withAttempts: false).reversed()
    return status
  }

  func count(_ state: FileState) -> Int { totals.byState[state] ?? 0 }

  /// Files that the last scan refused, and of which no row is shown.
  var refused: Int { scans.first.map(scans.refused(inScan:)) ?? 0 }

  var oldestMs: Int64? { unfinished.oldestMs.map { max(0, nowMs - $0) } }

  static let form = ReportForm<JobStatus>(
    "transfers.job/1",
    [
      .facts([
        .text("job", "job") { $0.name }.label(),
        .text("direction", "direction") { $0.job?.direction.rawValue },
        .text("from", "from") { $0.job.map { JobLine.places($0).from } },
        .text("to", "to") { $0.job.map { JobLine.places($0).to } },
        .time("last_run_at", "last run") { $0.last?.endedMs },
        .duration("last_duration_ms") { status in status.last.map { $0.endedMs - $0.startedMs } },
        .text("last_result", "last result") { $0.last?.result },
        .integer("last_exit_code") { status in
          status.last.flatMap { last in ExitCode.allCases.first { $0.name == last.result } }.map { $0.rawValue }
        },
        .text("last_message", "said") { $0.last?.message },
        .time("last_success_at", "last success") { $0.last?.succeededMs },
        .duration("oldest_unfinished_ms", "oldest unfinished file") { $0.oldestMs },
        .time("last_scan_at", "last complete scan") { $0.scans.first?.completedMs },
        .integer("last_scan_files", "files in it") { $0.scans.first?.counts.seen },
        .bytes("quota_bytes", "quota") { $0.quota?.quota.bytes },
        .text("quota_period", "quota per") { $0.quota?.quota.period.rawValue },
        .bytes("quota_sent_bytes", "sent of the quota") { $0.quota?.sent },
        .flag("quota_reached") { $0.quota?.isReached },
        .time("quota_renewed_at", "quota renewed at") { $0.quota?.endMs },
        .integer("callbacks_waiting", "callbacks") { $0.callbacks.waiting }.saying { $0.callbacks.words },
        .integer("callbacks_given_up") { $0.callbacks.givenUp },
        .integer("callbacks_forgotten") { $0.callbacks.forgotten },
      ]),
      .record("files", nil, counts) { $0 },
      .words { RemovalFigures.remark($0.removals) },
      RemovalFigures.reasons { $0.removals },
      .table("settings", "Settings", ConfigShowCommand.columns, TableLook(isForPrograms: true)) { $0.settings },
      .forPeople("Settings", ConfigShowCommand.columns) { $0.settings },
      .table("batches", "Last batches", BatchFigures.ofFiles, TableLook(isForPrograms: true)) { $0.batches },
      .forPeople("Last batches", inShort) { $0.batches },
      .facts([.text("next", "") { $0.next }.saying { "Next: \($0.next)" }]),
    ])

  private static let counts: [Column<JobStatus>] = [
    .integer("done", "done") { $0.count(.done) }, .integer("failed", "failed") { $0.count(.failed) },
    .integer("unknown", "unknown") { $0.count(.unknown) }, .integer("cancelled") { $0.count(.cancelled) },
    .integer("duplicates", "already delivered") { $0.duplicates > 0 ? $0.duplicates : nil },
    .integer("refused", "refused by the last scan") { $0.refused > 0 ? $0.refused : nil },
    .integer("unfinished", "unfinished") { $0.unfinished.count },
    .integer("sources_to_remove", "sources to delete or move") { $0.removals.waiting > 0 ? $0.removals.waiting : nil },
    .integer("sources_put_off", "put off") { $0.removals.putOff > 0 ? $0.removals.putOff : nil },
    .integer("sources_kept", "sources kept") { $0.removals.kept > 0 ? $0.removals.kept : nil },
  ]

  private static let inShort: [Column<BatchRow>] = BatchFigures.columns.filter {
    ["id", "state", "files", "files_done", "files_failed", "files_left", "bytes", "created_at"].contains($0.key)
  }

  /// The suggested next command.
  private var next: String {
    if count(.failed) + count(.unknown) > 0 { return "transfers report failures --job \(name)" }
    // The plan names each file, with the cause and the remedy.
    if refused > 0, job != nil { return "transfers job run -n \(name)" }
    if removals.kept > 0 { return "transfers store sql \"SELECT * FROM v_removals WHERE state = 'kept'\"" }
    if last == nil { return "transfers job run -n \(name)" }
    return unfinished.count > 0 ? "transfers job run \(name)" : "transfers report --job \(name)"
  }
}
