import TransferModel

/// How a file is cut into parts. Parts are equal but the last: some servers accept nothing else.
enum S3Layout {
  static let mebibyte: Int64 = 1 << 20
  /// Below this, one PUT; also for empty files, which multipart cannot make on every server.
  static let singleLimit = 16 * mebibyte
  static let smallestPart = 5 * mebibyte
  static let largestPart: Int64 = 5 << 30
  static let mostParts: Int64 = 10_000
  /// 48.8 TiB. Source: S3 user guide, "Multipart upload limits" (December 2025); other servers stop at 5 TiB and say
  /// so.
  static let largestObject = largestPart * mostParts

  /// The layout of `size` bytes. With `partSize` (bytes) files up to that size are one PUT.
  ///
  /// Chosen by us, the part is 16 MiB or, for large files, a whole number of MiB that gives at most 9,000 parts: room
  /// for servers whose limit is below 10,000.
  /// - Throws: `.usage` when a limit of S3 cannot be kept.
  static func layout(
    size: Int64, partSize: Int64?, shortest: Int64 = singleLimit
  ) throws(TransferError) -> ChunkLayout {
    guard size <= largestObject else {
      throw fault("\(size) bytes are more than the largest object, 48.8 TiB", "split the file")
    }
    guard let partSize else { return chosen(size, shortest) }
    guard (smallestPart...largestPart).contains(partSize) else {
      throw fault("a part has 5 MiB to 5 GiB, not \(partSize) bytes", "choose another --part-size or leave it out")
    }
    guard size <= partSize * mostParts else {
      throw fault(
        "\(size) bytes in parts of \(partSize) are more than 10,000 parts",
        "use --part-size \((size - 1) / mostParts / mebibyte + 1)MiB or more, or leave it out")
    }
    return size <= partSize ? ChunkLayout(whole: size) : ChunkLayout(size: size, chunkSize: partSize)
  }

  private static func chosen(_ size: Int64, _ shortest: Int64) -> ChunkLayout {
    guard size >= shortest else { return ChunkLayout(whole: size) }
    let wanted = (size + 8_999) / 9_000
    let part = max(shortest, (wanted + mebibyte - 1) / mebibyte * mebibyte)
    return ChunkLayout(size: size, chunkSize: min(part, largestPart))
  }

  private static func fault(_ cause: String, _ remedy: String) -> TransferError {
    TransferError(.usage, "plan upload", cause: cause, remedy: remedy)
  }
}
