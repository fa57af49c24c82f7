import ArgumentParser
import TransferModel
import Transfers

/// Limits and behaviour of the engine.
struct EngineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Concurrent connections, 1 to 256 (default: automatic).", valueName: "n"))
  var workers: Int?

  @Option(
    help: ArgumentHelp(
      "Upper limit for all connections together: 20M or 20MiB/s (powers of 1024), 20MB/s (powers of 1000); or by local time: '08:00,5M 18:00,off', 'Mon-08:00,5M Fri-18:00,off'.",
      valueName: "bytes/s"))
  var rate: RunRateSetting?

  @Option(
    help: ArgumentHelp(
      "Share --rate with the engines of this user and host that name the same group; the smallest rate counts.",
      valueName: "name"))
  var rateGroup: String?

  @Option(
    help: ArgumentHelp(
      "Stop after this time, with exit code 5 if work is left: 50m, 8h. No request begins that cannot end by then; running ones get --drain-timeout.",
      valueName: "time"))
  var maxDuration: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Stop before the bodies exceed this many bytes, with exit code 5 if work is left: 20G, 500MB.", valueName: "bytes"
    ))
  var maxBytes: ByteQuantity?

  @Flag(
    help:
      "Use a copy of a ledger as if it were the original. Only if the original has sent nothing since: without this, pending files that must not be sent twice become unknown."
  )
  var trustCopy = false

  func validate() throws {
    if let workers, !(1...256).contains(workers) { throw ValidationError("--workers must be 1 to 256") }
    if let maxDuration, maxDuration.ms == 0 { throw ValidationError("--max-duration must be longer than 0") }
  }

  /// Refuses a rate group that cannot be joined. For commands that record files before they start an engine.
  func checkRateGroup() throws(CommandFailure) {
    guard let rateGroup else { return }
    try failing { () throws(TransferError) in try TransferStore.checkRateGroup(rateGroup) }
  }

  /// The options for a command that starts an engine.
  func runOptions(_ context: Context) -> RunOptions {
    var options = RunOptions(workers: workers, argv: RecordedArguments.masked(context.arguments))
    options.rates = rate?.timetable
    options.rateGroup = rateGroup
    options.trustsCopy = trustCopy
    options.maxDurationMs = maxDuration?.ms
    options.maxBytes = maxBytes?.bytes
    return options
  }
}
