import ArgumentParser
import TransferModel
import Transfers

/// How hard the engine works.
struct EngineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Connections at once, 1 to 256 (default: chosen).", valueName: "n"))
  var workers: Int?

  @Option(
    help: ArgumentHelp(
      "Upper limit for all connections together: 20M or 20MiB/s (powers of 1024), 20MB/s (powers of 1000); or by local time: '08:00,5M 18:00,off', 'Mon-08:00,5M Fri-18:00,off'.",
      valueName: "bytes/s"))
  var rate: RunRateSetting?

  @Option(
    help: ArgumentHelp(
      "End with work left (exit code 5) after so long: 50m, 8h. Nothing is begun that cannot end by then; what is still being sent gets --drain-timeout.",
      valueName: "time"))
  var maxDuration: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "End with work left (exit code 5) before more bytes of bodies would move: 20G, 500MB.", valueName: "bytes"))
  var maxBytes: ByteQuantity?

  @Flag(
    help:
      "Go on with a copy of a ledger as with the ledger itself: nothing was sent from that one since. Without it, what was pending and must not be sent twice is unknown."
  )
  var trustCopy = false

  func validate() throws {
    if let workers, !(1...256).contains(workers) { throw ValidationError("--workers must be 1 to 256") }
    if let maxDuration, maxDuration.ms == 0 { throw ValidationError("--max-duration must be longer than nothing") }
  }

  /// What a command that begins an engine with these asks for.
  func runOptions(_ context: Context) -> RunOptions {
    var options = RunOptions(workers: workers, argv: RecordedArguments.masked(context.arguments))
    options.rates = rate?.timetable
    options.trustsCopy = trustCopy
    options.maxDurationMs = maxDuration?.ms
    options.maxBytes = maxBytes?.bytes
    return options
  }
}
