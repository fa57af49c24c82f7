import ArgumentParser
import TransferLedger
import TransferModel
import Transfers

/// `transfers run`: works until nothing is left.
struct RunCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Send what is recorded until nothing is left.",
    discussion: """
      Goes on after a crash, kill or power cut: it asks the server what it has, then sends the rest. Ctrl-C finishes the \
      requests that are running and stops; a second Ctrl-C stops at once. Exit code 5 means: run again.
      """)

  @OptionGroup(title: "Engine") var engine: EngineOptions
  @OptionGroup(title: "Progress") var progress: ProgressOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    try common.checkColumns(of: RunOutput.sample(ofPush: false), context)
    let options = RunOptions(
      storePath: try common.storePath(context), workers: engine.workers,
      rate: engine.bytesPerSecond, argv: RecordedArguments.masked(context.arguments))
    try LedgerAccess.check(options.storePath, context)
    let session = EngineSession(common, progress, title: "transfers run", context)
    let startedMs = context.clock.wallMs
    let result = try failing { () throws(TransferError) in try session.run(options) }
    if let error = result.blocked.min(by: { $0.key < $1.key })?.value { throw CommandFailure(error) }
    try session.conclude(
      RunNumbers(result), add: nil, destination: "", storePath: options.storePath, sinceMs: startedMs)
  }
}
