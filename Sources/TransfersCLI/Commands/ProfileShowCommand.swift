import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile show`.
struct ProfileShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print a profile: a file to begin with for a server of your own.")

  @Argument(
    help: ArgumentHelp("A built-in profile, or a file.", valueName: "profile"), completion: .list(ProfileLibrary.names))
  var profile: String
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let text = try failing { () throws(TransferError) in try ProfileLibrary.text(profile) }
    let value = ProfileShowOutput(name: .name(NameBytes(profile)), yaml: String(decoding: text, as: UTF8.self))
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }
}

struct ProfileShowOutput: OutputValue {
  static let schema = "transfers.profile.show/1"
  let name: Cell
  let yaml: String

  /// The text as it is, but for what would drive a terminal.
  func text(_ style: TextStyle) -> String {
    let lines = yaml.split(separator: "\n", omittingEmptySubsequences: false)
    let text = lines.map { line in
      line.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
        ? printable(String(line)) : String(line)
    }.joined(separator: "\n")
    return text.hasSuffix("\n") ? text : text + "\n"
  }
}
