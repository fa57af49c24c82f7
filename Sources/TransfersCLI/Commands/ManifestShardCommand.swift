import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers manifest analyze`.
struct ManifestAnalyzeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "analyze",
    abstract: "Print the number and sizes of the files in a manifest, and how it could be split.")

  @OptionGroup var source: ManifestSource
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let analysis = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.analyze(source.path, source.listFormat)
    }
    try common.print(
      ManifestAnalysisOutput(analysis: analysis, manifest: source.manifest), store: StoreIdentity(path: nil), context)
  }
}

struct ManifestAnalysisOutput: OutputValue {
  let analysis: ManifestAnalysis
  let manifest: NameBytes

  /// With several shards, options for all tasks together; see `shard submit`.
  private var options: String? {
    let words = [analysis.atOnce.map { "--at-once \($0)" }, analysis.workers.map { "--workers \($0)" }]
      .compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  static let form = ReportForm<ManifestAnalysisOutput>(
    "transfers.manifest.analyze/1",
    [
      .facts([
        .integer("files", "files") { $0.analysis.totals.files },
        .bytes("bytes", "size") { $0.analysis.totals.bytes },
        .integer("without_size", "without a size") { $0.analysis.withoutSize },
        .integer("without_digest", "without a digest") { $0.analysis.withoutDigest },
        .bytes("largest_bytes", "largest file") { $0.analysis.largest?.size },
        .name("largest_path", "its path") { $0.analysis.largest?.path },
        .integer("proposed_shards", "proposed shards") { $0.analysis.shards },
        .text("proposed_options", "proposed options") { $0.options },
        .text("proposed_command", "proposed command") { $0.analysis.command($0.manifest) },
      ]),
      .table(
        "sizes", "sizes",
        [
          .bytes("at_least_bytes", "From") { $0.atLeast }, .integer("files", "Files") { $0.totals.files },
          .bytes("bytes", "Size") { $0.totals.bytes },
        ]
      ) { $0.analysis.classes.filter { $0.totals.files > 0 } },
    ])
}

/// `transfers manifest shard`.
struct ManifestShardCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "shard", abstract: "Split a manifest into shards.",
    discussion: """
      Each shard is a manifest, shard-001.jsonl and so on, with a first and a last line, so that a truncated one is \
      detected. shards.json is written last, with the size and SHA-256 of each shard: a folder without it holds no \
      complete set. The folder is created, or must be empty.

      With --shards the same manifest gives the same shards, whose sizes differ by no more than the largest file; if \
      the command fails, it removes all of them. With --live each shard is complete and has its name as soon as it is \
      full, while the manifest still arrives through a pipe, or a folder (--from) is still scanned; complete shards \
      stay if the command fails. Files that cannot be listed are in no shard: the command exits with 3, and \
      shards.json has their number as "failed". The shards cannot be inside the folder of --from.

      Examples:
        transfers manifest shard out.jsonl --shards 16 -o shards/
        transfers manifest shard --live --from /data/out \\
          --shard-files 100000 --shard-bytes 1T --into shards/
      """)

  @Argument(help: ArgumentHelp("The manifest; - is standard input.", valueName: "manifest"), completion: .file())
  var manifest: NameBytes?
  @Option(
    help: ArgumentHelp(
      "Format of the manifest: sums, metalink, bagit, csv, jsonl or list (default: by its name and content).",
      valueName: "form"))
  var listFormat: ListFormat?
  @Option(help: ArgumentHelp("Number of shards, 1 to 1000.", valueName: "n"))
  var shards: Int?
  @Option(help: ArgumentHelp("What to divide equally: bytes (default) or files.", valueName: "measure"))
  var by: ShardMeasure?
  @Flag(help: "Write shards while the manifest arrives; --shard-files or --shard-bytes limits them.")
  var live = false
  @Option(
    help: ArgumentHelp("With --live, instead of a manifest: list the files of this folder.", valueName: "folder"),
    completion: .directory)
  var from: NameBytes?
  @Option(
    help: ArgumentHelp(
      "With --from: read each file and add its digest; repeatable: sha256, sha512, sha1, md5, crc32c, crc64nvme.",
      valueName: "algorithm"))
  var digest: [String] = []
  @Option(help: ArgumentHelp("With --live: maximum number of files in a shard.", valueName: "n"))
  var shardFiles: Int64?
  @Option(
    help: ArgumentHelp("With --live: a shard is full with the file that reaches this many bytes.", valueName: "bytes"))
  var shardBytes: ByteQuantity?
  @Option(
    help: ArgumentHelp("The folder for the shards; without --into it is that of -o.", valueName: "folder"),
    completion: .directory)
  var into: NameBytes?
  @OptionGroup var common: CommonOptions

  mutating func validate() throws {
    if into == nil, let output = common.output, output != NameBytes("-") {
      into = output
      common.output = nil
    }
    guard into != nil else { throw ValidationError("name the folder for the shards: --into FOLDER, or -o FOLDER") }
    guard (manifest == nil) != (from == nil) else {
      throw ValidationError("name a manifest, or with --live a folder (--from)")
    }
    if from != nil, listFormat != nil { throw ValidationError("--list-format applies to a manifest, not to --from") }
    if from == nil, !digest.isEmpty { throw ValidationError("--digest requires --from") }
    if live {
      if shards != nil || by != nil { throw ValidationError("--shards and --by do not apply to --live") }
      guard shardFiles != nil || shardBytes != nil else {
        throw ValidationError("--live needs --shard-files or --shard-bytes, or both")
      }
      if (shardFiles ?? 1) < 1 || (shardBytes?.bytes ?? 1) < 1 {
        throw ValidationError("--shard-files and --shard-bytes must be at least 1")
      }
      return
    }
    if from != nil || shardFiles != nil || shardBytes != nil {
      throw ValidationError("--from, --shard-files and --shard-bytes require --live")
    }
    guard let shards, ManifestTool.shardCounts.contains(shards) else {
      throw ValidationError("--shards must be a number from 1 to \(ManifestTool.shardCounts.upperBound)")
    }
  }

  private var path: NameBytes? { manifest == NameBytes("-") ? nil : manifest }

  func execute(_ context: Context) throws(CommandFailure) {
    guard let into else { return }
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let (written, failed) = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      let tool = ManifestTool(output: context.out.descriptor, replacing: common.output) { reporter.notice($0) }
      guard live else {
        return (try tool.shard(path, listFormat, into: into, count: shards ?? 1, by: by ?? .bytes), Int64(0))
      }
      let source = from.map { ShardSource.folder($0, digests: digest) } ?? .manifest(path, listFormat)
      let limit = ShardLimit(files: shardFiles, bytes: shardBytes?.bytes)
      return try tool.shardLive(source, into: into, upTo: limit) { shard in
        reporter.notice(.remark("\(shard.name): \(Quantity.count(Int(shard.totals.files), "file"))"))
      }
    }
    try common.print(ManifestShardsOutput(folder: into, shards: written), store: StoreIdentity(path: nil), context)
    guard failed > 0 else { return }
    throw CommandFailure(
      .partial, "\(Quantity.count(Int(failed), "file")) could not be listed: see \"failed\" in shards.json",
      remedy: "see the lines above")
  }
}

extension ShardMeasure: ExpressibleByArgument {}

struct ManifestShardsOutput: OutputValue {
  let folder: NameBytes
  let shards: [WrittenShard]

  static let form = ReportForm<ManifestShardsOutput>(
    "transfers.manifest.shard/1",
    [
      .facts([
        .name("folder", "folder") { $0.folder },
        .integer("files", "files") { $0.shards.reduce(0) { $0 + $1.totals.files } },
        .bytes("bytes", "size") { $0.shards.reduce(0) { $0 + $1.totals.bytes } },
      ]),
      .table(
        "shards", nil,
        [
          .text("shard", "Shard") { $0.name }, .integer("files", "Files") { $0.totals.files },
          .bytes("bytes", "Size") { $0.totals.bytes },
        ]
      ) { $0.shards },
    ])
}
