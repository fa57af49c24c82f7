import CDigest

/// Finds the blocks that have a rolling checksum. Where two consecutive blocks must match, they are searched for
/// together: a checksum of two bytes alone would fit too many positions.
struct BlockIndex {
  private let blocks: PublishedBlocks
  /// The blocks with which a match can begin, by their keys. 32 bits each, because there may be millions.
  private var order: [UInt32]
  private var slots: [UInt64]
  private let bits: UInt32

  init(_ blocks: PublishedBlocks) {
    self.blocks = blocks
    let count = blocks.count - blocks.sequence + 1
    order = Array(0..<UInt32(max(0, count)))
    // 64 slots for each block: one in 64 positions without a match is looked up in vain.
    bits = UInt32(min(26, max(6, 6 + (Int.bitWidth - max(1, count).leadingZeroBitCount))))
    slots = [UInt64](repeating: 0, count: 1 << Int(bits - 6))
    let keys = order.map { Self.key(Int($0), blocks) }
    order.sort { (keys[Int($0)], $0) < (keys[Int($1)], $1) }
    for key in keys {
      let slot = cdigest_block_slot(UInt32(truncatingIfNeeded: key >> 32), UInt32(truncatingIfNeeded: key), bits)
      slots[Int(slot / 64)] |= 1 << UInt64(slot % 64)
    }
  }

  var isEmpty: Bool { order.isEmpty }

  /// The checksum of a block, and below it that of the next one if both must match.
  private static func key(_ block: Int, _ blocks: PublishedBlocks) -> UInt64 {
    UInt64(blocks.sum(block)) << 32 | (blocks.sequence == 2 ? UInt64(blocks.sum(block + 1)) : 0)
  }

  /// The first position from `from` to below `count` at which the sums are those of a block, or `count`; see
  /// `cdigest_find_block`.
  func find(
    _ bytes: UnsafePointer<UInt8>, from: Int, count: Int, _ sums: inout cdigest_block_sums
  ) -> Int {
    slots.withUnsafeBufferPointer { slots in
      var filter = cdigest_block_filter(
        slots: slots.baseAddress!, bits: bits, shift: UInt32(blocks.blockLength.trailingZeroBitCount),
        mask: blocks.mask, pairs: blocks.sequence == 2)
      return cdigest_find_block(bytes, from, count, &filter, &sums)
    }
  }

  /// The blocks with these sums, in order.
  func blocks(with sums: cdigest_block_sums) -> [Int] {
    let second = blocks.sequence == 2 ? UInt64(sums.second & blocks.mask) : 0
    let key = UInt64(sums.first & blocks.mask) << 32 | second
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.key(Int(order[middle]), blocks) < key { low = middle + 1 } else { high = middle }
    }
    return order[low...].lazy.prefix(while: { Self.key(Int($0), blocks) == key }).prefix(Self.mostAlike).map { Int($0) }
  }

  /// A file of equal blocks has millions with the same checksums; those behind the first are found with the run that
  /// begins there.
  private static let mostAlike = 256
}
