import CDigest
public import TransferModel

/// Checksums of the consecutive blocks of a file, as a server publishes them in a `.zsync` file. All blocks have the
/// same length; zeros fill up the last one. The checksums are too weak to prove anything: they only show which parts of
/// an older file are probably unchanged, and the digest of the whole file decides.
public struct PublishedBlocks: Sendable {
  /// Of the whole file, in bytes; above 0.
  public let size: Int64
  /// SHA-1 of the whole file.
  public let digest: Digest
  /// When the file was changed, as in `Last-Modified`; nil if that is not known.
  var modified: String?
  /// In bytes, a power of two.
  public let blockLength: Int
  /// How many consecutive blocks must match before any of them counts: 1 or 2.
  public let sequence: Int
  /// Stored bytes of each rolling checksum, its last ones: 1 to 4.
  let sumBytes: Int
  /// Stored bytes of each MD4, its first ones: 3 to 16.
  let digestBytes: Int
  /// The table follows `start` bytes of other content, so that a long one need not be copied.
  private let bytes: [UInt8]
  private let start: Int

  /// nil if the table has another number of blocks than the file.
  init?(
    size: Int64, digest: Digest, blockLength: Int, sequence: Int, sumBytes: Int, digestBytes: Int, table: [UInt8],
    from start: Int
  ) {
    (self.size, self.digest, self.blockLength, self.sequence) = (size, digest, blockLength, sequence)
    (self.sumBytes, self.digestBytes, bytes, self.start) = (sumBytes, digestBytes, table, start)
    guard Int64(bytes.count - start) == Int64(count) * Int64(sumBytes + digestBytes) else { return nil }
  }

  public var count: Int { Int((size - 1) / Int64(blockLength)) + 1 }

  /// The stored bits of a rolling checksum.
  var mask: UInt32 { UInt32.max >> UInt32(32 - 8 * sumBytes) }

  func sum(_ block: Int) -> UInt32 {
    let offset = start + block * (sumBytes + digestBytes)
    return bytes[offset..<offset + sumBytes].reduce(0) { $0 << 8 | UInt32($1) }
  }

  func matches(_ block: Int, md4: [UInt8]) -> Bool {
    let offset = start + block * (sumBytes + digestBytes) + sumBytes
    return bytes[offset..<offset + digestBytes].elementsEqual(md4.prefix(digestBytes))
  }

  /// The range of the file in a block: shorter than ``blockLength`` at its end.
  func range(_ block: Int) -> ByteRange {
    let offset = Int64(block) * Int64(blockLength)
    return ByteRange(offset: offset, length: min(Int64(blockLength), size - offset))
  }
}
