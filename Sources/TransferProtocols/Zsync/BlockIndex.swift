import CDigest

/// Finds the blocks that have a rolling checksum. Where two consecutive blocks must match, they are searched for
/// together: a checksum of two bytes alone would fit too many positions.
struct BlockIndex {
  private let blocks: PublishedBlocks
  /// The blocks with which a match can begin, by their keys. 32 bits each, because there may be millions.
  private var order: [UInt32]
  /// For each place in ``order``, the next one whose block may still be wanted: blocks that were found are skipped.
  private var next: [UInt32]
  private var slots: [UInt64]
  private let bits: UInt32
  /// Keys without a wanted block, by ``place(ofKey:)``: a run of zeros has the same key at every position.
  private var exhausted = [UInt64?](repeating: nil, count: 64)

  init(_ blocks: PublishedBlocks) {
    self.blocks = blocks
    let count = blocks.count - blocks.sequence + 1
    order = Array(0..<UInt32(max(0, count)))
    next = Array(0..<UInt32(max(0, count) + 1))
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

  /// The key of the blocks with these sums.
  func key(_ sums: cdigest_block_sums) -> UInt64 {
    let second = blocks.sequence == 2 ? UInt64(sums.second & blocks.mask) : 0
    return UInt64(sums.first & blocks.mask) << 32 | second
  }

  /// No block with this key is left, as an earlier search showed.
  func isExhausted(_ key: UInt64) -> Bool { exhausted[Self.place(ofKey: key)] == key }

  private static func place(ofKey key: UInt64) -> Int { Int((key &* 0x9E37_79B9_7F4A_7C15) >> 58) }

  /// The first place in the order of the keys with this key or a higher one.
  func start(_ key: UInt64) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.key(Int(order[middle]), blocks) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The first block with this key from a place on that was not found before, with its place; nil if there is none.
  mutating func block(
    _ key: UInt64, from start: Int, _ wasFound: (Int) -> Bool
  ) -> (block: Int, place: Int)? {
    var place = unlinked(start)
    while place < order.count {
      let block = Int(order[place])
      guard Self.key(block, blocks) == key else { return nil }
      guard wasFound(block) else { return (block, place) }
      next[place] = UInt32(place + 1)
      place = unlinked(place)
    }
    return nil
  }

  /// Remembers that no block with this key is left.
  mutating func exhaust(_ key: UInt64) { exhausted[Self.place(ofKey: key)] = key }

  /// The next place from this one on whose block was not found, as far as that is known.
  private mutating func unlinked(_ start: Int) -> Int {
    var place = start
    while Int(next[place]) != place {
      next[place] = next[Int(next[place])]
      place = Int(next[place])
    }
    return place
  }
}
