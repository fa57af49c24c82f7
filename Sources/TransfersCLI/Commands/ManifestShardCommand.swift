import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers manifest analyze`.
struct ManifestAnalyzeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "analyze", abstract: "Print how many files of which sizes a manifest lists, and how to cut it.")

  @OptionGroup var source: ManifestSource
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let analysis = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.analyze(source.path, source.listFormat)
    }
    try common.print(ManifestAnalysisOutput(analysis: analysis), store: StoreIdentity(path: nil), context)
  }
}

struct ManifestAnalysisOutput: OutputValue {
  let analysis: ManifestAnalysis

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
    commandName: "shard", abstract: "Cut a manifest into parts of about equal size.",
    discussion: """
      Each part is a manifest of its own, shard-001.jsonl and so on, with a first and a last line, so that a part that was \
      cut off is noticed. The same manifest gives the same parts, and they differ by no more than the largest file. The \
      folder is made, or has to be empty; when the command fails nothing is left in it.

      Example:
        transfers manifest shard out.jsonl --shards 16 --into shards/
      """)

  @OptionGroup var source: ManifestSource
  @Option(help: ArgumentHelp("How many parts, 1 to 1000.", valueName: "n"))
  var shards: Int
  @Option(help: ArgumentHelp("What is to be equal: bytes or files.", valueName: "measure"))
  var by = ShardMeasure.bytes
  @Option(help: ArgumentHelp("The folder for the parts.", valueName: "folder"), completion: .directory)
  var into: NameBytes
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard ManifestTool.shardCounts.contains(shards) else {
      throw ValidationError("--shards is a number from 1 to \(ManifestTool.shardCounts.upperBound)")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let written = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.shard(
        source.path, source.listFormat, into: into, count: shards, by: by)
    }
    try common.print(ManifestShardsOutput(folder: into, shards: written), store: StoreIdentity(path: nil), context)
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
