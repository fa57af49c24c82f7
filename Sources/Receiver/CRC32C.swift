/// A running CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), eight bytes a step from tables.
///
/// The receiver judges what a client sent, so it computes with code of its own and not with the client's.
/// Source: RFC 3720 appendix B.4 for the polynomial and the check values.
struct CRC32C: Sendable {
  private var register: UInt32 = .max

  /// The checksum of everything that was added.
  var value: UInt32 { ~register }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    register = Self.tables.withUnsafeBufferPointer { tables in
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

  /// Eight tables of 256 entries, one behind the other; table k advances a byte over k further zero bytes.
  private static let tables: [UInt32] = {
    var out = [UInt32](repeating: 0, count: 8 * 256)
    for i in 0..<256 {
      out[i] = (0..<8).reduce(UInt32(i)) { crc, _ in crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
    }
    for i in 256..<out.count {
      let previous = out[i - 256]
      out[i] = out[Int(previous & 255)] ^ (previous >> 8)
    }
    return out
  }()
}

extension CRC32C {
  static func of(_ bytes: [UInt8]) -> UInt32 {
    var crc = CRC32C()
    bytes.withUnsafeBytes { crc.add($0) }
    return crc.value
  }

  /// Eight lower-case hexadecimal digits.
  static func text(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  static func bigEndianBytes(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }
}
