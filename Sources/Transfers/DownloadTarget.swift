import TransferEngine
import TransferLedger
import TransferModel
import TransferProtocols

/// What a `pull` asks for: the objects with the files that they become, and the settings of their batch.
struct DownloadTarget: Sendable {
  let settings: BatchSettings
  let files: [NewDownload]
  private let place, protocolName: String

  /// - Throws: `.usage` for a URL that cannot be fetched, for URLs of several origins, for two of the same name, and
  ///   for a folder that is none; `.config` for files that cannot be understood.
  init(_ options: DownloadOptions) throws(TransferError) {
    let folder = LocalFolder(options.folder)
    try folder.check()
    let sources = try options.urls.map { text throws(TransferError) in try RemoteFile(text) }
    guard let origin = sources.first?.origin else {
      throw TransferError(.usage, "read URLs", cause: "there is none", remedy: "name at least one file to fetch")
    }
    if let other = sources.first(where: { $0.origin != origin }) {
      throw TransferError(
        .usage, "read URL", NameBytes(other.origin), cause: "the first URL is of \(origin)",
        remedy: "pull from each server by itself")
    }
    try Self.refuseEqualNames(sources)
    let asked = BatchSettings(
      destination: origin + "/", options: options.options, auth: options.auth, caFile: options.caFile,
      download: DownloadSettings(folder: folder.path, overwrites: options.overwrites))
    try AllProtocols.refuseForeignOptions(asked)
    settings = try asked.rooted()
    if let file = settings.caFile { try TrustFile.check(file, namedBy: "--ca-file") }
    protocolName = try AllProtocols.make(settings, credentialsRegion: nil).name
    files = sources.map { NewDownload(path: folder.path(of: $0.name), key: $0.key) }
    place = "\(origin)/ to \(folder.path.embedded)"
  }

  private static func refuseEqualNames(_ sources: [RemoteFile]) throws(TransferError) {
    var seen: [NameBytes: NameBytes] = [:]
    for source in sources {
      guard let other = seen.updateValue(source.key, forKey: source.name), other != source.key else { continue }
      throw TransferError(
        .usage, "add", source.name, cause: "two URLs end with this name", remedy: "pull them into different folders")
    }
  }

  /// The batch that this `pull` makes.
  func batch(_ options: DownloadOptions) -> NewBatch {
    NewBatch(
      name: options.name, settings: settings, protocolName: protocolName, destination: settings.destination,
      place: place,
      labels: options.labels, priority: options.priority)
  }
}

/// One file at a server, as its URL names it.
private struct RemoteFile {
  let origin: String
  let key: NameBytes
  /// What it is called here: the last component of its path.
  let name: NameBytes

  init(_ text: String) throws(TransferError) {
    let parsed = try Destination(parsing: text, .download)
    origin = try parsed.webOrigin().description
    key = parsed.prefix
    name = parsed.prefix.lastComponent
    guard !name.isEmpty else {
      throw TransferError(
        .usage, "read URL", NameBytes(text), cause: "it names a folder, which cannot be fetched yet",
        remedy: "name single files")
    }
    guard name.bytes.count <= 255 else {
      throw TransferError(
        .usage, "read URL", NameBytes(text), cause: "no file here can have a name of \(name.bytes.count) bytes",
        remedy: "use another client for it")
    }
  }
}
