/// A half-open range of bytes in a file: `offset ..< offset + length`, both in bytes and never negative.
public struct ByteRange: Hashable, Sendable, Codable {
  public let offset: Int64
  public let length: Int64

  public init(offset: Int64, length: Int64) {
    precondition(offset >= 0 && length >= 0, "byte range \(offset)+\(length)")
    self.offset = offset
    self.length = length
  }

  public var end: Int64 { offset + length }
}

/// How a file is divided into chunks. Fixed when the upload session begins and stored with it; never recomputed from
/// settings.
public struct ChunkLayout: Hashable, Sendable {
  public let size: Int64
  /// Length of every chunk but the last, in bytes; the file's size when there is one chunk.
  public let chunkSize: Int64
  /// At least 1: an empty file has one empty chunk.
  public let count: Int

  /// One chunk for the whole file.
  public init(whole size: Int64) {
    self.size = size
    chunkSize = size
    count = 1
  }

  /// Equal chunks of `chunkSize` bytes, the last one shorter when it does not divide.
  public init(size: Int64, chunkSize: Int64) {
    precondition(size >= 0 && chunkSize > 0, "layout of \(size) by \(chunkSize)")
    self.size = size
    self.chunkSize = chunkSize
    count = size == 0 ? 1 : Int((size + chunkSize - 1) / chunkSize)
  }

  /// Chunks of `chunkSize` bytes, the last of which includes the remainder: less than twice as much for protocols whose
  /// last chunk absorbs it.
  public init(size: Int64, chunkSize: Int64, count: Int) {
    precondition(
      count >= 1 && chunkSize >= 0 && Int64(count - 1) * chunkSize <= size, "\(count) × \(chunkSize) of \(size)")
    self.size = size
    self.chunkSize = chunkSize
    self.count = count
  }

  /// The range of chunk `seq`, counted from 0.
  public func range(_ seq: Int) -> ByteRange {
    precondition(seq >= 0 && seq < count, "chunk \(seq) of \(count)")
    let offset = Int64(seq) * chunkSize
    return ByteRange(offset: offset, length: seq == count - 1 ? size - offset : chunkSize)
  }

  /// How many chunks are completely within the first `offset` bytes.
  public func chunks(within offset: Int64) -> Int {
    if offset >= size { return count }
    return chunkSize == 0 ? 0 : min(count - 1, Int(offset / chunkSize))
  }
}
