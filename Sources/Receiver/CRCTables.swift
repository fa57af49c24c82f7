/// Eight tables of 256 entries, one behind the other; table k advances a byte over k further zero bytes.
struct CRCTables {
  static let castagnoliPolynomial: UInt32 = 0x82F6_3B78
  static let castagnoli = CRCTables(castagnoliPolynomial)
  static let ieee = CRCTables(0xEDB8_8320)

  private let entries: [UInt32]

  private init(_ polynomial: UInt32) {
    var out = [UInt32](repeating: 0, count: 8 * 256)
    for i in 0..<256 {
      out[i] = (0..<8).reduce(UInt32(i)) { crc, _ in crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ polynomial }
    }
    for i in 256..<out.count {
      let previous = out[i - 256]
      out[i] = out[Int(previous & 255)] ^ (previous >> 8)
    }
    entries = out
  }

  /// The register after `bytes`, eight of them a step.
  func advance(_ register: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    entries.withUnsafeBufferPointer { tables in
      var crc = register
      let wholeWords = bytes.count & ~7
      var at = 0
      while at < wholeWords {
        let word = UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(fromByteOffset: at, as: UInt64.self)
        crc = Self.step(word.littleEndian, crc, tables)
        at &+= 8
      }
      for i in wholeWords..<bytes.count {
        crc = tables[Int((crc ^ UInt32(bytes[i])) & 255)] ^ (crc >> 8)
      }
      return crc
    }
  }

  @inline(__always)
  private static func step(_ word: UInt64, _ crc: UInt32, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
    let mixed = word ^ UInt64(crc)
    let low =
      tables[1792 &+ Int(truncatingIfNeeded: mixed & 255)] ^ tables[1536 &+ Int(truncatingIfNeeded: mixed >> 8 & 255)]
    let lowHigh =
      tables[1280 &+ Int(truncatingIfNeeded: mixed >> 16 & 255)]
      ^ tables[1024 &+ Int(truncatingIfNeeded: mixed >> 24 & 255)]
    let highLow =
      tables[768 &+ Int(truncatingIfNeeded: mixed >> 32 & 255)]
      ^ tables[512 &+ Int(truncatingIfNeeded: mixed >> 40 & 255)]
    let high = tables[256 &+ Int(truncatingIfNeeded: mixed >> 48 & 255)] ^ tables[Int(truncatingIfNeeded: mixed >> 56)]
    return low ^ lowHigh ^ highLow ^ high
  }
}
