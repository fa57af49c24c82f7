import ArgumentParser
import Transfers

/// `transfers`.
struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers",
    abstract: "Moves files over HTTP and never forgets.",
    discussion: """
      Every file, chunk and attempt is recorded in a ledger before it is acted on. Kill it, cut the power, run it \
      twice: the next run continues at the point that the server really reached.

      Try:
        transfers push DIR s3://bucket/prefix/   upload a folder
        transfers run                            continue after a crash
        transfers report                         what happened
      """,
    version: TransferClient.version,
    subcommands: [
      PushCommand.self, PullCommand.self, VerifyCommand.self, ProveCommand.self,
      AddCommand.self, RunCommand.self, DaemonCommand.self, StatusCommand.self, ListCommand.self, ShowCommand.self,
      WhyCommand.self, FollowCommand.self, ServeCommand.self, TopCommand.self, PauseCommand.self, ResumeCommand.self,
      CancelCommand.self,
      RetryCommand.self,
      ResolveCommand.self,
      RemoveCommand.self, CleanCommand.self, GcCommand.self, SetCommand.self, WaitCommand.self, ReportCommand.self,
      ConfigCommand.self, DestCommand.self, JobCommand.self, CallbacksCommand.self, CheckCommand.self,
      ManifestCommand.self, ShardCommand.self, CondorPluginCommand.self,
      ProfileCommand.self, StoreCommand.self,
      DoctorCommand.self, CompletionsCommand.self, HelpCommand.self,
    ])

  static var names: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }
}
