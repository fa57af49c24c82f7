import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

/// Origins and folder of the files of a `pull`: the settings of one batch for each server.
struct DownloadTarget: Sendable {
  let folder: LocalFolder
  private let options: DownloadOptions

  init(_ options: DownloadOptions) {
    folder = LocalFolder(options.folder)
    self.options = options
  }

  /// The batches of these servers. They get the given name; if there are several servers, each with the server
  /// appended.
  /// - Throws: `.usage` for options that do not apply to downloads, `.config` for invalid files.
  func batches(_ origins: [DownloadOrigin]) throws(TransferError) -> [DownloadOrigin: NewBatch] {
    if options.auth != nil, origins.count > 1 {
      throw TransferError(
        .usage, "read --auth",
        cause: "the files come from \(origins.count) servers, and all of them would receive the credential",
        remedy: "pull the files of each server separately")
    }
    if let segments = options.segments, !DownloadOptions.segmentCounts.contains(segments) {
      let range = DownloadOptions.segmentCounts
      throw TransferError(
        .usage, "read the number of ranges", cause: "it is \(segments)",
        remedy: "give \(range.lowerBound) to \(range.upperBound)")
    }
    try TransferStore.checkNames(options.name, job: options.job)
    try checkZsync()
    try refuseUnsupportedOptions(origins)
    var batches: [DownloadOrigin: NewBatch] = [:]
    for origin in origins {
      let settings = try settings(origin)
      let proto = try AllProtocols.make(settings, credentialsRegion: nil)
      let name = options.name.map { origins.count > 1 ? "\($0)@\(origin.authority)" : $0 }
      batches[origin] = NewBatch(
        name: name, settings: settings, protocolName: proto.name, destination: settings.destination,
        place: Self.place(proto, folder.path), labels: options.labels, priority: options.priority,
        job: options.job)
    }
    return batches
  }

  private func checkZsync() throws(TransferError) {
    guard options.usesZsync else { return }
    guard options.overwrites else {
      throw TransferError(
        .usage, "read --zsync", cause: "existing files are not replaced, so there is nothing to compare with",
        remedy: "add --overwrite, or leave it out")
    }
    guard options.urlCommand.isEmpty else {
      throw TransferError(
        .usage, "read --zsync", cause: "the URLs come from a command, which supplies none of a .zsync file",
        remedy: "leave out --zsync or --url-command")
    }
  }

  /// The scope in which keys are unique: the same URL may be fetched to several folders.
  static func place(_ proto: any TransferProtocol, _ folder: NameBytes) -> String {
    "\(proto.location(ofKey: NameBytes(""))) to \(folder.embedded)"
  }

  /// Refuses options that apply to none of the servers.
  /// - Throws: `.usage`.
  private func refuseUnsupportedOptions(_ origins: [DownloadOrigin]) throws(TransferError) {
    var foreign: Set<String>?
    for origin in origins {
      let unknown = Set(try AllProtocols.unsupportedOptions(asked(origin)))
      foreign = foreign?.intersection(unknown) ?? unknown
    }
    guard let foreign, !foreign.isEmpty, let first = origins.first else { return }
    try AllProtocols.refuseUnsupportedOptions(asked(first), foreign.sorted())
  }

  private func asked(_ origin: DownloadOrigin) -> BatchSettings {
    var download = DownloadSettings(folder: folder.path, overwrites: options.overwrites)
    (download.segments, download.keepsTime) = (options.segments, options.keepsTime)
    (download.isSparse, download.usesRemoteNames) = (options.isSparse, options.usesRemoteNames)
    download.usesZsync = options.usesZsync
    var settings = BatchSettings(
      destination: "\(origin)/", options: options.options, auth: options.auth, caFile: options.caFile,
      download: download)
    if options.recordsSHA256 { settings.recordSHA256 = true }
    if !options.callbacks.isEmpty { settings.callbacks = options.callbacks }
    return settings
  }

  private func settings(_ origin: DownloadOrigin) throws(TransferError) -> BatchSettings {
    var asked = asked(origin)
    for option in try AllProtocols.unsupportedOptions(asked) { asked.options[option] = nil }
    asked.download?.urlCommand = try command()
    let settings = try asked.rooted()
    if let file = settings.caFile { try TrustFile.check(file, namedBy: "--ca-file") }
    guard try Destination(settings).definition.credential == .aws else { return settings }
    guard options.urlCommand.isEmpty else {
      throw TransferError(
        .usage, "read --url-command", cause: "requests to \(origin) are signed with S3 credentials",
        remedy: "leave it out, or give the paths of the objects and an https URL as --base-url")
    }
    return try AWSEnvironment(profile: settings.awsProfile).completing(settings)
  }

  /// The URL command; its program gets an absolute path unless it is a name to be found in `PATH`.
  private func command() throws(TransferError) -> [String] {
    guard let program = options.urlCommand.first else { return [] }
    guard options.auth == nil else {
      throw TransferError(
        .usage, "read --url-command",
        cause: "the URL from the command contains its own authorization, and --auth does not apply",
        remedy: "leave out one of them")
    }
    let place = program.contains("/") ? AbsolutePath.of(program) : program
    return [place] + options.urlCommand.dropFirst()
  }

  /// Environment variables from which the credentials of these batches are read.
  func variables(_ batches: some Sequence<NewBatch>) throws(TransferError) -> [String] {
    var names: Set<String> = []
    for batch in batches { names.formUnion(try batch.settings.credentialVariables) }
    return names.sorted()
  }

  /// Collects and checks all requested files.
  /// - Parameter ignoresCase: whether the target folder treats names that differ only in case as the same; called when
  ///   a list has such names.
  /// - Throws: `.usage` for sources that are invalid or cannot be fetched, and for two files with the same name.
  func spool(
    isForLedger: Bool = true, ignoresCase: @escaping () -> Bool, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> DownloadSpool {
    let base = try options.baseURL.map { text throws(TransferError) in try DownloadURL(base: text) }
    let spool = try DownloadSpool(ignoresCase: ignoresCase)
    for source in options.sources {
      switch source {
      case .url(let text): try spool.append(try entry(text, base))
      case .list(let list):
        let listed = ListedDownloads(
          list.path, list.format?.manifest, base: base, mayBeEmpty: options.job != nil, notice: notice)
        try listed.read { entry throws(TransferError) in try spool.append(entry) }
      }
    }
    // A list may name no files, a table of only its header for example.
    guard spool.count > 0 || options.sources.contains(where: \.isList) else {
      throw TransferError(.usage, "read URLs", cause: "there are none", remedy: "name at least one file to fetch")
    }
    try spool.check(isForLedger: isForLedger)
    return spool
  }

  private func entry(_ text: String, _ base: DownloadURL?) throws(TransferError) -> DownloadEntry {
    let expected = ExpectedContent(size: nil, digests: options.digest.map { [$0] } ?? [])
    if let base, !text.contains("://") {
      return try DownloadEntry(try base.appending(NameBytes(text), listsFolders: true), base: base, expected: expected)
    }
    return try DownloadEntry(try DownloadURL(text, listsFolders: true), base: base, expected: expected)
  }
}
