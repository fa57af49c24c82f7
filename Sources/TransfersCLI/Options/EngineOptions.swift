import ArgumentParser

/// How hard the engine works.
struct EngineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Connections at once, 1 to 256 (default: chosen).", valueName: "n"))
  var workers: Int?

  @Option(
    help: ArgumentHelp(
      "Upper limit for all connections together: 20M or 20MiB/s (powers of 1024), 20MB/s (powers of 1000).",
      valueName: "bytes/s"))
  var rate: ByteRate?

  @Flag(
    help:
      "Go on with a copy of a ledger as with the ledger itself: nothing was sent from that one since. Without it, what was pending and must not be sent twice is unknown."
  )
  var trustCopy = false

  func validate() throws {
    if let workers, !(1...256).contains(workers) { throw ValidationError("--workers must be 1 to 256") }
  }

  /// Bytes a second.
  var bytesPerSecond: Int64? { rate?.bytesPerSecond }
}
