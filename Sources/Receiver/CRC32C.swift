/// A running CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), computed eight bytes at a time from tables.
///
/// The receiver checks what a client sent, so it computes with its own code and not with the client's.
/// Source: RFC 3720 appendix B.4 for the polynomial and the check values.
struct CRC32C: Sendable {
  private var register: UInt32 = .max

  /// The checksum of everything that was added.
  var value: UInt32 { ~register }

  mutating func add(_ bytes: UnsafeRawBufferPointer) { register = CRCTables.castagnoli.advance(register, bytes) }
}

/// A running CRC-32 as in zip and PNG (reflected polynomial 0xEDB88320). Source: RFC 1952 section 8.
struct CRC32: Sendable {
  private var register: UInt32 = .max

  var value: UInt32 { ~register }

  mutating func add(_ bytes: UnsafeRawBufferPointer) { register = CRCTables.ieee.advance(register, bytes) }
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

  /// The checksum of A followed by B, from the checksum of each and the length of B in bytes: the checksum of A is
  /// multiplied by x to the power of the number of bits in B, modulo the polynomial.
  static func combined(_ a: UInt32, _ b: UInt32, lengthB: Int64) -> UInt32 {
    var power: UInt32 = 1 << 31
    var square: UInt32 = 1 << 23
    var rest = lengthB
    while rest > 0 {
      if rest & 1 == 1 { power = product(square, power) }
      square = product(square, square)
      rest >>= 1
    }
    return product(power, a) ^ b
  }

  /// The product of two polynomials of the field; the highest bit is the coefficient of x⁰.
  private static func product(_ a: UInt32, _ b: UInt32) -> UInt32 {
    var (factor, out) = (b, UInt32(0))
    for bit in (0..<32).reversed() {
      if a >> UInt32(bit) & 1 == 1 { out ^= factor }
      factor = factor & 1 == 1 ? factor >> 1 ^ CRCTables.castagnoliPolynomial : factor >> 1
    }
    return out
  }

  static func bigEndianBytes(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }
}
