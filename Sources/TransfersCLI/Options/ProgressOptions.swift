import ArgumentParser
import TransferReports

/// Progress display, and how long the engine may take to stop.
struct ProgressOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "auto: a block on a terminal, else plain; plain[:5s]: periodic lines; json: records on standard error.",
      valueName: "how"))
  var progress = ProgressChoice.auto

  @Option(help: ArgumentHelp("How long running requests may continue after the first Ctrl-C.", valueName: "time"))
  var drainTimeout = TimeSpan(ms: 30_000)

  @Option(
    help: ArgumentHelp(
      "While the ledger's disk is full or fails, how long results are kept in memory and written again.",
      valueName: "time"))
  var diskWait = TimeSpan(ms: 300_000)

  @Flag(name: .customLong("si"), help: "Progress in powers of 1000 (MB) instead of 1024 (MiB).")
  var usesSI = false

  @Flag(help: "Progress in ASCII only.")
  var ascii = false

  var units: ByteUnits { usesSI ? .si : .iec }
}
