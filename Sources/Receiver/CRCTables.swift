/// Eight consecutive tables of 256 entries; table k advances a byte over k further zero bytes.
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

  /// The register after `bytes`, eight of them at a time.
  func advance(_ register: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    entries.withUnsafeBufferPointer { tables in
      var crc = register
      let wholeWords = bytes.count & ~7
      var at = 0
      while at < wholeWords {
        let word = UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(fromByteOffset: at, as: UInt64.self)
        crc = Self.step(word.littleEndian, crc, tables.baseAddress!)
        at &+= 8
      }
      for i in wholeWords..<bytes.count {
        crc = tables[Int((crc ^ UInt32(bytes[i])) & 255)] ^ (crc >> 8)
      }
      return crc
    }
  }

  /// Written with operations that are cheap without optimisation too: the tests are built that way, and send gigabytes.
  @inline(__always)
  private static func step(_ word: UInt64, _ crc: UInt32, _ tables: UnsafePointer<UInt32>) -> UInt32 {
    let low = UInt32(truncatingIfNeeded: word) ^ crc
    let high = UInt32(truncatingIfNeeded: word &>> 32)
    let first = tables[1792 &+ Int(low & 255)] ^ tables[1536 &+ Int(low &>> 8 & 255)]
    let second = tables[1280 &+ Int(low &>> 16 & 255)] ^ tables[1024 &+ Int(low &>> 24)]
    let third = tables[768 &+ Int(high & 255)] ^ tables[512 &+ Int(high &>> 8 & 255)]
    let fourth = tables[256 &+ Int(high &>> 16 & 255)] ^ tables[Int(high &>> 24)]
    return first ^ second ^ third ^ fourth
  }
}
