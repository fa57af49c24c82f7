import ArgumentParser
import TransferModel
import Transfers

/// Sources and target of a download.
struct DownloadFlags: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "URLs of files, and of folders on S3 and WebDAV, then the local folder; - is standard output, for one file."
    ),
    completion: .directory)
  var places: [NameBytes] = []

  @Option(
    help: ArgumentHelp(
      "Fetch the files listed in this file: URLs, one per line, or a manifest (SHA256SUMS, Metalink, BagIt, CSV, JSON lines); - is standard input.",
      valueName: "file"), completion: .file())
  var filesFrom: [NameBytes] = []

  @Option(help: ArgumentHelp("Format of --files-from (default: detected).", valueName: "format"))
  var listFormat: ListFormat?

  @Option(
    help: ArgumentHelp(
      "Base URL of relative paths; a URL below it keeps its path in the folder.", valueName: "url"))
  var baseURL: String?

  @Option(
    help: ArgumentHelp("Expected digest of the file: sha256:HEX, md5:HEX, …", valueName: "algorithm:hex"))
  var digest: String?

  @Flag(help: "Replace existing files.")
  var overwrite = false

  @Option(
    help: ArgumentHelp("Name of the batch (one for each server); reusing it adds no duplicates.", valueName: "name"))
  var name: String?

  @Option(
    name: .customLong("label"),
    help: ArgumentHelp("A key and value that reports can show; repeatable.", valueName: "key=value"))
  var labels: [String] = []

  @Option(help: ArgumentHelp("Higher values are fetched first.", valueName: "n"))
  var priority = 0

  @Option(
    help: ArgumentHelp(
      "Credential, by reference: bearer= or basic= (user:password) and \(SecretPlaces.list). Only for files of one server.",
      valueName: "ref"))
  var auth: String?

  @Option(
    help: ArgumentHelp(
      "Program that supplies the URL of each file: it reads the key from standard input and writes one URL to standard output. No shell; double quotes protect blanks.",
      valueName: "command"))
  var urlCommand: String?

  @Option(help: ArgumentHelp("Certificate authorities to trust, a PEM file.", valueName: "path"), completion: .file())
  var caFile: String?

  @OptionGroup var told: CallbackOptions
  @OptionGroup var ofProtocol: ProtocolOptions<DownloadProtocols>

  @Option(
    help: ArgumentHelp(
      "Write all files into this tar archive, in order, instead of a folder; - is standard output.", valueName: "file"),
    completion: .file())
  var intoTar: NameBytes?

  @Option(
    help: ArgumentHelp(
      "Concurrent ranges of one file, 1 to 64, of at least 1 MiB each (default: 4, of at least 4 MiB each).",
      valueName: "n"))
  var segments: Int?

  @Flag(help: "Store runs of zeros as holes, which take no disk space.")
  var sparse = false

  @Flag(help: "Use the file names that servers send (Content-Disposition), sanitized for any file system.")
  var remoteNames = false

  @Flag(
    help: "With --overwrite: request URL.zsync, and fetch only the blocks that the existing file does not have.")
  var zsync = false

  @Flag(name: .customLong("record-sha256"), help: RecordedSHA256Help.ofDownloads)
  var recordSHA256 = false

  @Flag(name: .customLong("no-mtime"), help: "Do not set the modification time that the server reports.")
  var noMtime = false

  func validate() throws {
    if let segments, !DownloadOptions.segmentCounts.contains(segments) {
      throw ValidationError(
        "--segments must be \(DownloadOptions.segmentCounts.lowerBound) to \(DownloadOptions.segmentCounts.upperBound)")
    }
    guard places.count + (intoTar == nil ? 0 : 1) >= (filesFrom.isEmpty ? 2 : 1) else {
      throw ValidationError("give at least one URL (or --files-from), then a folder")
    }
    if isStream, intoTar == nil, places.count != 2 || !filesFrom.isEmpty {
      throw ValidationError("standard output takes only one file; use --into-tar - for several")
    }
    if filesFrom.filter({ $0 == Self.dash }).count > 1 {
      throw ValidationError("standard input can be read once; give --files-from - once")
    }
    if listFormat != nil, filesFrom.isEmpty { throw ValidationError("--list-format is for --files-from") }
    if let digest {
      guard places.count == (intoTar == nil ? 2 : 1), filesFrom.isEmpty else {
        throw ValidationError("--digest is for a single URL; for several files use a manifest (--files-from)")
      }
      guard Digest(text: digest.lowercased()) != nil else {
        let names = DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--digest takes ALGORITHM:HEX, not \"\(printable(digest))\"; algorithms: \(names)")
      }
    }
    if zsync, !overwrite { throw ValidationError("--zsync is for files that are replaced: add --overwrite") }
    if zsync, urlCommand != nil { throw ValidationError("--zsync and --url-command exclude each other") }
    if let urlCommand, DownloadOptions.words(urlCommand) == nil {
      throw ValidationError("--url-command takes a program and its arguments, with balanced double quotes")
    }
    try BatchOptions.checkLabels(labels)
    try BatchOptions.checkReference(auth)
  }

  /// What is to be recorded.
  func download(_ context: Context) throws(CommandFailure) -> DownloadOptions {
    let fields = ConfigFields(
      job: context.job, batch: name, labels: BatchOptions.table(labels), wallMs: context.clock.wallMs)
    try refuseSecondSource(context.config)
    let urls = try places.dropLast(intoTar == nil ? 1 : 0).map { url throws(CommandFailure) -> DownloadOptions.Source in
      guard let text = url.utf8 else { throw .usage("the URL \"\(url)\" is not UTF-8") }
      return .url(try context.config.url(text, .source, fields))
    }
    let lists = filesFrom.map { path -> DownloadOptions.Source in
      .list(DownloadList(path: path == Self.dash ? nil : path, format: listFormat))
    }
    var options = DownloadOptions(urls + lists, to: intoTar == nil ? places.last ?? Self.dash : Self.dash)
    (options.overwrites, options.baseURL) = (overwrite, baseURL)
    (options.segments, options.keepsTime, options.isSparse) = (segments, !noMtime, sparse)
    (options.usesRemoteNames, options.usesZsync, options.recordsSHA256) = (remoteNames, zsync, recordSHA256)
    options.urlCommand = urlCommand.flatMap(DownloadOptions.words) ?? []
    options.digest = digest.flatMap { Digest(text: $0.lowercased()) }
    (options.name, options.labels, options.priority) = (name, BatchOptions.table(labels), priority)
    (options.auth, options.caFile) = (auth, caFile)
    options.options = ofProtocol.values
    options.job = context.job
    options.callbacks = told.settings ?? []
    return options
  }

  /// The first argument that names a configured source.
  var placeWord: (word: String, kind: ConfigSection.Kind)? {
    let words = places.dropLast(intoTar == nil ? 1 : 0).compactMap(\.utf8)
    return words.first { !$0.contains("://") && $0.contains(":") }.map { ($0, .source) }
  }

  /// The options of a source apply to the whole command, so only one source may have some.
  private func refuseSecondSource(_ config: Config) throws(CommandFailure) {
    let words = places.dropLast(intoTar == nil ? 1 : 0).compactMap(\.utf8)
    let sources = Set(words.map { config.place($0, .source)?.section.name })
    guard sources.count > 1 else { return }
    throw .usage(
      "the files have several sources, and the options of \"\(sources.compactMap(\.self).sorted()[0])\" would apply to all",
      remedy: "pull the files of each source separately")
  }

  /// Options that none of the servers supports; empty if the files come from a list.
  func inapplicableOptions(_ config: Config) -> Set<String> {
    guard filesFrom.isEmpty else { return [] }
    var idle: Set<String>?
    for url in places.dropLast(intoTar == nil ? 1 : 0) {
      var settings = BatchSettings(
        destination: config.plainURL(url.utf8 ?? "", .source), options: ofProtocol.values, auth: auth,
        download: DownloadSettings(folder: NameBytes("/"), overwrites: false))
      if let baseURL, !settings.destination.contains("://") { settings.destination = baseURL }
      guard let foreign = try? ProtocolCatalog.unsupportedOptions(settings) else { return [] }
      idle = idle?.intersection(foreign) ?? Set(foreign)
    }
    return idle ?? []
  }

  static let dash = NameBytes("-")

  /// The files go to standard output or into an archive.
  var isStream: Bool { intoTar != nil || places.last == Self.dash }

  /// The arguments before the folder.
  var urls: [NameBytes] { Array(places.dropLast(intoTar == nil ? 1 : 0)) }

  /// For the check of `--output`.
  var localPlaces: LocalPlaces {
    let lists = filesFrom.filter { $0 != Self.dash }
    if let intoTar, intoTar != Self.dash { return LocalPlaces(files: lists + [intoTar]) }
    guard !isStream else { return LocalPlaces(files: lists, isContent: true) }
    return LocalPlaces(targets: Array(places.suffix(1)), files: lists)
  }

  /// A given flag that does not apply to a stream.
  var streamConflict: String? {
    let isFile = intoTar != nil && intoTar != Self.dash
    let given: [(Bool, String)] = [
      (overwrite && !isFile, "--overwrite"), (name != nil, "--name"), (!labels.isEmpty, "--label"),
      (priority != 0, "--priority"), (segments != nil, "--segments"), (sparse, "--sparse"), (noMtime, "--no-mtime"),
      (remoteNames, "--remote-names"), (zsync, "--zsync"), (recordSHA256, "--record-sha256"),
      (ofProtocol.values["keep-mode"] != nil, "--keep-mode"), (ofProtocol.values["keep-owner"] != nil, "--keep-owner"),
      (told.settings != nil, "--on-done, --on-failed, --on-batch-done and --on-batch-failed"),
    ]
    return given.first { $0.0 }?.1
  }
}

extension ListFormat: ExpressibleByArgument {}
