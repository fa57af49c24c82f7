import ArgumentParser
import TransferModel
import TransferReports

/// Runs a command of this program in process: the served output equals that of the same arguments in a shell.
struct InnerCommand {
  let context: Context
  let store: String
  /// An answer is kept in memory completely.
  private static let limit = 32 << 20

  /// The output of the command. `type` is for commands that are not subcommands of the program.
  func run(
    _ words: [String], as type: (any ParsableCommand.Type)? = nil, live: HTMLLive? = nil,
    page: ServedPage? = nil
  ) throws(CommandFailure) -> [UInt8] {
    let words = words + ["--store", store]
    guard let command = try parse(words, type ?? RootCommand.self) as? any Command else {
      throw .usage("\"\(printable(words[0]))\" is not a command")
    }
    let (out, err) = (OutputStream(keeping: Self.limit), OutputStream(keeping: Self.limit))
    try command.execute(
      Context(arguments: words, environment: context.environment, out: out, err: err, machine: context.machine)
        .showing(live, page).configured(context.config))
    guard out.state == .open else {
      throw CommandFailure(.error, "the answer is longer than \(Self.limit) bytes", remedy: "limit=1000")
    }
    return out.bytes
  }

  private func parse(_ words: [String], _ type: any ParsableCommand.Type) throws(CommandFailure) -> any ParsableCommand
  {
    do { return try type.parseAsRoot(words) } catch {
      throw .usage(printable(type.message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")))
    }
  }
}
