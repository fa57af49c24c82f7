/// A gzip stream (RFC 1952) of deflate blocks with fixed codes (RFC 1951, section 3.2.6): for text that repeats itself,
/// as a trace does. Memory: one block.
package struct Gzip {
  /// Bytes compressed at a time; matches do not cross block boundaries.
  private static let blockSize = 1 << 15
  private static let longest = 258
  private static let shortest = 4

  private var pending: [UInt8] = []
  private var out: [UInt8]
  private var bits: UInt64 = 0
  private var bitCount = 0
  private var crc: UInt32 = .max
  private var size: UInt32 = 0

  package init() { out = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] }

  /// Adds input; returns the output that is ready.
  package mutating func add(_ bytes: [UInt8]) -> [UInt8] {
    pending += bytes
    var start = 0
    while pending.count - start >= Self.blockSize {
      block(pending[start..<start + Self.blockSize], isLast: false)
      start += Self.blockSize
    }
    pending.removeSubrange(..<start)
    return taken()
  }

  /// The rest of the stream.
  package mutating func finish() -> [UInt8] {
    block(pending[...], isLast: true)
    pending = []
    if bitCount > 0 { put(0, (8 - bitCount % 8) % 8) }
    for word in [~crc, size] {
      for shift in stride(from: UInt32(0), to: 32, by: 8) { out.append(UInt8(word >> shift & 255)) }
    }
    return taken()
  }

  private mutating func taken() -> [UInt8] {
    defer { out = [] }
    return out
  }

  private mutating func block(_ slice: ArraySlice<UInt8>, isLast: Bool) {
    let data = Array(slice)
    for byte in data { crc = Self.table[Int((crc ^ UInt32(byte)) & 255)] ^ (crc >> 8) }
    size &+= UInt32(truncatingIfNeeded: data.count)
    put(isLast ? 1 : 0, 1)
    put(1, 2)
    var newest = [Int](repeating: -1, count: 1 << 13)
    var at = 0
    while at < data.count {
      let length = match(data, at, &newest)
      if let (length, distance) = length {
        literalOrLength(length)
        self.distance(distance)
        at += length
      } else {
        code(Int(data[at]))
        at += 1
      }
    }
    code(256)
  }

  /// The longest match with the newest position of the same prefix; nil if none is worthwhile.
  private func match(_ data: [UInt8], _ at: Int, _ newest: inout [Int]) -> (length: Int, distance: Int)? {
    guard at + Self.shortest <= data.count else { return nil }
    let four = data[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let slot = Int((four &* 2_654_435_761) >> 19)
    let before = newest[slot]
    newest[slot] = at
    guard before >= 0 else { return nil }
    var length = 0
    while length < Self.longest, at + length < data.count, data[before + length] == data[at + length] { length += 1 }
    return length >= Self.shortest ? (length, at - before) : nil
  }

  // MARK: - Codes

  /// Writes a symbol in the fixed code, whose bits are written most significant first.
  private mutating func code(_ symbol: Int) {
    switch symbol {
    case ..<144: put(Self.reversed(0x30 + symbol, 8), 8)
    case ..<256: put(Self.reversed(0x190 + symbol - 144, 9), 9)
    case ..<280: put(Self.reversed(symbol - 256, 7), 7)
    default: put(Self.reversed(0xC0 + symbol - 280, 8), 8)
    }
  }

  private mutating func literalOrLength(_ length: Int) {
    let index = Self.lengths.lastIndex { $0.base <= length } ?? 0
    code(257 + index)
    put(length - Self.lengths[index].base, Self.lengths[index].extra)
  }

  private mutating func distance(_ distance: Int) {
    let index = Self.distances.lastIndex { $0.base <= distance } ?? 0
    put(Self.reversed(index, 5), 5)
    put(distance - Self.distances[index].base, Self.distances[index].extra)
  }

  private mutating func put(_ value: Int, _ count: Int) {
    bits |= UInt64(value) << UInt64(bitCount)
    bitCount += count
    while bitCount >= 8 {
      out.append(UInt8(bits & 255))
      bits >>= 8
      bitCount -= 8
    }
  }

  private static func reversed(_ value: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | (value >> $1 & 1) << (count - 1 - $1) }
  }

  /// Section 3.2.5: the bases follow from the extra bits; the longest length has a code of its own.
  private static let lengths: [(base: Int, extra: Int)] = {
    var base = 3
    var rows = (0..<28).map { index in
      let extra = index < 8 ? 0 : index / 4 - 1
      defer { base += 1 << extra }
      return (base, extra)
    }
    rows.append((258, 0))
    return rows
  }()

  private static let distances: [(base: Int, extra: Int)] = {
    var base = 1
    return (0..<30).map { index in
      let extra = index < 4 ? 0 : index / 2 - 1
      defer { base += 1 << extra }
      return (base, extra)
    }
  }()

  /// The table for the CRC of section 8.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
  }
}
