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
  private let file: NameBytes
  private let found: ProfileLibrary.Report
  var ok: Bool { found.faults.isEmpty }

  init(file: String, _ report: ProfileLibrary.Report) { (self.file, found) = (NameBytes(file), report) }

  static let form = ReportForm<ProfileCheckOutput>(
    "transfers.profile.check/1",
    [
      .facts([
        .flag("ok", "") { $0.ok }.saying { $0.ok ? "ok: \($0.found.name), sha256 \($0.found.digest)" : nil },
        .name("file") { $0.file },
        .text("name") { $0.found.name },
        .text("digest") { $0.found.digest },
        .list("hosts", "sends to") { $0.found.hosts }.saying { $0.ok ? $0.places : nil },
        .list("server_named_steps") { $0.found.serverNamedSteps },
        .texts("variables", "reads from the environment") { $0.found.variables }.saying { $0.ok ? $0.variables : nil },
      ]),
      .words { $0.ok ? nil : $0.faults },
      .table("faults", nil, columns, TableLook(isForPrograms: true)) { $0.found.faults },
    ])

  private static let columns: [Column<ProfileLibrary.Fault>] = [
    .integer("line", "Line") { $0.line },
    .integer("column", "Column") { $0.column },
    .text("message", "Message") { $0.message },
  ]

  /// One line a fault, in the form that editors understand.
  private var faults: String {
    found.faults.map { "\(file):\($0.line):\($0.column): \(printable($0.message))\n" }.joined()
  }

  /// Besides the destination.
  private var places: String {
    var places = ["the destination"] + found.hosts.map(printable)
    if !found.serverNamedSteps.isEmpty {
      places.append("URLs that the server names (\(found.serverNamedSteps.joined(separator: ", ")))")
    }
    return places.joined(separator: ", ")
  }

  /// Names of inputs by their variable.
  private var variables: String {
    let read = found.variables.sorted { $0.key < $1.key }.map { "\($0.key) (input \($0.value))" }
    return read.isEmpty ? "nothing" : read.joined(separator: ", ")
  }
}
