public import TransferModel

/// A bag with files that are still to be fetched (RFC 8493): `fetch.txt` has their URLs, and the payload manifests have
/// their digests.
public enum BagIt {
  /// Maximum size of all lists together, in bytes.
  public static let largest = 64 << 20

  public struct Text {
    /// The name in the bag; the folder of the bag does not matter.
    public var name: NameBytes
    public var bytes: [UInt8]

    public init(_ name: NameBytes, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
  }

  /// Calls the body with each file of `fetch.txt` and its digests. Of `manifests`, those that are not payload
  /// manifests, and those with unknown algorithms, are skipped; it is an error if one of the others does not list a
  /// file.
  public static func read(
    fetch: Text, manifests: [Text], _ body: ManifestReader.Body
  ) throws(TransferError) {
    guard ([fetch] + manifests).reduce(0, { $0 + $1.bytes.count }) <= largest else {
      throw TransferError(
        .badList, "read manifest", fetch.name,
        cause: "the lists of the bag are longer than \(largest >> 20) MiB together",
        remedy: "split the bag")
    }
    let known = manifests.filter { text in
      BagItLines.algorithmName(ofManifest: text.name).flatMap { ManifestDigest.algorithm(named: $0.utf8) } != nil
    }
    var digests: [NameBytes: [Digest]] = [:]
    for text in known { try add(text, to: &digests) }
    var names = ManifestNames()
    try ManifestReader(.bagit, name: fetch.name).read(fetch.bytes) { listed throws(TransferError) in
      guard try names.insert(listed, of: fetch.name) == .first else { return }
      var entry = listed
      entry.digests = digests[entry.path] ?? []
      guard entry.digests.count == known.count else {
        throw ManifestFault(
          "\(ManifestFault.shown(entry.path.bytes)) is not in every payload manifest of the bag",
          "fetch the lists of the bag again"
        ).error(fetch.name, line: entry.line)
      }
      try body(entry)
    }
  }

  private static func add(_ text: Text, to digests: inout [NameBytes: [Digest]]) throws(TransferError) {
    try ManifestReader(.bagit, name: text.name).read(text.bytes) { entry throws(TransferError) in
      do throws(ManifestFault) {
        for digest in entry.digests { try ManifestDigest.add(digest, to: &digests[entry.path, default: []]) }
      } catch {
        throw error.error(text.name, line: entry.line)
      }
    }
  }
}
