import ArgumentParser
import TransferModel
import Transfers

/// Settings that are frozen with a batch.
struct BatchOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Files, folders and patterns, or - for a list on standard input; then the destination. See \"transfers help sources\" and \"transfers help destinations\"."
    ), completion: .file())
  var places: [NameBytes] = []

  @OptionGroup var sourceOptions: SourceOptions
  @OptionGroup var known: KnownOptions
  @OptionGroup var fate: FateOptions
  @OptionGroup var told: CallbackOptions

  @Option(help: ArgumentHelp("Name of the batch; reusing it adds no duplicates.", valueName: "name"))
  var name: String?

  @Option(
    name: .customLong("label"),
    help: ArgumentHelp("A key and value that reports can show; repeatable.", valueName: "key=value"))
  var labels: [String] = []

  @Option(help: ArgumentHelp("Higher values are sent first.", valueName: "n"))
  var priority = 0

  @Option(
    help: ArgumentHelp(
      "Credential for http destinations, by reference: bearer= or basic= (user:password) and \(SecretPlaces.list).",
      valueName: "ref"))
  var auth: String?

  @Option(help: ArgumentHelp("Certificate authorities to trust, a PEM file.", valueName: "path"), completion: .file())
  var caFile: String?

  @Option(
    name: .customLong("rule"),
    help: ArgumentHelp(
      "Set a property of objects by path: content_type, storage_class, header.NAME or tag.KEY, as '**/*.csv:content_type=text/csv'. The first match decides for each setting; repeatable.",
      valueName: "glob:setting=value"))
  var rules: [String] = []

  @OptionGroup var ofProtocol: ProtocolOptions<UploadProtocols>
  @OptionGroup var through: ProfileOptions

  @Flag(
    help:
      "Copy each file beside the ledger when it is added, and send the copy; the source may then change or be deleted.")
  var stage = false

  @Flag(
    help:
      "Do not send a file if another file (a copy, or its old name) has delivered the same content to the same destination. Reads each file twice, and recognises only content that was sent with this option."
  )
  var dedupe = false

  @Flag(name: .customLong("record-sha256"), help: RecordedSHA256Help.ofUploads)
  var recordSHA256 = false

  @Option(
    help: ArgumentHelp(
      "What to send of a file that has grown: whole (all of it again, the default) or segments (only what was appended, as an object of its own). For logs.",
      valueName: "what"))
  var growing: GrowingFiles?

  func validate() throws {
    try checkGrowing()
    try sourceOptions.check(sources, hasDestination: !places.isEmpty)
    try Self.checkLabels(labels)
    try Self.checkReference(auth)
    _ = try objectRules()
  }

  private func objectRules() throws -> [ObjectRule] {
    do { return try rules.map { try ProtocolCatalog.objectRule($0) } } catch { throw ValidationError("\(error)") }
  }

  /// A segment is sent from a copy, and a file that grows is never complete.
  private func checkGrowing() throws {
    guard growing == .segments else { return }
    let others: [(String, Bool)] = [
      ("--after", (fate.after?.fate ?? .keep) != .keep), ("--settle", (fate.settle?.ms ?? 0) > 0),
      ("--ready-file", fate.readyFile != nil), ("--dedupe", dedupe), ("--stage", stage),
      ("--known-at", known.knownAt != nil),
    ]
    guard let other = others.first(where: \.1) else { return }
    throw ValidationError("--growing segments and \(other.0) exclude each other; leave out one of them")
  }

  static func checkLabels(_ labels: [String]) throws {
    if let bad = labels.first(where: { ($0.firstIndex(of: "=") ?? $0.startIndex) == $0.startIndex }) {
      throw ValidationError("--label \"\(bad)\" is not key=value")
    }
  }

  static func checkReference(_ auth: String?) throws {
    guard let auth, !BatchSettings.isCredentialReference(auth) else { return }
    throw ValidationError(
      "--auth takes a reference, never a secret: bearer= or basic= and \(SecretPlaces.list)")
  }

  private var sources: [NameBytes] { Array(places.dropLast()) }

  /// Sources on the command line; empty if there is a list.
  var namedSources: [NameBytes] { sourceOptions.list(sources) == nil ? sources : [] }

  /// For the check of `--output`.
  var localPlaces: LocalPlaces {
    LocalPlaces(sources: namedSources, files: [sourceOptions.filesFrom, sourceOptions.filesFromNUL].compactMap(\.self))
  }

  /// The options for the library.
  func upload(_ context: Context) throws(CommandFailure) -> UploadOptions {
    try sourceOptions.checkMissing(sources)
    var options = UploadOptions(
      settings: try settings(context), name: name, labels: Self.table(labels),
      priority: priority, rules: try OrderedRules.read(context.parsed),
      followSymlinks: sourceOptions.followSymlinks, list: sourceOptions.list(sources), base: sourceOptions.base)
    options.job = context.job
    if context.job != nil { options.ownFiles = context.config.metricsFiles }
    options.listFormat = sourceOptions.listFormat?.format
    options.known = try known.list()
    fate.apply(to: &options)
    options.settings.callbacks = told.settings
    return options
  }

  /// Options that the destination does not support, and options for lists or profiles if there are none.
  func inapplicableOptions(_ config: Config) -> Set<String> {
    var idle: Set<String> = []
    if through.via == nil { idle.insert("input") }
    if sourceOptions.list(sources) == nil { idle.formUnion(["missing", "list-format"]) }
    if known.knownAt == nil { idle.insert("known-by") }
    var rest = self
    if through.via == nil { rest.through.inputs = [] }
    guard let settings = try? rest.settings(at: config.plainURL(destination ?? "", .destination)),
      let foreign = try? ProtocolCatalog.unsupportedOptions(settings)
    else {
      return idle
    }
    return idle.union(foreign)
  }

  private var destination: String? { places.last?.utf8 }

  var placeWord: (word: String, kind: ConfigSection.Kind)? { destination.map { ($0, .destination) } }

  private func settings(_ context: Context) throws(CommandFailure) -> BatchSettings {
    guard let destination else {
      throw .usage("the destination \"\(places.last ?? NameBytes(""))\" is not UTF-8")
    }
    let fields = ConfigFields(
      job: context.job, batch: name, labels: Self.table(labels), wallMs: context.clock.wallMs)
    return try settings(at: try context.config.url(destination, .destination, fields))
  }

  func settings(at destination: String) throws(CommandFailure) -> BatchSettings {
    var settings = BatchSettings(
      destination: destination, options: ofProtocol.values, auth: auth, caFile: caFile, stage: stage ? true : nil,
      profile: try through.settings())
    if dedupe { settings.dedupe = true }
    if recordSHA256 { settings.recordSHA256 = true }
    if growing == .segments { settings.growing = .segments }
    // They were checked when they were parsed.
    settings.rules = rules.isEmpty ? nil : try? objectRules()
    return settings
  }

  /// The last of equal keys is used.
  static func table(_ labels: [String]) -> [String: String] {
    var table: [String: String] = [:]
    for label in labels {
      let parts = label.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      table[String(parts[0])] = String(parts[1])
    }
    return table
  }
}

extension GrowingFiles: ExpressibleByArgument {}

enum RecordedSHA256Help {
  static let ofUploads: ArgumentHelp =
    "Record the SHA-256 of each file in its receipt, for \"store receipts --sha256sum\" and --bagit and for certificates. A file that is not sent in one request is read twice."
  static let ofDownloads: ArgumentHelp =
    "Record the SHA-256 of each file in its receipt, for \"store receipts --sha256sum\" and --bagit and for certificates. Each file is read once more."
}
