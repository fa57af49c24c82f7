import ArgumentParser
import Glibc
import Receiver
import TransferModel

@main
struct TransfersReceiver: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers-receiver",
    abstract: "A small real HTTP server that receives uploads, for the quick start and the tests.",
    discussion: ReceiverHelp.text)

  @Option(
    help: ArgumentHelp("Numeric address and port to listen on; port 0 takes a free one.", valueName: "address:port"))
  var listen = "127.0.0.1:0"

  @Option(help: ArgumentHelp("Folder for the objects; created when it is missing.", valueName: "folder"))
  var dir: String?

  @Option(help: ArgumentHelp("Append every event to this file, one JSON object per line.", valueName: "file"))
  var record: String?

  @Option(help: ArgumentHelp("Produce the faults in this fault script.", valueName: "file"))
  var script: String?

  @Option(help: "Seed for the random choices of the script.")
  var seed: UInt64 = 0

  @Option(help: ArgumentHelp("Write the port to this file once the server is ready.", valueName: "file"))
  var portFile: String?

  @Option(help: ArgumentHelp("Require the user:password in this file.", valueName: "file"))
  var authBasicFile: String?

  @Option(help: ArgumentHelp("Require the bearer token in this file.", valueName: "file"))
  var authBearerFile: String?

  @Option(help: ArgumentHelp("Refuse longer bodies with 413.", valueName: "bytes"))
  var maxBody: Int64?

  @Flag(help: "Answer 409 when a parent collection is missing, instead of creating it.")
  var strictParents = false

  @Flag(help: "Count and record bodies, but store nothing; compute checksums only if a request brings one.")
  var discard = false

  @Flag(help: "Print no line for each request on stderr.")
  var quiet = false

  func validate() throws {
    if dir == nil && !discard { throw ValidationError("--dir or --discard is required") }
    if let maxBody, maxBody < 0 { throw ValidationError("--max-body cannot be negative") }
    _ = try address()
  }

  func run() throws {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT] { sigaddset(&signals, signal) }
    raiseDescriptorLimit()
    // Before any thread starts, so that all of them inherit the mask and `sigwait` below gets the signals.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    do throws(TransferError) {
      let server = try ReceiverServer(try settings())
      announce(try server.start())
      try writePortFile(server.port)
      var received: Int32 = 0
      sigwait(&signals, &received)
      server.stop()
      printError("transfers-receiver: \(server.summary)")
    } catch {
      printError("transfers-receiver: \(error)")
      throw ExitCode(error.kind == .usage ? 64 : 1)
    }
  }

  private func address() throws(ValidationError) -> (host: String, port: UInt16) {
    guard let colon = listen.lastIndex(of: ":"), let port = UInt16(listen[listen.index(after: colon)...]) else {
      throw ValidationError("--listen takes ADDRESS:PORT, for example 127.0.0.1:0 or [::1]:8080")
    }
    var host = String(listen[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    return (host == "localhost" ? "127.0.0.1" : host, port)
  }

  private func settings() throws(TransferError) -> ReceiverSettings {
    var settings = ReceiverSettings(directory: dir ?? "", recordPath: record)
    do throws(ValidationError) {
      (settings.host, settings.port) = try address()
    } catch {
      throw TransferError(.usage, "read", NameBytes("--listen"), cause: error.message)
    }
    settings.seed = seed
    if let script { settings.script = try FaultScript.read(path: script) }
    settings.basicCredential = try authBasicFile.map { path throws(TransferError) in try secret(inFile: path) }
    settings.bearerToken = try authBearerFile.map { path throws(TransferError) in try secret(inFile: path) }
    settings.maxBody = maxBody ?? .max
    settings.strictParents = strictParents
    settings.discards = discard
    if !quiet { settings.log = { printError($0) } }
    return settings
  }
}
