import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile check`.
struct ProfileCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Report all errors in a profile, with line and column.")

  @Argument(help: ArgumentHelp("A file, or a built-in profile.", valueName: "profile"), completion: .file())
  var profile: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let report = try failing { () throws(TransferError) in try ProfileLibrary.check(profile) }
    let value = ProfileCheckOutput(file: profile, report)
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
    guard !value.ok else { return }
    throw CommandFailure(
      .config, code: "config", "check \"\(printable(profile))\": \(Quantity.count(report.faults.count, "fault"))",
      remedy: "see \"transfers help profiles\"")
  }
}

/// What `profile check` found.
struct ProfileCheckOutput: OutputValue {
  static let schema = "transfers.profile.check/1"
  let ok: Bool
  let file: Cell
  let name: String
  let digest: String
  let faults: [Fault]
  /// Besides the destination.
  let hosts: [String]
  let serverNamedSteps: [String]
  /// Names of inputs by their variable.
  let variables: [String: String]

  struct Fault: Encodable {
    let line: Int
    let column: Int
    let message: String
  }

  init(file: String, _ report: ProfileLibrary.Report) {
    ok = report.faults.isEmpty
    self.file = .name(NameBytes(file))
    name = report.name
    digest = report.digest
    hosts = report.hosts
    serverNamedSteps = report.serverNamedSteps
    variables = report.variables
    faults = report.faults.map { Fault(line: $0.line, column: $0.column, message: $0.message) }
  }

  enum CodingKeys: String, CodingKey {
    case ok, file, name, digest, faults, hosts, variables
    case serverNamedSteps = "server_named_steps"
  }

  /// One line a fault, in the form that editors understand.
  func text(_ style: TextStyle) -> String {
    guard case .name(let path) = file else { return "" }
    if ok { return "ok: \(name), sha256 \(digest)\n" + reach }
    return faults.map { "\(path):\($0.line):\($0.column): \(printable($0.message))\n" }.joined()
  }

  /// Where it sends and what it reads.
  private var reach: String {
    var places = ["the destination"] + hosts.map(printable)
    if !serverNamedSteps.isEmpty {
      places.append("URLs that the server names (\(serverNamedSteps.joined(separator: ", ")))")
    }
    let read = variables.sorted { $0.key < $1.key }.map { "\($0.key) (input \($0.value))" }
    return "sends to: \(places.joined(separator: ", "))\n"
      + "reads from the environment: \(read.isEmpty ? "nothing" : read.joined(separator: ", "))\n"
  }
}
