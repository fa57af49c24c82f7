import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile show`.
struct ProfileShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print a profile, for example as a starting point for your own.")

  @Argument(
    help: ArgumentHelp("A built-in profile, or a file.", valueName: "profile"), completion: .list(ProfileLibrary.names))
  var profile: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let text = try failing { () throws(TransferError) in try ProfileLibrary.text(profile) }
    let value = ProfileShowOutput(name: NameBytes(profile), yaml: String(decoding: text, as: UTF8.self))
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }
}

struct ProfileShowOutput: OutputValue {
  let name: NameBytes
  let yaml: String

  static let form = ReportForm<ProfileShowOutput>(
    "transfers.profile.show/1",
    [.facts([.name("name") { $0.name }, .text("yaml", "") { $0.yaml }.saying { $0.text }])])

  /// Unchanged, except for terminal control characters.
  private var text: String {
    let lines = yaml.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { line in
      line.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
        ? printable(String(line)) : String(line)
    }.joined(separator: "\n")
  }
}
