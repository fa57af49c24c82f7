/// Percent-encoding of bytes in URLs (RFC 3986), in the one form that SigV4 accepts: everything but the unreserved
/// characters is encoded, with upper-case digits.
enum PercentEncoding {
  /// Encodes a path: slashes are kept.
  static func path(_ bytes: some Sequence<UInt8>) -> String { encode(bytes) { isUnreserved($0) || $0 == 0x2F } }

  /// For one name or value of a query, or one component of a path.
  static func component(_ bytes: some Sequence<UInt8>) -> String { encode(bytes, isUnreserved) }

  static func component(_ text: String) -> String { component(text.utf8) }

  /// The decoded bytes; nil if a `%` is not followed by two digits.
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var out: [UInt8] = []
    var iterator = text.makeIterator()
    while let byte = iterator.next() {
      guard byte == 0x25 else {
        out.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit) else { return nil }
      out.append(high << 4 | low)
    }
    return out
  }

  private static func encode(_ bytes: some Sequence<UInt8>, _ stays: (UInt8) -> Bool) -> String {
    var out: [UInt8] = []
    for byte in bytes {
      if stays(byte) {
        out.append(byte)
      } else {
        out += [0x25, upperDigit(byte >> 4), upperDigit(byte & 15)]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Whether the byte occurs in paths that ``path(_:)`` has encoded.
  static func isOfEncodedPath(_ byte: UInt8) -> Bool { isUnreserved(byte) || byte == 0x2F || byte == 0x25 }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  private static func upperDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x37 + nibble }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
  }
}
