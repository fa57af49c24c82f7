public import TransferModel

/// Finds paths that a manifest lists twice. Stores 64-bit hashes, not names: some 32 MiB for a million paths, and as
/// much again for their digests. That two paths have the same hash, and one is wrongly refused, happens about once in
/// ten million manifests of a million files. Names that only a file system treats as equal are not found.
public struct ManifestNames {
  public enum Occurrence: Sendable, Hashable {
    case first
    /// The path was listed before, without contradiction to this entry; the entry may have digests of other algorithms.
    case again
  }

  private var known: [UInt64: UInt64] = [:]

  public init() {}

  /// - Throws: `.badList` if the path was listed before with another location, size or digest.
  public mutating func insert(_ entry: ManifestEntry, of manifest: NameBytes) throws(TransferError) -> Occurrence {
    let isNew = try check(
      Self.hash(entry.path, DigestAlgorithm?.none), Self.hash(entry.location, entry.size), entry, manifest)
    for digest in entry.digests {
      _ = try check(
        Self.hash(entry.path, digest.algorithm as DigestAlgorithm?), Self.hash(digest, true), entry, manifest)
    }
    return isNew ? .first : .again
  }

  private mutating func check(
    _ key: UInt64, _ value: UInt64, _ entry: ManifestEntry, _ manifest: NameBytes
  ) throws(TransferError) -> Bool {
    guard let before = known[key] else {
      known[key] = value
      return true
    }
    guard before == value else {
      throw ManifestFault(
        "\(ManifestFault.shown(entry.path.bytes)) was listed before, with another source, size or digest",
        "keep the line that is right"
      ).error(manifest, line: entry.line)
    }
    return false
  }

  private static func hash<A: Hashable, B: Hashable>(_ a: A, _ b: B) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(a)
    hasher.combine(b)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
