import TransferModel
import Transfers

/// The program inside another process, on a simulated machine: each run behaves like a process, except for signals.
package struct EmbeddedProgram: Sendable {
  package struct Outcome: Sendable {
    package var code: Int32
    package var out: String
    package var err: String
  }

  private let environment: [String: String]
  private let machine: Machine
  private let signals: SignalWatch

  /// - Parameter environment: all variables that the program sees.
  package init(environment: [String: String], on machine: Machine) {
    (self.environment, self.machine) = (environment, machine)
    signals = SignalWatch()
  }

  /// Runs one command. Blocks; one run at a time.
  package func run(_ words: [String]) -> Outcome {
    let (context, out, err) = context(words)
    let code = Program.run(context)
    return Outcome(code: code, out: Self.text(out), err: Self.text(err))
  }

  /// A job of a configuration, read once; `path` is the path of the ledger.
  package func job(_ name: String, config: String, store path: String) throws -> EmbeddedJob {
    let (context, _, _) = context(["job", "run", name, "--config", config, "--store", path])
    let configured = context.configured(try ConfigFiles.config(context))
    let job = try configured.config.job(name, check: configured.configCheck)
    let parsed = try JobLine(job, configured).parsed(["--quiet"])
    return EmbeddedJob(job: job, path: path, context: configured, parsed: parsed)
  }

  private func context(_ words: [String]) -> (Context, out: OutputStream, err: OutputStream) {
    let (out, err) = (OutputStream(keeping: Self.longestOutput), OutputStream(keeping: Self.longestOutput))
    let context = Context(
      arguments: words.map { EscapedArgument.encode(Array($0.utf8)) },
      environment: environment.mapValues { EscapedArgument.encode(Array($0.utf8)) }, out: out, err: err,
      machine: machine, signals: signals)
    return (context, out, err)
  }

  private static let longestOutput = 1 << 20
  private static func text(_ stream: OutputStream) -> String { String(decoding: stream.bytes, as: UTF8.self) }
}

/// A job whose configuration was read and whose command was parsed: each run performs the rest of `transfers job run`.
package struct EmbeddedJob {
  let job: ConfigSection
  let path: String
  let context: Context
  let parsed: [JobLine.Parsed]

  /// One run. Blocks; one run at a time.
  /// - Returns: the exit code, and the text for standard error.
  package func run() throws -> EmbeddedProgram.Outcome {
    let run = JobRun(
      job: job, storePath: path, policy: job["if_locked"]?.value ?? "skip", argv: context.arguments, context: context)
    let telling = JobTelling(job.name, try JobCallbacks.read(job), startedMs: context.clock.wallMs)
    let (outcome, problems) = run.recorded(telling, writesLog: false, plans: nil) { parsed }
    let failure = outcome.failure ?? problems.first
    let said = JobReport.lines(outcome) + (failure.map { $0.line + "\n" } ?? "")
    return EmbeddedProgram.Outcome(code: failure.map { $0.exitStatus ?? $0.status.rawValue } ?? 0, out: "", err: said)
  }
}
