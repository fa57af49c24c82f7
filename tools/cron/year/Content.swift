import TransferModel

/// The content of a file, identified by its number and length, so that the receiver of its bytes can tell which content
/// they are. A growing file keeps its number.
struct Content: Hashable, Sendable {
  static let headerLength = 12
  let number: Int
  let length: Int

  var bytes: [UInt8] {
    let digits = String(number)
    let header = "c" + String(repeating: "0", count: Self.headerLength - 2 - digits.count) + digits + "\n"
    var state = UInt64(number) &* 0x2545_F491_4F6C_DD1D | 1
    return Array(header.utf8)
      + (Self.headerLength..<max(Self.headerLength, length)).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
      }
  }

  /// nil for bytes that belong to no content, or to two.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headerLength,
      let number = Int(String(decoding: bytes[1..<(Self.headerLength - 1)], as: UTF8.self))
    else { return nil }
    self.init(number: number, length: bytes.count)
    guard self.bytes == bytes else { return nil }
  }

  init(number: Int, length: Int) { (self.number, self.length) = (number, length) }
}

/// CRC-32C for the simulated server; it shares no code with the client that it checks.
/// Source: RFC 3720 appendix B.4, polynomial 0x82F63B78 (reflected).
enum ServerDigest {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
  }

  /// The value of `Repr-Digest`.
  static func field(_ bytes: [UInt8]) -> String {
    let sum = ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    let four = (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * $0)) }
    return "crc32c=:\(base64(four)):"
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let some = bytes[start..<min(start + 3, bytes.count)]
      let bits = (0..<3).reduce(0) { $0 << 8 | Int(some.count > $1 ? some[start + $1] : 0) }
      for place in 0..<4 { text.append(place <= some.count ? digits[bits >> (18 - 6 * place) & 63] : "=") }
    }
    return text
  }
}
