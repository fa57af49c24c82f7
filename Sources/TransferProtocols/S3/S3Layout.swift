import TransferModel

/// How a file is divided into parts. All parts but the last are equal: some servers accept nothing else.
enum S3Layout {
  static let mebibyte: Int64 = 1 << 20
  /// Smaller files are sent in one PUT; also empty ones, which not every server can create by multipart.
  static let singleLimit = 16 * mebibyte
  static let smallestPart = 5 * mebibyte
  static let largestPart: Int64 = 5 << 30
  static let mostParts: Int64 = 10_000
  /// 48.8 TiB. Source: S3 user guide, "Multipart upload limits" (December 2025); other servers have a limit of 5 TiB
  /// and report it.
  static let largestObject = largestPart * mostParts

  /// The layout of `size` bytes. With `partSize` (bytes) files up to that size are one PUT.
  ///
  /// The default part size is 16 MiB or, for large files, a whole number of MiB that gives at most 9,000 parts, which
  /// leaves room for servers with a limit below 10,000.
  /// - Throws: `.usage` if a limit of S3 is exceeded.
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
