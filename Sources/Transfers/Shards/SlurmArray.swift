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
  private static let lookFirst = "check with \"squeue --me\" whether the job exists before you submit again"

  /// The command line that submits it.
  package var command: [String] {
    [
      "sbatch", "--array=1-\(work.count)%\(work.atOnce)", "--requeue", "--signal=B:TERM@180", "--open-mode=append",
      // Slurm replaces %a and the like in the name of the folder, too.
      "--output=\(work.shared.replacing("%", with: "%%"))/shard-%a.log", "--job-name=transfers",
    ] + options + ["\(work.shared)/\(Self.script)", "--task"] + work.arguments
  }

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
    let (code, output) = try run(["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + command)
    let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
    let last = lines.last.map(String.init) ?? "no message"
    guard code == 0 else {
      throw unavailable("Slurm did not accept the job (exit code \(code)): \(last)", "fix that, and submit again")
    }
    // "Submitted batch job 12 on cluster a", or with --parsable "12;a".
    guard let job = lines.last?.split(whereSeparator: { " ;".contains($0) }).compactMap({ Int($0) }).first else {
      throw unavailable("sbatch ended with 0, but named no job: \(last)", Self.lookFirst)
    }
    return String(job)
  }

  private func run(_ words: [String]) throws(TransferError) -> (code: Int32, output: [UInt8]) {
    do throws(Failure) {
      return try RunningCommand(words, code: .localIO).result(keeping: 65_536, limitMs: 120_000, isOver: { false })
    } catch {
      throw unavailable(error.message, Self.lookFirst)
    }
  }

  private func unavailable(_ cause: String, _ remedy: String) -> TransferError {
    TransferError(.unavailable, "submit shards in", NameBytes(work.shards.path), cause: cause, remedy: remedy)
  }
}
