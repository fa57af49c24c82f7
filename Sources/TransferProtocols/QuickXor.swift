import CDigest

/// QuickXorHash: each byte is XORed into a circular register of 160 bits, eleven bits after the previous byte; finally
/// the length in bytes is XORed into the last 64 bits. Source: "QuickXorHash", OneDrive API, code snippets.
///
/// After 160 bytes the position returns to the first bit, so bytes that are 160 apart can be XORed first.
struct QuickXor: Sendable {
  private static let bitCount = 160
  private static let shift = 11

  private var ring = [UInt8](repeating: 0, count: bitCount)
  private var length: UInt64 = 0

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let at = length
    ring.withUnsafeMutableBufferPointer { cdigest_xor_ring($0.baseAddress!, at, bytes.baseAddress, bytes.count) }
    length &+= UInt64(bytes.count)
  }

  func finish() -> [UInt8] {
    var register = [UInt8](repeating: 0, count: Self.bitCount / 8)
    for (i, byte) in ring.enumerated() where byte != 0 {
      let bit = i * Self.shift % Self.bitCount
      let (cell, offset) = (bit / 8, bit % 8)
      register[cell] ^= byte << UInt8(offset)
      if offset > 0 { register[(cell + 1) % register.count] ^= byte >> UInt8(8 - offset) }
    }
    for i in 0..<8 { register[register.count - 8 + i] ^= UInt8(truncatingIfNeeded: length >> UInt64(8 * i)) }
    return register
  }
}
