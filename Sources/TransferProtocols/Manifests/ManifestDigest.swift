public import TransferModel

/// Digests as manifests write them.
public enum ManifestDigest {
  public static func isStronger(_ one: DigestAlgorithm, _ other: DigestAlgorithm) -> Bool {
    strength(one) > strength(other)
  }

  /// The algorithm by any of its usual names: `SHA256`, `sha-256`, `SHA2-256` (OpenSSL 3), `sha` (SHA-1 in RFC 9530).
  static func algorithm(named name: some Sequence<UInt8>) -> DigestAlgorithm? {
    let plain = name.prefix(24).lazy.filter { $0 != 0x2D && $0 != 0x5F }.map { byte in
      (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
    switch String(decoding: Array(plain), as: UTF8.self) {
    case "sha512", "sha2512": return .sha512
    case "sha256", "sha2256": return .sha256
    case "sha1", "sha": return .sha1
    case "md5": return .md5
    case "crc32": return .crc32
    case "crc32c": return .crc32c
    case "crc64nvme": return .crc64nvme
    case "quickxor": return .quickxor
    default: return nil
    }
  }

  /// Parses hexadecimal or padded base64; nil for anything else, and for a wrong length.
  static func value(_ algorithm: DigestAlgorithm, _ text: UnsafeRawBufferPointer) -> Digest? {
    if text.count == 2 * algorithm.byteCount { return hex(text).map { Digest(algorithm, $0) } }
    guard text.count == (algorithm.byteCount + 2) / 3 * 4 else { return nil }
    let bytes = bytesFromBase64(String(decoding: text, as: UTF8.self))
    return bytes.flatMap { $0.count == algorithm.byteCount ? Digest(algorithm, $0) : nil }
  }

  /// The bytes of hexadecimal text in either case.
  static func hex(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var isWrong = false
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { out, count in
      for i in 0..<text.count / 2 {
        let (high, low) = (nibble(text[2 * i]), nibble(text[2 * i + 1]))
        isWrong = isWrong || high > 15 || low > 15
        out[i] = high << 4 | low & 15
      }
      count = text.count / 2
    }
    return isWrong ? nil : bytes
  }

  /// 255 for a byte that is not a digit.
  static func nibble(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: 255
    }
  }

  static func wrongValue(_ algorithm: DigestAlgorithm) -> ManifestFault {
    ManifestFault(
      "its \(algorithm) digest is not \(2 * algorithm.byteCount) hexadecimal digits, nor base64 of that length",
      "correct the digest")
  }

  /// Inserts a digest at its position: the strongest first.
  static func add(_ digest: Digest, to digests: inout [Digest]) throws(ManifestFault) {
    let place = digests.firstIndex { strength($0.algorithm) <= strength(digest.algorithm) } ?? digests.count
    guard place < digests.count, digests[place].algorithm == digest.algorithm else {
      return digests.insert(digest, at: place)
    }
    guard digests[place] == digest else {
      throw ManifestFault("it has two different \(digest.algorithm) digests", "keep the right one")
    }
  }

  static func strength(_ algorithm: DigestAlgorithm) -> Int {
    switch algorithm {
    case .crc32: 0
    case .crc32c: 1
    case .crc64nvme: 2
    case .quickxor: 3
    case .md5: 4
    case .sha1: 5
    case .sha256: 6
    case .sha512: 7
    }
  }
}
