import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers job plan`.
struct JobPlanCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Write the files that a job would send, for job run --plan.",
    discussion: """
      Prints one JSON record per line: first the job and its destinations, then each file with its key and identity \
      (and with "to", the number of its destination, if there are several), last the number of files. Nothing is recorded or sent. "transfers job run --plan FILE" sends exactly these \
      files; one that has changed since then fails.

      Example:
        transfers job plan nightly -o plan.jsonl
        transfers job run --plan plan.jsonl
      """)

  @Argument(help: ArgumentHelp("A job of the configuration.", valueName: "name")) var name: String
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if common.needsEveryFigure {
      throw ValidationError("a plan consists of JSON records; leave out --format and --columns")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let job = try context.config.job(name, check: context.configCheck)
    try JobPlanner(line: JobLine(job, context), common: common, context: context)
      .writePlan(try common.storePath(context))
  }
}

/// Plans of jobs: printed for people, or written to a file.
struct JobPlanner {
  let line: JobLine
  let common: CommonOptions
  let context: Context

  func printPlan(_ path: String, _ options: [String]) throws(CommandFailure) {
    guard line.job.direction == .download else {
      let (sources, asked) = try line.uploads(options)
      return try PlanPrinter(path, .upload, common, context).run { store, notice throws(TransferError) in
        try store.plan(sources, toEach: asked, notice: notice)
      }
    }
    guard let (command, inner) = try line.parsed(options).first, let pull = command as? PullCommand else { return }
    let asked = try pull.files.download(inner)
    try PlanPrinter(path, .download, common, context).run { store, notice throws(TransferError) in
      try store.plan(asked, notice: notice)
    }
  }

  func writePlan(_ path: String) throws(CommandFailure) {
    let (sources, asked) = try line.uploads([])
    guard asked.first?.settings.growing != .segments else {
      throw .usage(
        "\"growing: segments\" cannot be planned ahead: the files grow until they are sent",
        remedy: "transfers job run -n \(line.job.name)")
    }
    let places = try PlanFile.places(of: asked)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let out = context.out
    out.write(PlanFile.header(line.job, places))
    let files = Lock(0)
    let result = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try context.store(path).plan(sources, toEach: asked) { n, file, entry, verdict in
        guard PlanFile.isSent(verdict) else { return }
        files.withLock { $0 += 1 }
        out.write(PlanFile.record(file, entry, verdict, to: places.count > 1 ? n + 1 : nil))
      } notice: { notice in
        if case .planned = notice { return }
        reporter.notice(notice)
      }
    }
    out.write(PlanFile.end(files: files.withLock(\.self)))
    out.markComplete()
    if common.output != nil, !common.quiet { context.err.writeLine("transfers: " + PlanPrinter.line(result)) }
  }
}
