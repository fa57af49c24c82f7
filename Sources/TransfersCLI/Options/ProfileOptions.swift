import ArgumentParser
import TransferModel
import Transfers

/// Which profile speaks to the destination, and what it is told.
struct ProfileOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Speak the protocol of this profile: a file, or a built-in one (transfers profile list).", valueName: "profile"),
    completion: .list(ProfileLibrary.names))
  var via: String?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input of the profile; repeatable. By reference, secrets only so: name=env:NAME or name=file:PATH.",
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
