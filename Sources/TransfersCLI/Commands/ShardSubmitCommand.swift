import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers shard`: transfers the shards of a manifest on several machines.
struct ShardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shard", abstract: "Transfer the shards of a manifest on several machines.",
    subcommands: [ShardSubmitCommand.self])
}

/// `transfers shard submit`.
struct ShardSubmitCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Transfer shards by a Slurm array job, with one engine and one ledger for each.",
    discussion: """
      SHARDS is the folder that "manifest shard" wrote; SHARED is a folder that all nodes see, for ledgers and logs. \
      Files are read below BASE and sent to DEST, or with --pull fetched into FOLDER. All paths are as the nodes see \
      them. Arguments after -- are options for "transfers add", or "transfers pull", on the nodes; they and DEST are \
      checked before anything is submitted.

      A task that ends with 5 (work is left) is queued again; one that ends with 77 (no credentials) is held, with the \
      reason in its comment; all other exit codes are final. TERM, sent 180 seconds before the time limit and at a \
      preemption, lets running requests end. Each run ends by writing SHARED/NAME.db, a backup of the ledger, from \
      which another node continues. If Slurm is missing or does not accept the job, the exit code is 69. See \
      docs/scale.md.

      Examples:
        transfers shard submit --slurm --print shards/ \\
          /shared/out /data/out s3://bucket/in/
        transfers shard submit --slurm --rate 800M \\
          --sbatch='--partition=dtn --time=8:00:00' shards/ \\
          /shared/out /data/out s3://bucket/in/ -- --region eu-central-1
        transfers shard submit --slurm --pull shards/ /shared/in /data/in
      """)

  @Argument(help: ArgumentHelp("The folder that \"manifest shard\" made.", valueName: "shards"), completion: .directory)
  var shards: String
  @Argument(help: ArgumentHelp("For ledgers and logs; all nodes see it.", valueName: "shared"), completion: .directory)
  var shared: String
  @Argument(help: ArgumentHelp("The folder of the files.", valueName: "base"), completion: .directory)
  var base: String
  @Argument(help: ArgumentHelp("The destination; omitted with --pull.", valueName: "dest"))
  var destination: String?
  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("After --: options of add or pull.", valueName: "word"))
  var words: [String] = []
  @Flag(help: "Use Slurm; required.") var slurm = false
  @Flag(name: [.customLong("print"), .customShort("n")], help: "Only print the sbatch command; creates nothing.")
  var prints = false
  @Flag(help: "Accept a set without the files that could not be listed (\"failed\" in shards.json).")
  var incomplete = false
  @Flag(help: "Fetch the files of the shards into FOLDER.") var pull = false
  @Option(help: ArgumentHelp("Number of concurrent tasks.", valueName: "n")) var atOnce = 8
  @Option(help: ArgumentHelp("For all tasks; divided by --at-once.", valueName: "bytes/s")) var rate: ByteRate?
  @Option(help: ArgumentHelp("Connections of all tasks together; divided by --at-once.", valueName: "n"))
  var workers: Int?
  @Option(help: ArgumentHelp("Maximum number of runs of one shard.", valueName: "n")) var tries = 20
  @Option(
    help: ArgumentHelp(
      "Folder on a disk of the node, for the ledgers (default: $SLURM_TMPDIR, $TMPDIR or /tmp).", valueName: "folder"))
  var local: String?
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Options for sbatch, separated by blanks; repeatable.", valueName: "words"))
  var sbatch: [String] = []
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard slurm else { throw ValidationError("name the scheduler: --slurm is the only supported one") }
    let places = [shards, shared, base, destination].compactMap(\.self)
    guard places.count == (pull ? 3 : 4), !places.contains(where: \.isEmpty) else {
      throw ValidationError("give SHARDS SHARED BASE DEST, or with --pull SHARDS SHARED FOLDER")
    }
    for (option, number) in [("at-once", atOnce), ("workers", workers ?? 1), ("tries", tries)]
    where !(1...999_999).contains(number) {
      throw ValidationError("--\(option) must be a number from 1 to 999999")
    }
    if let word = words.first(where: { $0 == "--stage" || $0 == "--growing" || $0.hasPrefix("--growing=") }) {
      let option = word.prefix { $0 != "=" }
      throw ValidationError("\(option) is not supported: its copies are beside the ledger, on one node only")
    }
    if (places + words + sbatch + [local ?? ""]).contains(where: EscapedArgument.isEscaped) {
      throw ValidationError("Slurm accepts only arguments in UTF-8")
    }
    if AbsolutePath.of(shared).contains("\\") {
      throw ValidationError("SHARED must not have a backslash in its path: Slurm would give all logs one name")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let folder = try failing { () throws(TransferError) in try ShardFolder(AbsolutePath.of(shards)) }
    if !incomplete { try failing { () throws(TransferError) in try folder.checkComplete() } }
    try checkWords(context)
    let place = AbsolutePath.of(base)
    let direction =
      destination.map { ShardWork.Direction.upload(base: place, destination: $0) } ?? .download(into: place)
    var work = ShardWork(folder, shared: AbsolutePath.of(shared), direction, words: words, atOnce: atOnce)
    work.divide(rate: rate?.bytesPerSecond, workers: workers)
    work.tries = tries
    work.local = local.map { AbsolutePath.of($0) }
    let job = SlurmArray(work, options: sbatch.flatMap { $0.split(separator: " ").map(String.init) })
    let number = prints ? nil : try failing { () throws(TransferError) in try job.submit() }
    let output = ShardSubmitOutput(job: job, unlisted: folder.failed, number: number)
    try common.print(output, store: StoreIdentity(path: nil), context)
  }

  /// Refuses what every task would refuse.
  private func checkWords(_ context: Context) throws(CommandFailure) {
    do {
      guard let destination else {
        _ = try PullCommand.parse(["--files-from", "shard-001.jsonl"] + words + [base])
        return
      }
      let command = try AddCommand.parse(["--files-from", "shard-001.jsonl", "--base", base] + words + [destination])
      let settings = try command.batch.upload(context).settings
      try failing { () throws(TransferError) in try settings.checkDestination() }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      let text = AddCommand.message(for: error).split(whereSeparator: \.isNewline).first ?? ""
      throw .usage(printable("\(destination == nil ? "pull" : "add") on the nodes: \(text)"))
    }
  }
}

struct ShardSubmitOutput: OutputValue {
  let job: SlurmArray
  /// Files that could not be listed, and so are not transferred.
  let unlisted: Int
  /// nil if the command was only printed.
  let number: String?

  static let form = ReportForm<ShardSubmitOutput>(
    "transfers.shard.submit/1",
    [
      .words { "$ \(ShellText.line($0.job.command))\n" },
      .facts([
        .integer("shards", "shards") { $0.job.work.count },
        .integer("files_not_listed", "files not listed") { $0.unlisted },
        .integer("at_once", "at the same time") { $0.job.work.atOnce },
        .rate("task_bps", "rate of each task") { $0.job.work.rate },
        .integer("task_workers", "workers of each task") { $0.job.work.workers },
        .integer("tries", "tries of each shard") { $0.job.work.tries },
        .text("job", "job") { $0.number },
        .text("remark", "remark") { output in
          output.job.work.missingBase.map { "there is no folder \"\($0)\" on this host; the nodes need it" }
        },
        .list("command") { $0.job.command },
      ]),
    ])
}
