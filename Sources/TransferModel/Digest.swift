/// A digest algorithm that the ledger can store.
public enum DigestAlgorithm: String, Sendable, CaseIterable, Codable {
  case crc32, crc32c, crc64nvme, md5, sha1, sha256, sha512
  /// QuickXorHash of OneDrive and SharePoint: detects accidental corruption; not cryptographic.
  case quickxor

  /// Length of the raw digest in bytes.
  public var byteCount: Int {
    switch self {
    case .crc32, .crc32c: 4
    case .crc64nvme: 8
    case .md5: 16
    case .sha1, .quickxor: 20
    case .sha256: 32
    case .sha512: 64
    }
  }
}

/// A digest with its algorithm. Text form, as in the ledger: `crc64nvme:<lower-case hex>`.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
  public let algorithm: DigestAlgorithm
  /// Raw bytes, most significant first.
  public let bytes: [UInt8]

  public init(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
    precondition(bytes.count == algorithm.byteCount, "\(algorithm) digest of \(bytes.count) bytes")
    self.algorithm = algorithm
    self.bytes = bytes
  }

  public init(crc32 value: UInt32) { self.init(.crc32, bigEndianBytes(value)) }
  public init(crc32c value: UInt32) { self.init(.crc32c, bigEndianBytes(value)) }
  public init(crc64nvme value: UInt64) { self.init(.crc64nvme, bigEndianBytes(value)) }

  public var description: String { "\(algorithm.rawValue):\(hexText(bytes))" }

  /// Reads the text form; nil for anything else.
  public init?(text: String) {
    guard let colon = text.firstIndex(of: ":"), let algorithm = DigestAlgorithm(rawValue: String(text[..<colon])),
      let bytes = bytesFromHex(text[text.index(after: colon)...]), bytes.count == algorithm.byteCount
    else { return nil }
    self.init(algorithm, bytes)
  }
}

private func bigEndianBytes<I: FixedWidthInteger>(_ value: I) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}

/// Lower-case hexadecimal text.
package func hexText(_ bytes: some Sequence<UInt8>) -> String {
  var out: [UInt8] = []
  for byte in bytes {
    for nibble in [byte >> 4, byte & 15] { out.append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble) }
  }
  return String(decoding: out, as: UTF8.self)
}

/// The bytes of hexadecimal text in either case; nil for other text.
package func bytesFromHex(_ text: some StringProtocol) -> [UInt8]? {
  let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
  guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0]! << 4 | digits[$0 + 1]!) }
}

/// Base64 with padding (RFC 4648 section 4).
package func base64(_ bytes: [UInt8]) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var out: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    var value: UInt32 = 0
    for i in 0..<3 { value = value << 8 | (i < group.count ? UInt32(group[start + i]) : 0) }
    for i in 0..<4 {
      out.append(i <= group.count ? alphabet[Int(value >> UInt32(18 - 6 * i)) & 63] : 0x3D)
    }
  }
  return String(decoding: out, as: UTF8.self)
}

/// The bytes of padded base64; nil for text that is not in canonical form.
package func bytesFromBase64(_ text: String) -> [UInt8]? {
  let input = Array(text.utf8)
  guard input.count % 4 == 0 else { return nil }
  let padding = input.reversed().prefix { $0 == 0x3D }.count
  guard padding <= 2 else { return nil }
  var out: [UInt8] = []
  var value: UInt32 = 0
  for (i, byte) in input.dropLast(padding).enumerated() {
    guard let digit = base64Digit(byte) else { return nil }
    value = value << 6 | digit
    if i % 4 == 3 {
      out += [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
      value = 0
    }
  }
  if padding == 1 { out += [UInt8(value >> 10 & 255), UInt8(value >> 2 & 255)] }
  if padding == 2 { out.append(UInt8(value >> 4 & 255)) }
  return base64(out) == text ? out : nil
}

private func base64Digit(_ byte: UInt8) -> UInt32? {
  switch byte {
  case 0x41...0x5A: UInt32(byte - 0x41)
  case 0x61...0x7A: UInt32(byte - 0x61 + 26)
  case 0x30...0x39: UInt32(byte - 0x30 + 52)
  case 0x2B: 62
  case 0x2F: 63
  default: nil
  }
}
