import TransferModel

extension ProtocolOption {
  /// ``BatchSettings/partSize``, of a download.
  static let rangeSize = Self("part-size", .bytes, "Bytes of a range: 8M (default: chosen).", valueName: "bytes")
}

extension GetProtocol {
  static let definition = definition("get", prefix: "")

  /// The same for files on WebDAV servers, with the scheme prefix that uploads to them have.
  static let dav = definition("dav-get", prefix: davPrefix)
  static let davPrefix = "dav+"

  private static func definition(_ name: String, prefix: String) -> ProtocolDefinition {
    ProtocolDefinition(
      web: prefix,
      rules: WebRules(
        templateRefusal: .init(cause: "a URL to fetch has no {path} or {name}", remedy: "write the URL of one file")),
      ProtocolDescription(
        name: name, destination: "\(prefix)http(s)://", usage: "\(prefix)http(s)://host/path/file",
        about: "download: concurrent ranges of the file, into a partial file that is moved to its name when complete",
        parallel: "yes", isResumable: true, probe: "its first bytes", digest: "CRC32C", exactlyOnce: "yes"),
      options: [.rangeSize],
      make: { settings, place throws(TransferError) in
        let web = WebSource(place: place, protocolName: name)
        return GetProtocol(
          source: prefix.isEmpty ? web : DavSource(web: web),
          chunkSize: try settings.partSize.map(GetProtocol.checked), segments: settings.download?.segments,
          usesRemoteNames: settings.download?.usesRemoteNames ?? false,
          usesZsync: settings.download?.usesZsync ?? false)
      })
  }

  static func checked(_ size: Int64) throws(TransferError) -> Int64 {
    guard size >= leastChunk else {
      throw TransferError(
        .usage, "read --part-size", cause: "\(size) bytes are too few for a range",
        remedy: "give \(leastChunk >> 10) KiB or more")
    }
    guard size <= mostChunk else {
      throw TransferError(
        .usage, "read --part-size", cause: "\(size) bytes are too many for a range",
        remedy: "give \(mostChunk >> 40) TiB or less, or leave it out")
    }
    return size
  }
}
