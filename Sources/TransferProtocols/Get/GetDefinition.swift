import TransferModel

extension GetProtocol {
  static let definition = ProtocolDefinition(
    web: "",
    rules: WebRules(
      templateRefusal: .init(cause: "a URL to fetch has no {path} or {name}", remedy: "write the URL of one file")),
    ProtocolDescription(
      name: "get", destination: "http(s)://", usage: "http(s)://host/path/file",
      about: "download: ranges of the file side by side, into a partial file that is moved to its name when whole",
      parallel: "yes", isResumable: true, probe: "its first bytes", digest: "CRC32C", exactlyOnce: "yes"),
    options: [.partSize],
    make: { settings, place throws(TransferError) in
      GetProtocol(
        place: place, chunkSize: try settings.partSize.map(GetProtocol.checked), segments: settings.download?.segments)
    })

  private static func checked(_ size: Int64) throws(TransferError) -> Int64 {
    guard size >= leastChunk else {
      throw TransferError(
        .usage, "read --part-size", cause: "\(size) bytes are too few for a range",
        remedy: "give \(leastChunk >> 10) KiB or more")
    }
    return size
  }
}
