import CCrypto

/// A digest or checksum that is updated as bytes arrive. Used by one thread.
final class RunningHash {
  enum Kind: String, CaseIterable {
    case md5, sha1, sha256, sha512, crc32, crc32c
  }

  private let context: OpaquePointer?
  private let kind: Kind
  private var crc32 = CRC32()
  private var crc32c = CRC32C()

  init(_ kind: Kind) {
    self.kind = kind
    guard let algorithm = Self.algorithm(kind) else {
      context = nil
      return
    }
    context = EVP_MD_CTX_new()
    precondition(context != nil && EVP_DigestInit_ex(context, algorithm, nil) == 1, "libcrypto has no \(kind)")
  }

  deinit { EVP_MD_CTX_free(context) }

  private static func algorithm(_ kind: Kind) -> OpaquePointer? {
    switch kind {
    case .md5: EVP_md5()
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    case .sha512: EVP_sha512()
    case .crc32, .crc32c: nil
    }
  }

  func add(_ bytes: UnsafeRawBufferPointer) {
    if let context {
      EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    } else if kind == .crc32 {
      crc32.add(bytes)
    } else {
      crc32c.add(bytes)
    }
  }

  /// The raw digest of all bytes added, most significant byte first; nothing can be added afterwards.
  func finish() -> [UInt8] {
    guard let context else { return CRC32C.bigEndianBytes(kind == .crc32 ? crc32.value : crc32c.value) }
    var out = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_DigestFinal_ex(context, &out, &length)
    return Array(out[..<Int(length)])
  }

  static func of(_ bytes: [UInt8], _ kind: Kind) -> [UInt8] {
    let hash = RunningHash(kind)
    bytes.withUnsafeBytes { hash.add($0) }
    return hash.finish()
  }
}
