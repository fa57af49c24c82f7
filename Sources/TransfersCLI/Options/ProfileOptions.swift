import ArgumentParser
import TransferModel
import Transfers

/// The profile of the destination, and its inputs.
struct ProfileOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use the protocol of this profile: a file, or a built-in one (transfers profile list).", valueName: "profile"),
    completion: .list(ProfileLibrary.names))
  var via: String?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input of the profile; repeatable. By reference, which is required for secrets: name=env:NAME or name=file:PATH.",
      valueName: "name=value"))
  var inputs: [String] = []

  func settings() throws(CommandFailure) -> ProfileSettings? {
    guard let via else {
      if inputs.isEmpty { return nil }
      throw .usage("--input is for profiles", remedy: "name one with --via; transfers profile list")
    }
    return try failing { () throws(TransferError) in try ProfileLibrary.settings(via: via, inputs: inputs) }
  }
}
