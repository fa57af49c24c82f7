import ArgumentParser
import TransferModel
import Transfers

/// `transfers run`: transfers until nothing is left.
struct RunCommand: MovesFiles {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Transfer what is recorded until nothing is left.",
    discussion: """
      Continues after a crash, kill or power cut: it queries what the server has, then sends the rest. Ctrl-C finishes \
      running requests and stops; a second Ctrl-C stops immediately.

      The exit code reflects all files of the ledger that are not hidden, including those that an earlier run left: 0 \
      all are done, 3 some failed, are unknown or were cancelled, 4 none is done, 5 files are left: run again, 8 a \
      mismatch. To clear failures of earlier runs use "transfers retry", "transfers resolve" (unknown files), \
      "transfers clean" (cancelled ones) and "transfers clean --failed".
      """)

  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Engine") var settling: SettlingOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @OptionGroup var common: CommonOptions

  func localPlaces(_ context: Context) -> LocalPlaces { LocalPlaces() }

  func execute(_ context: Context) throws(CommandFailure) {
    try common.checkColumns(of: RunOutput.sample(ofPush: false), context)
    let path = try common.storePath(context)
    var options = engine.runOptions(context)
    options.waitsForSettling = !settling.noWait
    options.leftJobs = JobLimits.leftJobs(context, by: nil)
    try LedgerAccess.check(path, context)
    let session = EngineSession(common, progress, title: "transfers run", context)
    defer { session.end() }
    let startedMs = context.clock.wallMs
    let result = try failing { () throws(TransferError) in try session.run(path, options) }
    if let error = result.blocked.min(by: { $0.key < $1.key })?.value { throw CommandFailure(error) }
    var numbers = RunNumbers(result, standing: try standing(path, context))
    numbers.unrecorded = result.unrecorded.min { $0.key < $1.key }?.value
    if settling.noWait { numbers.leaveSettling() }
    do throws(CommandFailure) {
      try RunConclusion(session: session, add: nil, destination: "", storePath: path, sinceMs: startedMs).tell(numbers)
    } catch {
      var failure = error
      // What an engine of the daemon leaves to runs of jobs, or to the next day, is no error.
      let isLeft = failure.status == .workLeft && (numbers.stoppedBy == nil || numbers.stoppedBy == .quota)
      if isLeft, context.variable(DaemonLifeline.variable) != nil { failure.isTold = true }
      throw failure
    }
  }

  private func standing(_ storePath: String, _ context: Context) throws(CommandFailure) -> FileTotals {
    let ledger = try LedgerAccess.open(storePath, context)
    defer { ledger.close() }
    return try LedgerAccess.read(ledger) { FileTotals(try $0.stateTotals(try $0.shown())) }
  }
}
