import Testing
import TransferModel

/// Lengths and sizes up to the largest number: a manifest, an option or a sparse file may have any.
@Suite struct LongestFileTests {
  @Test(
    arguments: [
      (0, 1, 1), (1, 1, 1), (10, 3, 4), (9, 3, 3), (10, .max, 1), (.max, .max, 1), (.max, .max - 1, 2),
      (.max, 1 << 40, 1 << 23), (0, .max, 1),
    ] as [(Int64, Int64, Int)])
  func aLayoutHasAsManyChunksAsNeeded(_ size: Int64, _ length: Int64, _ count: Int) {
    let layout = ChunkLayout(size: size, chunkSize: length)
    #expect(layout.count == count)
    #expect(layout.range(count - 1).end == size)
  }

  @Test func piecesOfAnyLengthHavePlaces() {
    let pieces = PieceDigests(.sha256, length: .max, bytes: [UInt8](repeating: 1, count: 32))
    #expect(pieces.covers(10) && pieces.covers(.max) && !pieces.covers(0))
    #expect(pieces.pieces(within: ByteRange(offset: 0, length: 10), of: 10) == 0..<1)
    #expect(pieces.pieces(within: ByteRange(offset: 1, length: 9), of: 10).isEmpty)
    #expect(pieces.range(0, of: 10) == ByteRange(offset: 0, length: 10))
  }
}
