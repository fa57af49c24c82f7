import ArgumentParser
import TransferReports

/// `transfers completions`: what a shell loads to complete commands, options, batches and ids.
struct CompletionsCommand: Command {
  enum Shell: String, ExpressibleByArgument, CaseIterable, Sendable {
    case bash, zsh, fish

    fileprivate var parserShell: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Print a shell script that completes commands and options.",
    discussion: """
      bash:
        transfers completions bash \\
          > ~/.local/share/bash-completion/completions/transfers
      zsh, with fpath+=~/.zfunc before compinit:
        transfers completions zsh > ~/.zfunc/_transfers
      fish:
        transfers completions fish > ~/.config/fish/completions/transfers.fish
      """)

  @Argument(help: "bash, zsh or fish.") var shell: Shell
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let script = Self.withoutSecondHelp(RootCommand.completionScript(for: shell.parserShell))
    let value = CompletionsOutput(shell: shell.rawValue, script: Self.withFiles(script) + "\n")
    try common.print(value, store: StoreIdentity(path: try? common.storePath(context)), context)
  }

  /// Makes bash complete file names where there is nothing else, because most arguments are files.
  private static func withFiles(_ script: String) -> String {
    script.replacing("\ncomplete -o filenames -F ", with: "\ncomplete -o default -o filenames -F ")
  }

  /// The parser adds a `help` of its own behind ours, which shells would then offer and define twice.
  private static func withoutSecondHelp(_ script: String) -> String {
    var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines.removeAll { $0.contains("Show subcommand help information.") }
    if let second = lines.lastIndex(of: "_transfers_help() {"), lines.firstIndex(of: "_transfers_help() {") != second,
      let end = lines[second...].firstIndex(of: "}")
    {
      lines.removeSubrange(second...end)
    }
    return lines.map { $0.replacing("|help|help)", with: "|help)").replacing(" help help'", with: " help'") }
      .joined(separator: "\n")
  }
}

struct CompletionsOutput: OutputValue {
  let shell: String
  let script: String

  static let form = ReportForm<CompletionsOutput>(
    "transfers.completions/1",
    [.facts([.text("shell") { $0.shell }, .text("script", "") { $0.script }.saying { $0.script }])])
}
