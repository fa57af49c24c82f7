import CScripts
import TransferEngine
package import TransferModel

/// A Slurm array job that does the work on the shards of a set (docs/scale.md). A task runs
/// tools/slurm/transfers-array.sh, which is embedded in this program.
package struct SlurmArray: Sendable {
  package let work: ShardWork
  /// Options of `sbatch`.
  private let options: [String]

  package init(_ work: ShardWork, options: [String]) { (self.work, self.options) = (work, options) }

  private static let script = "transfers-array.sh"

  /// The command line that submits it.
  package var command: [String] {
    [
      "sbatch", "--array=1-\(work.count)%\(work.atOnce)", "--requeue", "--signal=B:TERM@180", "--open-mode=append",
      "--output=\(work.shared)/shard-%a.log", "--job-name=transfers",
    ] + options + ["\(work.shared)/\(Self.script)", "--task"] + work.arguments
  }

  /// The same, quoted for a shell.
  package var commandText: String { command.map(ShellText.quoted).joined(separator: " ") }

  /// Creates the folder for the ledgers and submits the job to Slurm. Blocking.
  /// - Returns: the number of the job.
  /// - Throws: `.unavailable` if there is no Slurm or it does not accept the job; `.output` or `.usage` for a folder
  ///   that cannot be written.
  package func submit() throws(TransferError) -> String {
    guard try run(["/bin/sh", "-c", "command -v sbatch"]).code == 0 else {
      throw unavailable("there is no command sbatch", "run this where jobs are submitted, or see --print")
    }
    try work.makeFolder()
    var length = 0
    let text = UnsafeBufferPointer(start: cscripts_slurm_task(&length), count: length)
    try work.put(Array(text), Self.script, mode: 0o755)
    // Its error output is captured, too.
    let (code, output) = try run(["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + command)
    let said = String(decoding: output, as: UTF8.self)
    let words = said.split(whereSeparator: \.isWhitespace)
    guard code == 0, let job = words.last.map(String.init), words.count > 3, Int(job) != nil else {
      let cause = said.split(separator: "\n").last.map(String.init) ?? "no message"
      throw unavailable("Slurm did not accept the job (exit code \(code)): \(cause)", "fix that, and submit again")
    }
    return job
  }

  private func run(_ words: [String]) throws(TransferError) -> (code: Int32, output: [UInt8]) {
    do throws(Failure) {
      return try RunningCommand(words, code: .localIO).result(keeping: 4_096, limitMs: 120_000, isOver: { false })
    } catch {
      throw unavailable(error.message, "check with \"squeue --me\" whether the job exists before you submit again")
    }
  }

  private func unavailable(_ cause: String, _ remedy: String) -> TransferError {
    TransferError(.unavailable, "submit shards in", NameBytes(work.shards.path), cause: cause, remedy: remedy)
  }
}

extension TransferError.Kind {
  /// Another program or service that the command needs is missing, or refuses it.
  package static let unavailable = TransferError.Kind(rawValue: "unavailable")
}
