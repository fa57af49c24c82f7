import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile check`.
struct ProfileCheckCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say everything that is wrong in a profile, with line and column.")

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
    faults = report.faults.map { Fault(line: $0.line, column: $0.column, message: $0.message) }
  }

  /// One line a fault, in the form that editors understand.
  func text(_ style: TextStyle) -> String {
    guard case .name(let path) = file else { return "" }
    if ok { return "ok: \(name), sha256 \(digest)\n" }
    return faults.map { "\(path):\($0.line):\($0.column): \(printable($0.message))\n" }.joined()
  }
}
