import CDigest

/// A SHA-256 hash in a Merkle tree.
public struct TreeHash: Sendable, Hashable {
  public static let length = 32
  /// The bytes of the hash as four 64-bit numbers in memory order, so that a copy needs no allocation.
  private let words: SIMD4<UInt64>

  private init(words: SIMD4<UInt64>) { self.words = words }

  /// nil unless there are exactly 32 bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    words = Array(bytes).withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
  }

  public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

  /// The head of a tree without leaves: SHA-256 of nothing (RFC 6962 section 2.1).
  public static let ofEmptyTree = TreeHasher().hash([])

  fileprivate static func filled(_ fill: (UnsafeMutablePointer<UInt8>) -> Bool) -> TreeHash {
    var words = SIMD4<UInt64>.zero
    let isFilled = withUnsafeMutableBytes(of: &words) { fill($0.baseAddress!.assumingMemoryBound(to: UInt8.self)) }
    precondition(isFilled, "libcrypto refuses SHA-256")
    return TreeHash(words: words)
  }

  fileprivate func withBytes<T>(_ body: (UnsafeRawPointer) -> T) -> T {
    withUnsafeBytes(of: words) { body($0.baseAddress!) }
  }
}

/// Computes the hashes of a tree with one context of libcrypto, because creating one for each hash costs more than the
/// hash. Used by one thread at a time.
public final class TreeHasher {
  private let context: OpaquePointer

  /// Ends the process when memory is exhausted, as Swift's own allocations do.
  public init() {
    guard let made = cdigest_hash_new(.sha256) else { fatalError("no context for SHA-256") }
    context = made
  }

  deinit { cdigest_hash_free(context) }

  /// SHA-256 of the bytes, without a prefix.
  public func hash(_ bytes: [UInt8]) -> TreeHash {
    TreeHash.filled { out in
      bytes.withUnsafeBytes { cdigest_hash_update(context, $0.baseAddress, $0.count) }
        && cdigest_hash_final(context, out)
    }
  }

  /// The hash of a leaf, `SHA-256(0x00 || bytes)`: RFC 6962 section 2.1.
  public func leaf(_ bytes: UnsafeRawBufferPointer) -> TreeHash {
    var prefix: UInt8 = 0
    return TreeHash.filled { out in
      cdigest_hash_update(context, &prefix, 1) && cdigest_hash_update(context, bytes.baseAddress, bytes.count)
        && cdigest_hash_final(context, out)
    }
  }

  public func leaf(_ bytes: [UInt8]) -> TreeHash { bytes.withUnsafeBytes { leaf($0) } }

  /// The hash of an inner node, `SHA-256(0x01 || left || right)`: RFC 6962 section 2.1.
  public func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
    var prefix: UInt8 = 1
    return TreeHash.filled { out in
      cdigest_hash_update(context, &prefix, 1)
        && left.withBytes { cdigest_hash_update(context, $0, TreeHash.length) }
        && right.withBytes { cdigest_hash_update(context, $0, TreeHash.length) }
        && cdigest_hash_final(context, out)
    }
  }
}

extension TreeHash {
  public func append(to bytes: inout [UInt8]) {
    withBytes { bytes.append(contentsOf: UnsafeRawBufferPointer(start: $0, count: Self.length)) }
  }

  /// The concatenated hashes in `bytes`; nil when the last one is incomplete.
  public static func array(_ bytes: [UInt8]) -> [TreeHash]? {
    guard bytes.count.isMultiple(of: length) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: length).map {
        TreeHash(words: bytes.loadUnaligned(fromByteOffset: $0, as: SIMD4<UInt64>.self))
      }
    }
  }
}
