import ArgumentParser
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The program: arguments in, exit code out. It handles every error.
public enum Program {
  /// Runs the command of this process and ends it.
  public static func main() -> Never {
    signal(SIGPIPE, SIG_IGN)
    // A file that would be longer than `ulimit -f` allows is an error of that file.
    signal(SIGXFSZ, SIG_IGN)
    // A parent may have ignored SIGCHLD; then the end of child processes could not be detected.
    signal(SIGCHLD, SIG_DFL)
    // Also for commands without progress: SIGUSR1 requests a progress line, and must not end the process.
    let signals = SignalWatch {
      TerminalModes.restore()
      OutputFile.abandonUnfinished()
      Streaming.abandonArchives()
    }
    let context = Context.ofProcess().answering(signals)
    DaemonLifeline.watch(context)
    // They apply to this process only, and must not be inherited by child processes.
    for name in [DaemonLifeline.variable, HeldConfig.variable] { unsetenv(name) }
    exit(run(context))
  }

  /// The exit code of the command in `context.arguments`.
  static func run(_ context: Context) -> Int32 {
    var context = context
    do throws(CommandFailure) {
      context = context.configured(try ConfigFiles.config(context))
      let line = try ArgumentLine(context)
      context = context.parsing(line.arguments)
      try execute(line, context)
      if case .failed(let number) = context.out.state {
        let cause = printable(systemText(number))
        throw CommandFailure(
          .error, code: "output", "write standard output: \(cause)",
          remedy: "free space at the target, or write elsewhere with -o FILE")
      }
      return ExitCode.ok.rawValue
    } catch {
      report(error, context)
      if let signal = error.signal { SignalWatch.die(of: signal) }
      let isProbe = CommandPath(context.arguments).words == ["check"]
      if isProbe, !error.isTold, !OutputFormat.isJSON(context.parsed) {
        // Monitoring shows only the first line of standard output.
        let outcome = CheckOutput.Outcome.unknown
        context.out.writeLine("TRANSFERS \(outcome.word) - \(error.text.replacing("|", with: "/"))")
      }
      return error.exitStatus ?? (isProbe ? CheckOutput.Outcome.unknown.rawValue : error.status.rawValue)
    }
  }

  private static func execute(_ line: ArgumentLine, _ context: Context) throws(CommandFailure) {
    let parsed: any ParsableCommand
    do {
      parsed = try RootCommand.parseAsRoot(line.arguments)
    } catch {
      return try finish(parsing: error, line, context)
    }
    guard let command = parsed as? any Command else { return try showHelp(parsed, line, context) }
    Remarks(context.err, command.common).aboutSettings(line.environment, context)
    guard let output = command.common.output, output != NameBytes("-") else { return try command.execute(context) }
    try OutputGuard.check(output, of: command, context)
    let store = try? command.common.storePath(context)
    let file = try OutputFile(output, store: store)
    try execute(command, into: file, file.isReplaced ? PageFiles(beside: output, store: store) : nil, context)
  }

  /// If a command fails after its result is complete (because files failed, for example), the result is kept; after any
  /// other failure the output file keeps its previous content.
  private static func execute(
    _ command: any Command, into file: OutputFile, _ pages: PageFiles?, _ context: Context
  ) throws(CommandFailure) {
    do throws(CommandFailure) {
      try command.execute(context.writing(to: file.stream, pages))
    } catch {
      if file.stream.isComplete { try keep(file, pages) } else { discard(file, pages) }
      throw error
    }
    try keep(file, pages)
  }

  /// Nothing is replaced before everything is durable; the page that refers to the others comes last.
  private static func keep(_ file: OutputFile, _ pages: PageFiles?) throws(CommandFailure) {
    do throws(CommandFailure) {
      try file.seal()
      try pages?.check()
      try pages?.place()
      try file.place()
    } catch {
      file.remove()
      pages?.remove()
      throw error
    }
    pages?.removeFormer()
  }

  private static func discard(_ file: OutputFile, _ pages: PageFiles?) {
    file.discard()
    pages?.remove()
  }

  /// A parsed command that is not one of ours is `--help`, or a command that needs a subcommand.
  private static func showHelp(
    _ parsed: any ParsableCommand, _ line: ArgumentLine, _ context: Context
  ) throws(CommandFailure) {
    var parsed = parsed
    do { try parsed.run() } catch { try finish(parsing: error, line, context) }
  }

  /// `--help` and `--version` end here too: the parser throws them.
  private static func finish(
    parsing error: any Error, _ line: ArgumentLine, _ context: Context
  ) throws(CommandFailure) {
    let status = RootCommand.exitCode(for: error)
    if status.isSuccess { return context.out.writeLine(RootCommand.fullMessage(for: error)) }
    throw line.failure(ParserMessage(RootCommand.message(for: error)))
  }

  private static func report(_ failure: CommandFailure, _ context: Context) {
    if failure.status != .closed, !failure.isTold { context.err.writeLine(failure.line) }
    guard OutputFormat.isJSON(context.parsed) else { return }
    context.err.writeJSON(JSONWriter.bytes(FigureTree(failure.record)) + [0x0A])
  }
}

/// A subcommand: parsed by ArgumentParser, run by us, so that every outcome is a value.
protocol Command: ParsableCommand, Sendable {
  var common: CommonOptions { get }
  func execute(_ context: Context) throws(CommandFailure)
}
