import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers check`: a probe for monitoring.
struct CheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Report in one line whether everything is sent and each job ran, for monitoring.",
    discussion: """
      The output format of monitoring plug-ins: one line with performance data after a bar, and these exit codes:
        0  OK        within all limits
        1  WARNING   more unfinished files than --max-pending; sources that --after
                     should have removed and that stay; callbacks that were given
                     up (deleted ones count until one is delivered again); a
                     configured job that has not run yet, or whose last run could
                     not begin: no source, no usable credentials, a wrong setting;
                     a last success or complete scan in the future
        2  CRITICAL  more failed and unknown files than --max-failed; more files
                     that the last scan of a job refused, of which the ledger
                     shows no row, than --max-refused; a last success longer
                     ago than --max-age, or in the future; a last complete scan
                     longer ago than --max-scan-age, of fewer files than
                     --min-files, or, with one of these two, in the future
        3  UNKNOWN   the state cannot be determined: no ledger, no such job, an
                     invalid option
      Without --job the check covers the whole ledger and all its jobs. Files that "clean" has hidden do not count, \
      unless the last scan of a job refused them again.

      Example:
        transfers check --job nightly --max-age 26h --max-failed 0 \\
          --max-pending 1000
        transfers check --job nightly --max-scan-age 26h --min-files 1
      """)

  @Option(help: ArgumentHelp("Only this job.", valueName: "name")) var job: String?
  @Option(help: ArgumentHelp("Maximum time since the last successful run: 26h.", valueName: "time"))
  var maxAge: TimeSpan?
  @Option(help: ArgumentHelp("Maximum number of failed and unknown files.", valueName: "n"))
  var maxFailed = 0
  @Option(
    help: ArgumentHelp("Maximum number of files that the last scans of upload jobs refused.", valueName: "n"))
  var maxRefused = 0
  @Option(help: ArgumentHelp("Maximum number of unfinished files.", valueName: "n")) var maxPending: Int?
  @Option(help: ArgumentHelp("Maximum time since the last complete scan of an upload job.", valueName: "time"))
  var maxScanAge: TimeSpan?
  @Option(help: ArgumentHelp("Minimum number of files in the last complete scan of an upload job.", valueName: "n"))
  var minFiles: Int?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let minFiles, minFiles < 0 { throw ValidationError("--min-files must be 0 or more") }
    if maxFailed < 0 { throw ValidationError("--max-failed must be 0 or more") }
    if maxRefused < 0 { throw ValidationError("--max-refused must be 0 or more") }
    if let maxPending, maxPending < 0 { throw ValidationError("--max-pending must be 0 or more") }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    let value = CheckOutput(
      try reading(path, context), job: job, maxAgeMs: maxAge?.ms, maxFailed: maxFailed,
      maxRefused: maxRefused, maxPending: maxPending,
      scanLimits: CheckScans.Limits(ageMs: maxScanAge?.ms, files: minFiles),
      nowMs: context.clock.wallMs)
    try common.print(value, store: .ofAny(path, context), context)
    guard value.outcome != .ok else { return }
    var failure = CommandFailure(.partial, code: "check", value.line, remedy: value.remedy)
    (failure.exitStatus, failure.isTold) = (value.outcome.rawValue, true)
    throw failure
  }

  private func reading(_ path: String, _ context: Context) throws(CommandFailure) -> CheckReading {
    let ledger = try LedgerAccess.open(path, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { reader in
      var filter = RowFilter()
      filter.leavesOutHidden = try reader.hasHiddenRows()
      var terms = BatchTerms()
      terms.jobs = [job].compactMap(\.self)
      if !terms.isEmpty { filter.withinBatches = try reader.batches(terms) }
      let nowMs = context.clock.wallMs
      let wanted = Set(context.config.jobs.keys).filter { job == nil || $0 == job }
      let scans = try reader.scans(ofJob: job).filter { !$0.job.isEmpty }
      let settled = try Set(scans.map(\.job)).filter { try reader.unfinished(ofJob: $0).count == 0 }
      let past = scans.filter { !CheckScans.isAhead($0.completedMs, nowMs) }
      let jobs = CheckScans.counting(
        past, settled: settled, in: try reader.jobs().filter { job == nil || $0.job == job })
      return CheckReading(
        jobs: jobs, scans: scans, refused: CheckScans.refused(scans, configured: wanted, nowMs: nowMs),
        uploads: Set(scans.map(\.job)).union(wanted.filter { context.config.jobs[$0]?.direction == .upload }).sorted(),
        neverRan: wanted.subtracting(jobs.map(\.job)).sorted(), totals: try reader.stateTotals(filter),
        unfinished: try reader.unfinished(ofJob: job), removals: try reader.removals(filter),
        isKnown: try job.map { try reader.knowsJob($0) || context.config.jobs[$0] != nil } ?? true,
        callbacks: try job.map(reader.callbacksLeft) ?? reader.callbacksLeft(),
        heldByQuota: Dictionary(
          uniqueKeysWithValues: try jobs.compactMap { row -> (String, Int)? in
            guard try reader.quota(ofJob: row.job, nowMs: nowMs)?.isReached == true else { return nil }
            return (row.job, try reader.unfinished(ofJob: row.job).count)
          }))
    }
  }
}
