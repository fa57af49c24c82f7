/// A half-open range of bytes in a file: `offset ..< offset + length`, both in bytes and never negative.
package struct ByteRange: Hashable, Sendable, Codable {
  package let offset: Int64
  package let length: Int64

  package init(offset: Int64, length: Int64) {
    precondition(offset >= 0 && length >= 0, "byte range \(offset)+\(length)")
    self.offset = offset
    self.length = length
  }

  package var end: Int64 { offset + length }
}

/// How a file is divided into chunks. Fixed when the upload session begins and stored with it; never recomputed from
/// settings.
package struct ChunkLayout: Hashable, Sendable {
  package let size: Int64
  /// Length of every chunk but the last, in bytes; the file's size when there is one chunk.
  package let chunkSize: Int64
  /// At least 1: an empty file has one empty chunk.
  package let count: Int

  /// One chunk for the whole file.
  package init(whole size: Int64) {
    self.size = size
    chunkSize = size
    count = 1
  }

  /// Equal chunks of `chunkSize` bytes, the last one shorter when it does not divide.
  package init(size: Int64, chunkSize: Int64) {
    precondition(size >= 0 && chunkSize > 0, "layout of \(size) by \(chunkSize)")
    self.size = size
    self.chunkSize = chunkSize
    count = max(1, Int(size.dividedUp(by: chunkSize)))
  }

  /// Chunks of `chunkSize` bytes, the last of which includes the remainder: less than twice as much for protocols whose
  /// last chunk absorbs it.
  package init(size: Int64, chunkSize: Int64, count: Int) {
    precondition(
      count >= 1 && chunkSize >= 0 && Int64(count - 1) * chunkSize <= size, "\(count) × \(chunkSize) of \(size)")
    self.size = size
    self.chunkSize = chunkSize
    self.count = count
  }

  /// The range of chunk `seq`, counted from 0.
  package func range(_ seq: Int) -> ByteRange {
    precondition(seq >= 0 && seq < count, "chunk \(seq) of \(count)")
    let offset = Int64(seq) * chunkSize
    return ByteRange(offset: offset, length: seq == count - 1 ? size - offset : chunkSize)
  }

  /// How many chunks are completely within the first `offset` bytes.
  package func chunks(within offset: Int64) -> Int {
    if offset >= size { return count }
    return chunkSize == 0 ? 0 : min(count - 1, Int(offset / chunkSize))
  }
}
