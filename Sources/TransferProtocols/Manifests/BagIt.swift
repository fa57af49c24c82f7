public import TransferModel

/// A bag with files that are still to be fetched (RFC 8493): `fetch.txt` says from where, the payload manifests say
/// what they are.
public enum BagIt {
  /// Of all texts together, in bytes.
  public static let largest = 64 << 20

  public struct Text {
    /// As in the bag; its folder does not matter.
    public var name: NameBytes
    public var bytes: [UInt8]

    public init(_ name: NameBytes, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
  }

  /// Gives the files of `fetch.txt` with their digests. Of `manifests`, those that are no payload manifest, and those
  /// of algorithms that are not known here, are passed over; a file that another one of them does not list is an error.
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
