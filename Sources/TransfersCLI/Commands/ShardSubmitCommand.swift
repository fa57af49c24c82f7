import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers shard`: the parts of a manifest on several machines.
struct ShardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shard", abstract: "Move the parts of a manifest on several machines.",
    subcommands: [ShardSubmitCommand.self])
}

/// `transfers shard submit`.
struct ShardSubmitCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Move shards by an array job of Slurm: one engine and one ledger for each.",
    discussion: """
      SHARDS is the folder that "manifest shard" made; SHARED a folder that all nodes see, for ledgers and logs. Files are \
      read below BASE and sent to DEST, or with --pull fetched into FOLDER. All paths are those that the nodes see. Words \
      after -- are for "transfers add", or "transfers pull", on the nodes.

      A task that ends with 5 (work is left) is queued again, one with 77 (no credentials) is held with the reason in its \
      comment; all others are final. TERM, sent 180 seconds before the time limit and at a preemption, lets the running \
      requests end. Each run ends with SHARED/NAME.db, a backup of the ledger, from which another node continues. \
      Without Slurm, and when it takes no job, the exit code is 69. See docs/scale.md.

      Examples:
        transfers shard submit --slurm --print shards/ /shared/out /data/out s3://bucket/in/
        transfers shard submit --slurm --rate 800M --sbatch='--partition=dtn --time=8:00:00' shards/ /shared/out /data/out \
      s3://bucket/in/ -- --region eu-central-1
        transfers shard submit --slurm --pull shards/ /shared/in /data/in
      """)

  @Argument(help: ArgumentHelp("The folder that \"manifest shard\" made.", valueName: "shards"), completion: .directory)
  var shards: String
  @Argument(help: ArgumentHelp("Seen by all nodes, for ledgers and logs.", valueName: "shared"), completion: .directory)
  var shared: String
  @Argument(help: ArgumentHelp("The folder of the files.", valueName: "base"), completion: .directory)
  var base: String
  @Argument(help: ArgumentHelp("Where they are sent; none with --pull.", valueName: "dest"))
  var destination: String?
  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("After --: options of add or pull.", valueName: "word"))
  var words: [String] = []
  @Flag(help: "The scheduler; it must be named.") var slurm = false
  @Flag(name: [.customLong("print"), .customShort("n")], help: "Only print the sbatch command; nothing is made.")
  var prints = false
  @Flag(help: "Also a set that lacks files which could not be listed (\"failed\" in shards.json).")
  var incomplete = false
  @Flag(help: "Fetch the files of the shards into FOLDER.") var pull = false
  @Option(help: ArgumentHelp("Shards at the same time.", valueName: "n")) var atOnce = 8
  @Option(help: ArgumentHelp("Of all tasks together: divided by --at-once.", valueName: "bytes/s")) var rate: ByteRate?
  @Option(help: ArgumentHelp("Connections of all tasks together: divided by --at-once.", valueName: "n"))
  var workers: Int?
  @Option(help: ArgumentHelp("Runs of one shard, at most.", valueName: "n")) var tries = 20
  @Option(
    help: ArgumentHelp(
      "On a disk of the node, for the ledgers (default: $SLURM_TMPDIR, $TMPDIR or /tmp).", valueName: "folder"))
  var local: String?
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Options for sbatch, divided at blanks; repeatable.", valueName: "words"))
  var sbatch: [String] = []
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard slurm else { throw ValidationError("name the scheduler: --slurm is the only one") }
    let places = [shards, shared, base, destination].compactMap(\.self)
    guard places.count == (pull ? 3 : 4), !places.contains(where: \.isEmpty) else {
      throw ValidationError("give SHARDS SHARED BASE DEST, or with --pull SHARDS SHARED FOLDER")
    }
    for (option, number) in [("at-once", atOnce), ("workers", workers ?? 1), ("tries", tries)]
    where !(1...999_999).contains(number) {
      throw ValidationError("--\(option) is a number from 1 to 999999")
    }
    if words.contains("--stage") {
      throw ValidationError("no --stage: its copies lie beside the ledger, on one node only")
    }
    if (places + words + sbatch + [local ?? ""]).contains(where: EscapedArgument.isEscaped) {
      throw ValidationError("Slurm takes arguments in UTF-8 only")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let folder = try failing { () throws(TransferError) in try ShardFolder(AbsolutePath.of(shards)) }
    if !incomplete { try failing { () throws(TransferError) in try folder.checkComplete() } }
    let work = destination.map { SlurmArray.Work.upload(base: base, destination: $0) } ?? .download(into: base)
    var job = SlurmArray(folder, shared: AbsolutePath.of(shared), work, words: words, atOnce: atOnce)
    job.divide(rate: rate?.bytesPerSecond, workers: workers)
    job.tries = tries
    job.local = local
    job.options = sbatch.flatMap { $0.split(separator: " ").map(String.init) }
    let number = prints ? nil : try failing { () throws(TransferError) in try job.submit() }
    let output = ShardSubmitOutput(job: job, unlisted: folder.failed, number: number)
    try common.print(output, store: StoreIdentity(path: nil), context)
  }
}

struct ShardSubmitOutput: OutputValue {
  let job: SlurmArray
  /// Files that could not be listed, and are not moved.
  let unlisted: Int
  /// nil when it was only printed.
  let number: String?

  static let form = ReportForm<ShardSubmitOutput>(
    "transfers.shard.submit/1",
    [
      .words { "$ \(printable($0.job.commandText))\n" },
      .facts([
        .integer("shards", "shards") { $0.job.count },
        .integer("files_not_listed", "files not listed") { $0.unlisted },
        .integer("at_once", "at the same time") { $0.job.atOnce },
        .rate("task_bps", "rate of each task") { $0.job.rate },
        .integer("task_workers", "workers of each task") { $0.job.workers },
        .integer("tries", "tries of each shard") { $0.job.tries },
        .text("job", "job") { $0.number },
        .list("command") { $0.job.command },
      ]),
    ])
}
