import CScripts
import TransferEngine
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An array job of Slurm that moves the shards of a set: a task for each, with an engine and a ledger of its own
/// (docs/scale.md). What a task does is in tools/slurm/transfers-array.sh, which this program has in it.
package struct SlurmArray: Sendable {
  package enum Work: Sendable, Hashable {
    /// Files below a folder, as the nodes see it, to a destination.
    case upload(base: String, destination: String)
    case download(into: String)
  }

  private let shards: ShardFolder
  /// Seen by all nodes, absolute: ledgers and logs.
  private let shared: String
  private let work: Work
  /// For `add` or `pull`.
  private let words: [String]
  /// Tasks that run at the same time.
  package let atOnce: Int
  /// Limits of one task; nil for none.
  package private(set) var rate: Int64?
  package private(set) var workers: Int?
  /// Runs of one task, at most.
  package var tries = 20
  /// On a disk of the node, for the ledgers; nil for its temporary folder.
  package var local: String?
  /// For `sbatch`.
  package var options: [String] = []

  /// - Parameter atOnce: the most tasks at the same time.
  package init(_ shards: ShardFolder, shared: String, _ work: Work, words: [String], atOnce: Int) {
    (self.shards, self.shared, self.work, self.words) = (shards, shared, work, words)
    self.atOnce = min(atOnce, shards.shards.count)
  }

  package var count: Int { shards.shards.count }

  /// Divides what all tasks may use together, in bytes a second and connections: each may use its part, whether the
  /// others do or not.
  package mutating func divide(rate: Int64?, workers: Int?) {
    self.rate = rate.map { max(1, $0 / Int64(atOnce)) }
    self.workers = workers.map { max(1, $0 / atOnce) }
  }

  /// The line that submits it.
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

  /// The same as a shell reads it.
  package var commandText: String { command.map(ShellText.quoted).joined(separator: " ") }

  private var script: String { "\(shared)/transfers-array.sh" }

  /// Makes the folder for the ledgers and hands the job to Slurm. Blocking.
  /// - Returns: the number of the job.
  /// - Throws: `.unavailable` where there is no Slurm, and when it takes no job; `.output` or `.usage` for a folder
  ///   that cannot be written.
  package func submit() throws(TransferError) -> String {
    guard try run(["/bin/sh", "-c", "command -v sbatch"]).code == 0 else {
      throw unavailable("there is no command sbatch", "run this where jobs are submitted, or see --print")
    }
    try prepare()
    // Its errors are shown, too.
    let (code, output) = try run(["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + command)
    let text = String(decoding: output, as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace)
    guard code == 0, let job = words.last.map(String.init), words.count > 3, Int(job) != nil else {
      let said = text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
      throw unavailable("Slurm took no job (exit code \(code)): \(said)", "see to that, and submit again")
    }
    return job
  }

  private func run(_ words: [String]) throws(TransferError) -> (code: Int32, output: [UInt8]) {
    do throws(Failure) {
      return try RunningCommand(words, code: .localIO).result(keeping: 4_096, limitMs: 120_000, isOver: { false })
    } catch {
      throw unavailable(error.message, "look with \"squeue --me\" whether the job is there before you submit again")
    }
  }

  private func unavailable(_ cause: String, _ remedy: String) -> TransferError {
    TransferError(.unavailable, "submit shards in", NameBytes(shards.path), cause: cause, remedy: remedy)
  }

  /// The folder, the script, and a name by which nodes tell this folder from one that was there before it.
  private func prepare() throws(TransferError) {
    guard mkdir(shared, 0o777) == 0 || errno == EEXIST else { throw ShardSet.failure("make folder", shared) }
    var length = 0
    let text = UnsafeBufferPointer(start: cscripts_slurm_task(&length), count: length)
    try put(Array(text), script, mode: 0o755)
    guard access("\(shared)/id", F_OK) != 0 else { return }
    let id = String(UInt64.random(in: .min ... .max), radix: 16)
    try put(Array("\(id)\n".utf8), "\(shared)/id", mode: 0o666)
  }

  /// Durably, or not at all.
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
  /// Another program or service that the command needs is not there, or refuses it.
  package static let unavailable = TransferError.Kind(rawValue: "unavailable")
}
