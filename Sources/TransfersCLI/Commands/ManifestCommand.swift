import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers manifest`: lists of files with their sizes and digests.
struct ManifestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manifest", abstract: "Build, check, convert, analyze, shard and rebase lists of files.",
    subcommands: [
      ManifestBuildCommand.self, ManifestCheckCommand.self, ManifestConvertCommand.self, ManifestAnalyzeCommand.self,
      ManifestShardCommand.self, ManifestRebaseCommand.self,
    ])
}

/// The manifest that a command reads.
struct ManifestSource: ParsableArguments {
  @Argument(help: ArgumentHelp("The manifest; - is standard input.", valueName: "manifest"), completion: .file())
  var manifest: NameBytes

  @Option(
    help: ArgumentHelp(
      "Format of the input: sums, metalink, bagit, csv, jsonl or list (default: by its name and content).",
      valueName: "form"))
  var listFormat: ListFormat?

  /// nil for standard input.
  var path: NameBytes? { manifest == NameBytes("-") ? nil : manifest }
}

/// The manifest that a command writes.
struct ManifestTarget: ParsableArguments {
  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "Format of the output: jsonl, csv, sums (sha256sum -c), list, or list0 with NUL characters.", valueName: "form"))
  var form = ManifestForm.jsonl

  static func check(_ common: CommonOptions) throws {
    if common.format != .table || common.columns != nil {
      throw ValidationError("a manifest has its own format; leave out --format, --json and --columns, and see --to")
    }
  }
}

extension ManifestForm: ExpressibleByArgument {}

/// `transfers manifest build`.
struct ManifestBuildCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "build", abstract: "List files with their sizes and digests.",
    discussion: """
      Paths are relative to the given folder, or to the common folder of all sources (--base). Without --digest no \
      file is read. The output itself is not listed. The default format has a first and a last line, so that a \
      truncated manifest is detected. Files that cannot be read are listed on standard error, and the command exits \
      with 3.

      Examples:
        transfers manifest build --digest sha256 /data/out -o out.jsonl
        transfers manifest build --digest sha256 --to sums /data/out -o SHA256SUMS
      """)

  @Argument(help: ArgumentHelp("Files and folders.", valueName: "source"), completion: .file())
  var sources: [NameBytes] = []
  @OptionGroup(title: "Sources") var options: SourceOptions
  @Option(
    help: ArgumentHelp(
      "Read each file and add its digest; repeatable: sha256, sha512, sha1, md5, crc32c, crc64nvme.",
      valueName: "algorithm"))
  var digest: [String] = []
  @OptionGroup var target: ManifestTarget
  @OptionGroup var common: CommonOptions

  func validate() throws {
    try options.check(sources, hasDestination: true)
    try ManifestTarget.check(common)
  }

  func execute(_ context: Context) throws(CommandFailure) {
    try options.checkMissing(sources)
    let files = try files(context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let counts = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool(output: context.out.descriptor, replacing: common.output) { reporter.notice($0) }.build(
        files, digests: digest, target.form
      ) { [out = context.out, form = target.form] in out.writeManifest($0, form) }
    }
    context.out.markComplete()
    if !common.quiet {
      context.err.writeLine("\(Quantity.count(Int(counts.added), "file")), \(Quantity.bytes(counts.bytes))")
    }
    guard counts.failed > 0 else { return }
    throw CommandFailure(
      .partial, "\(Quantity.count(Int(counts.failed), "file")) could not be listed", remedy: "see the lines above")
  }

  private func files(_ context: Context) throws(CommandFailure) -> ManifestSources {
    var files = ManifestSources()
    files.list = options.list(sources)
    if files.list == nil { files.paths = sources }
    (files.listFormat, files.base) = (options.listFormat?.format, options.base)
    files.rules = try OrderedRules.read(context.parsed)
    files.followsSymlinks = options.followSymlinks
    return files
  }
}

/// `transfers manifest convert`.
struct ManifestConvertCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Convert a manifest to another format.",
    discussion: """
      Reads checksum files, Metalink, bags, tables, JSON lines and lists. Only jsonl and csv hold URLs; for other \
      formats the number of files whose URLs are left out is printed.

      Examples:
        transfers manifest convert SHA256SUMS -o files.jsonl
        transfers manifest convert files.jsonl --to list0 \\
          | tar --create --null --files-from=- --file=files.tar
      """)

  @OptionGroup var source: ManifestSource
  @OptionGroup var target: ManifestTarget
  @OptionGroup var common: CommonOptions

  func validate() throws { try ManifestTarget.check(common) }

  func execute(_ context: Context) throws(CommandFailure) {
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let totals = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.convert(source.path, source.listFormat, to: target.form) {
        context.out.writeManifest($0, target.form)
      }
    }
    context.out.markComplete()
    totals.tell(context, quiet: common.quiet)
  }
}

/// `transfers manifest rebase`.
struct ManifestRebaseCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "rebase", abstract: "Write a manifest for a host that sees the files elsewhere.",
    discussion: """
      Paths below --from become paths below --to; both are folders relative to the root of the manifest, which is ".". \
      Whole names are compared: a/x is below "a", ab is not. Only paths change: files that are fetched by URL, or by \
      their path, are still fetched from the original location. Formats other than jsonl and csv hold no URLs: with \
      --form sums, list or list0 a file that has one is an error (65), and a file without one is fetched by its new \
      path. A path that is not below --from is an error (65), unless --keep-others keeps it.

      Examples:
        transfers manifest rebase out.jsonl --from scratch/run7 \\
          --to archive/2026 -o there.jsonl
        transfers manifest rebase out.jsonl --from . --to data/out \\
          | transfers manifest shard - --shards 8 --into shards/
      """)

  @OptionGroup var source: ManifestSource
  @Option(help: ArgumentHelp("The folder that contains the paths now.", valueName: "folder"))
  var from: NameBytes
  @Option(
    name: .customLong("to"), help: ArgumentHelp("The folder that replaces it.", valueName: "folder"))
  var target: NameBytes
  @Flag(help: "Keep paths outside of --from unchanged.")
  var keepOthers = false
  @Option(
    name: .customLong("form"),
    help: ArgumentHelp("Format of the output: jsonl, csv, sums, list or list0.", valueName: "form"))
  var form = ManifestForm.jsonl
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if common.format != .table || common.columns != nil {
      throw ValidationError("a manifest has its own format; leave out --format, --json and --columns, and see --form")
    }
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    let totals = try failing { () throws(TransferError) in
      defer { reporter.finish() }
      return try ManifestTool { reporter.notice($0) }.rebase(
        source.path, source.listFormat, from: from, to: target, keepsOthers: keepOthers, to: form
      ) { context.out.writeManifest($0, form) }
    }
    context.out.markComplete()
    totals.tell(context, quiet: common.quiet)
  }
}

extension ManifestTotals {
  /// The counts of written entries, as text for people.
  func tell(_ context: Context, quiet: Bool) {
    if !quiet { context.err.writeLine("\(Quantity.count(Int(files), "file")), \(Quantity.bytes(bytes))") }
  }
}
