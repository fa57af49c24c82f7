import TransferModel

/// The settings for uploads to one tus endpoint.
struct TusSettings: Sendable, Hashable {
  enum Checksum: Sendable, Hashable {
    /// The best algorithm that the server announces.
    case chosen
    case named(String)
    case none
  }

  static let mebibyte: Int64 = 1 << 20
  /// Default maximum size of a body. The specification recommends one body for everything; this limits the loss with a
  /// broken connection if a server verifies bodies or a proxy buffers them.
  static let defaultPart = 64 * mebibyte
  static let smallestPart: Int64 = 16 << 10
  /// All URLs must fit into one header field of the last request.
  static let mostPartials: Int64 = 16
  private static let mostChunks: Int64 = 10_000

  var partSize: Int64
  /// Large files are sent as several uploads that are joined.
  var isParallel: Bool
  var overridesMethod: Bool
  var checksum: Checksum
  var mediaType: MediaTypeChoice
  var expectContinue: Bool

  /// - Throws: `.usage` for invalid settings.
  init(_ settings: BatchSettings) throws(TransferError) {
    partSize = settings.partSize ?? Self.defaultPart
    isParallel = settings.isParallel
    overridesMethod = settings.overridesMethod
    checksum = try Self.checksum(settings.digest)
    mediaType = try MediaTypeChoice(parsing: settings.contentType ?? "auto")
    expectContinue = settings.expectContinue
    guard partSize >= Self.smallestPart else {
      throw TransferError(
        .usage, "plan upload", cause: "a part must be 16 KiB or more, not \(partSize) bytes",
        remedy: "choose another --part-size or leave it out")
    }
  }

  private static func checksum(_ text: String?) throws(TransferError) -> Checksum {
    guard let text else { return .chosen }
    if text == "none" { return .none }
    let name = text.filter { $0 != "-" }
    guard TusFeatures.known.contains(where: { $0.name == name }) else {
      throw TransferError(
        .usage, "read --digest", NameBytes(text), cause: "not supported for tus",
        remedy: "use sha-256, sha-1, md5, crc32 or none")
    }
    return .named(name)
  }

  /// One body after the other.
  func sequentialLayout(_ size: Int64) -> ChunkLayout {
    size > partSize
      ? ChunkLayout(size: size, chunkSize: chunkSize(size, most: Self.mostChunks)) : ChunkLayout(whole: size)
  }

  /// Concurrent uploads of one chunk each.
  func parallelLayout(_ size: Int64) -> ChunkLayout {
    ChunkLayout(size: size, chunkSize: chunkSize(size, most: Self.mostPartials))
  }

  /// The part size, or whole MiB if the part size would give more than `most` chunks.
  private func chunkSize(_ size: Int64, most: Int64) -> Int64 {
    let least = size.dividedUp(by: most)
    guard least > partSize else { return partSize }
    return (least + Self.mebibyte - 1) / Self.mebibyte * Self.mebibyte
  }
}
