import ArgumentParser
import TransferModel

/// How hard the engine works.
struct EngineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Connections at once, 1 to 256 (default: $TRANSFERS_WORKERS, else chosen).", valueName: "n"))
  var workers: Int?

  @Option(
    help: ArgumentHelp(
      "Upper limit for all connections together: 20M or 20MiB/s (powers of 1024), 20MB/s (powers of 1000) (default: $TRANSFERS_RATE).",
      valueName: "bytes/s"))
  var rate: ByteRate?

  func validate() throws {
    if let workers, !(1...256).contains(workers) { throw ValidationError("--workers must be 1 to 256") }
  }

  func workers(_ context: Context) throws(CommandFailure) -> Int? {
    if let workers { return workers }
    guard let text = context.variable("TRANSFERS_WORKERS") else { return nil }
    guard let number = Int(text), (1...256).contains(number) else {
      throw .usage("TRANSFERS_WORKERS is \"\(printable(text))\"", remedy: "a number from 1 to 256")
    }
    return number
  }

  /// Bytes a second.
  func bytesPerSecond(_ context: Context) throws(CommandFailure) -> Int64? {
    if let rate { return rate.bytesPerSecond }
    guard let text = context.variable("TRANSFERS_RATE") else { return nil }
    guard let rate = ByteRate(argument: text) else {
      throw .usage("TRANSFERS_RATE is \"\(printable(text))\"", remedy: "20M, 1.5MiB/s or 20MB/s")
    }
    return rate.bytesPerSecond
  }
}
