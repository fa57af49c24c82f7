import ArgumentParser

/// `transfers profile`: upload protocols that are described, not programmed.
struct ProfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile", abstract: "Check, list, show and try profiles: protocols described in YAML.",
    subcommands: [
      ProfileCheckCommand.self, ProfileListCommand.self, ProfileShowCommand.self, ProfileTryCommand.self,
    ])
}
