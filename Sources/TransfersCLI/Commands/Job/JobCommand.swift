import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers job`: recurring jobs.
struct JobCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job", abstract: "List, show, plan and run the configured jobs.",
    subcommands: [
      JobListCommand.self, JobShowCommand.self, JobRunCommand.self, JobPlanCommand.self, JobUnitCommand.self,
    ])
}

/// `transfers job list`.
struct JobListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the jobs in the configuration and in the ledger.")

  @OptionGroup var common: CommonOptions

  static let columns: [Column<JobStatus>] = [
    .text("job", "Job") { $0.name },
    .text("direction") { $0.job?.direction.rawValue },
    .text("from", "From") { $0.job.map { JobLine.places($0).from } },
    .text("to", "To") { $0.job.map { JobLine.places($0).to } ?? nil },
    .text("last_result", "Last result") { $0.last?.result },
    .time("last_run_at", "Last run") { $0.last?.endedMs },
    .time("last_success_at", "Last success") { $0.last?.succeededMs },
    .integer("files_done", "Done") { $0.count(.done) },
    .integer("files_failed", "Failed") { $0.count(.failed) },
    .integer("files_unknown") { $0.count(.unknown) }, .integer("files_refused") { $0.refused },
    .integer("files_unfinished", "Unfinished") { $0.unfinished.count },
    .integer("sources_to_remove") { $0.removals.waiting }, .integer("sources_put_off") { $0.removals.putOff },
    .integer("sources_kept") { $0.removals.kept },
    .time("last_scan_at") { $0.scans.first?.completedMs },
  ]

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let rows = try JobStatus.all(path, context)
    var printer = RowPrinter(
      schema: "transfers.job.list/1", rowType: "job", store: .ofAny(path, context), common, context)
    printer.print(FigureTable(Self.columns, rows))
    try printer.finish(empty: "no jobs; \"transfers config example\" has two")
  }
}

/// The data about jobs in a ledger.
enum JobsInLedger {
  /// The data for a ledger that does not exist: none.
  static func rows(_ path: String, _ context: Context) throws(CommandFailure) -> [JobRow] {
    do throws(TransferError) {
      let ledger = try OpenStore(at: path, .readOnly, clock: context.clock)
      defer { ledger.close() }
      return try ledger.read { try $0.jobs() }
    } catch {
      guard error.kind == .storeMissing else { throw CommandFailure(error) }
      return []
    }
  }

  static func names(_ path: String, _ context: Context) throws(CommandFailure) -> [String] {
    try rows(path, context).map(\.job)
  }
}

/// `transfers job show`.
struct JobShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a job: its effective settings, its status, and its next action.")

  @Argument(help: ArgumentHelp("A job of the configuration.", valueName: "name")) var name: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let isKnown = try JobsInLedger.names(path, context).contains(name)
    let job =
      isKnown ? context.config.jobs[name] : try context.config.job(name, check: context.configCheck)
    var status = try JobStatus.read(name, job, path, context)
    if let job {
      let store = try ConfigShowCommand.store(common, context.config, context)
      status.settings = JobSettings.effective(job, store: store, context)
    }
    try common.print(status, store: .ofAny(path, context), context)
  }
}
