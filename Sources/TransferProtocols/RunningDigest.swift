import CDigest
public import TransferModel

/// An incremental digest. A value: a copy continues independently. One thread at a time.
///
/// The CRCs cost about a tenth of a second per GiB and may run where bytes are read; MD5 and the SHAs cost more than
/// sending does.
public struct RunningDigest: Sendable {
  public let algorithm: DigestAlgorithm
  private var state: State

  private enum State: Sendable {
    case crc32(UInt32)
    case crc32c(UInt32)
    case crc64nvme(UInt64)
    case hash(HashContext)
    case quickxor(QuickXor)
  }

  public init(_ algorithm: DigestAlgorithm) {
    self.algorithm = algorithm
    state =
      switch algorithm {
      case .crc32: .crc32(0)
      case .crc32c: .crc32c(0)
      case .crc64nvme: .crc64nvme(0)
      case .md5: .hash(HashContext(.md5))
      case .sha1: .hash(HashContext(.sha1))
      case .sha256: .hash(HashContext(.sha256))
      case .sha512: .hash(HashContext(.sha512))
      case .quickxor: .quickxor(QuickXor())
      }
  }

  /// Takes in the next bytes.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .crc32(let crc): state = .crc32(cdigest_crc32(crc, bytes.baseAddress, bytes.count))
    case .crc32c(let crc): state = .crc32c(cdigest_crc32c(crc, bytes.baseAddress, bytes.count))
    case .crc64nvme(let crc): state = .crc64nvme(cdigest_crc64nvme(crc, bytes.baseAddress, bytes.count))
    case .quickxor(var register):
      // Releases the enum's copy first, as below.
      state = .crc32c(0)
      register.update(bytes)
      state = .quickxor(register)
    case .hash(var context):
      // Releases the enum's reference first: otherwise every update would copy the context.
      state = .crc32c(0)
      if !isKnownUniquelyReferenced(&context) { context = context.copy() }
      context.update(bytes)
      state = .hash(context)
    }
  }

  /// The digest of everything so far; more may follow.
  public func finish() -> Digest {
    switch state {
    case .crc32(let crc): Digest(crc32: crc)
    case .crc32c(let crc): Digest(crc32c: crc)
    case .crc64nvme(let crc): Digest(crc64nvme: crc)
    case .quickxor(let register): Digest(algorithm, register.finish())
    case .hash(let context): Digest(algorithm, context.copy().finish(algorithm.byteCount))
    }
  }

  /// The digest of one buffer.
  public static func of(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) -> Digest {
    var running = RunningDigest(algorithm)
    bytes.withUnsafeBytes { running.update($0) }
    return running.finish()
  }

  /// The digest of A followed by B from the digest of each; `secondLength` is the length of B in bytes. nil for
  /// algorithms that cannot (all but the CRCs) or that differ.
  public static func combine(_ first: Digest, _ second: Digest, secondLength: Int64) -> Digest? {
    guard first.algorithm == second.algorithm else { return nil }
    let (a, b, length) = (bigEndian(first.bytes), bigEndian(second.bytes), UInt64(secondLength))
    switch first.algorithm {
    case .crc32: return Digest(crc32: cdigest_crc32_combine(UInt32(a), UInt32(b), length))
    case .crc32c: return Digest(crc32c: cdigest_crc32c_combine(UInt32(a), UInt32(b), length))
    case .crc64nvme: return Digest(crc64nvme: cdigest_crc64nvme_combine(a, b, length))
    case .md5, .sha1, .sha256, .sha512, .quickxor: return nil
    }
  }

  private static func bigEndian(_ bytes: [UInt8]) -> UInt64 {
    bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The HMAC with SHA-256 of `message` (RFC 2104).
  static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var mac = [UInt8](repeating: 0, count: 32)
    let isDone = cdigest_hmac_sha256(key, key.count, message, message.count, &mac)
    precondition(isDone, "libcrypto has no HMAC-SHA256")
    return mac
  }
}

/// Owns one context of libcrypto. Mutated only while it is referenced once (``RunningDigest/update(_:)``).
private final class HashContext: @unchecked Sendable {
  private let raw: OpaquePointer

  init(_ kind: cdigest_kind) {
    guard let raw = cdigest_hash_new(kind) else { preconditionFailure("libcrypto has no digest \(kind)") }
    self.raw = raw
  }

  private init(raw: OpaquePointer) { self.raw = raw }

  deinit { cdigest_hash_free(raw) }

  func copy() -> HashContext {
    guard let raw = cdigest_hash_copy(raw) else { preconditionFailure("libcrypto cannot copy a digest") }
    return HashContext(raw: raw)
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    let isDone = cdigest_hash_update(raw, bytes.baseAddress, bytes.count)
    precondition(isDone, "libcrypto cannot update a digest")
  }

  func finish(_ byteCount: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    let isDone = cdigest_hash_final(raw, &digest)
    precondition(isDone, "libcrypto cannot finish a digest")
    return digest
  }
}
