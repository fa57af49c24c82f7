import CScripts
import TransferEngine
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A Slurm array job that transfers the shards of a set: one task for each, with its own engine and ledger
/// (docs/scale.md). A task runs tools/slurm/transfers-array.sh, which is embedded in this program.
package struct SlurmArray: Sendable {
  package enum Work: Sendable, Hashable {
    /// Files below a folder, as the nodes see it, to a destination.
    case upload(base: String, destination: String)
    case download(into: String)
  }

  private let shards: ShardFolder
  /// Absolute path of a folder that all nodes share, for ledgers and logs.
  private let shared: String
  private let work: Work
  /// Arguments of `add` or `pull`.
  private let words: [String]
  /// The number of tasks that run at the same time.
  package let atOnce: Int
  /// Limits of one task; nil for none.
  package private(set) var rate: Int64?
  package private(set) var workers: Int?
  /// The maximum number of runs of one task.
  package var tries = 20
  /// A folder on a disk of the node, for the ledgers; nil for its temporary folder.
  package var local: String?
  /// Options of `sbatch`.
  package var options: [String] = []

  /// - Parameter atOnce: the maximum number of tasks at the same time.
  package init(_ shards: ShardFolder, shared: String, _ work: Work, words: [String], atOnce: Int) {
    (self.shards, self.shared, self.work, self.words) = (shards, shared, work, words)
    self.atOnce = min(atOnce, shards.shards.count)
  }

  package var count: Int { shards.shards.count }

  /// The folder of the files if this host does not have it; the nodes may.
  package var missingBase: String? {
    guard case .upload(let base, _) = work, !FolderPlace.isFolder(NameBytes(base)) else { return nil }
    return base
  }

  /// Divides the limits of all tasks together, in bytes per second and connections: each may use its share, even if the
  /// others do not use theirs.
  package mutating func divide(rate: Int64?, workers: Int?) {
    self.rate = rate.map { max(1, $0 / Int64(atOnce)) }
    self.workers = workers.map { max(1, $0 / atOnce) }
  }

  /// The command line that submits it.
  package var command: [String] {
    let (verb, place, destination) =
      switch work {
      case .upload(let base, let destination): ("add", base, destination)
      case .download(let folder): ("pull", folder, "-")
      }
    return [
      "sbatch", "--array=1-\(count)%\(atOnce)", "--requeue", "--signal=B:TERM@180", "--open-mode=append",
      "--output=\(shared)/shard-%a.log", "--job-name=transfers",
    ] + options + [
      script, "--task", verb, shards.path, shared, place, destination, String(rate ?? 0), String(workers ?? 0),
      String(tries), local ?? "-",
    ] + words
  }

  /// The same, quoted for a shell.
  package var commandText: String { command.map(ShellText.quoted).joined(separator: " ") }

  private var script: String { "\(shared)/transfers-array.sh" }

  /// Creates the folder for the ledgers and submits the job to Slurm. Blocking.
  /// - Returns: the number of the job.
  /// - Throws: `.unavailable` if there is no Slurm or it does not accept the job; `.output` or `.usage` for a folder
  ///   that cannot be written.
  package func submit() throws(TransferError) -> String {
    guard try run(["/bin/sh", "-c", "command -v sbatch"]).code == 0 else {
      throw unavailable("there is no command sbatch", "run this where jobs are submitted, or see --print")
    }
    try prepare()
    // Its error output is captured, too.
    let (code, output) = try run(["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + command)
    let text = String(decoding: output, as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace)
    guard code == 0, let job = words.last.map(String.init), words.count > 3, Int(job) != nil else {
      let said = text.split(separator: "\n").last.map(String.init) ?? "no message"
      throw unavailable("Slurm did not accept the job (exit code \(code)): \(said)", "fix that, and submit again")
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
    TransferError(.unavailable, "submit shards in", NameBytes(shards.path), cause: cause, remedy: remedy)
  }

  /// Creates the folder, the script, and an id by which nodes distinguish this folder from an earlier one.
  private func prepare() throws(TransferError) {
    guard mkdir(shared, 0o777) == 0 || errno == EEXIST else { throw ShardSet.failure("make folder", shared) }
    var length = 0
    let text = UnsafeBufferPointer(start: cscripts_slurm_task(&length), count: length)
    try put(Array(text), script, mode: 0o755)
    guard access("\(shared)/id", F_OK) != 0 else { return }
    let id = String(UInt64.random(in: .min ... .max), radix: 16)
    try put(Array("\(id)\n".utf8), "\(shared)/id", mode: 0o666)
  }

  /// Writes a file durably, or not at all.
  private func put(_ bytes: [UInt8], _ path: String, mode: mode_t) throws(TransferError) {
    let part = "\(path).\(getpid())"
    unlink(part)
    let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, FileText.write(bytes, to: descriptor, at: 0), fsync(descriptor) == 0,
      rename(part, path) == 0
    else {
      let error = ShardSet.failure("write", path)
      unlink(part)
      throw error
    }
  }
}

extension TransferError.Kind {
  /// Another program or service that the command needs is missing, or refuses it.
  package static let unavailable = TransferError.Kind(rawValue: "unavailable")
}
