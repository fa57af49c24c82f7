import TransferModel

/// The meaning of a column of a table, or of a member of a JSON object.
enum ManifestField: Hashable {
  case url, path, size
  /// A path in base64, for names that are not UTF-8; takes precedence over ``path``.
  case pathBytes
  /// Other URLs of the same file, separated by blanks.
  case mirrors
  /// RFC 3339; ignored in any other form.
  case mtime
  /// See ``NamedPieces``.
  case pieces
  /// Of an upload: its path below the destination.
  case key
  /// Of an upload: a property of its object.
  case setting(ObjectSetting)
  /// The value contains the algorithm.
  case digest
  case digestOf(DigestAlgorithm)

  /// The field with this name, case-insensitive; nil for columns that are ignored.
  init?(name: some Sequence<UInt8>) {
    let lowered = name.prefix(24).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    switch String(decoding: lowered, as: UTF8.self) {
    case "url": self = .url
    case "mirrors": self = .mirrors
    case "path": self = .path
    case "path_b64": self = .pathBytes
    case "size": self = .size
    case "mtime": self = .mtime
    case "piece_digests": self = .pieces
    case "digest": self = .digest
    case "key": self = .key
    default:
      if let algorithm = ManifestDigest.algorithm(named: name) {
        self = .digestOf(algorithm)
        return
      }
      guard let setting = Self.setting(String(decoding: Array(name.prefix(256)), as: UTF8.self)) else { return nil }
      self = .setting(setting)
    }
  }

  /// The keys of tags are case-sensitive.
  private static func setting(_ name: String) -> ObjectSetting? {
    let lower = name.lowercased()
    return ObjectSetting(name: lower.hasPrefix("tag.") ? "tag." + name.dropFirst(4) : lower)
  }

  static func unknown(_ name: some Sequence<UInt8>) -> ManifestFault {
    ManifestFault(
      "unknown column or member \(ManifestFault.shown(name))",
      "remove it; known are path, key, size, digest, sha256 …, content_type, storage_class, header.NAME and tag.KEY")
  }
}

/// Digests that name their algorithm: `sha256:HEX`, or `sha-256=:BASE64:` as in `Repr-Digest` (RFC 9530), several
/// separated by commas. Unknown algorithms are ignored if another one is known.
enum NamedDigests {
  private static let form = ManifestFault(
    "its digest names no algorithm", "write sha256:HEX, or sha-256=:BASE64: as in Repr-Digest")

  static func read(_ text: UnsafeRawBufferPointer, into digests: inout [Digest]) throws(ManifestFault) {
    var unknown: [UInt8]?
    let before = digests.count
    for member in text.split(separator: 0x2C, omittingEmptySubsequences: false) {
      let member = trimmed(member)
      guard let mark = member.firstIndex(where: { $0 == 0x3A || $0 == 0x3D }), mark > member.startIndex else {
        throw form
      }
      let name = member[..<mark]
      guard let algorithm = ManifestDigest.algorithm(named: name) else {
        unknown = Array(name)
        continue
      }
      let value = UnsafeRawBufferPointer(rebasing: inner(member[mark...]))
      guard let digest = ManifestDigest.value(algorithm, value) else { throw ManifestDigest.wrongValue(algorithm) }
      try ManifestDigest.add(digest, to: &digests)
    }
    guard digests.count == before, let unknown else { return }
    throw ManifestFault(
      "its digest is of \(ManifestFault.shown(unknown)), which is not known here", "use sha256 or sha512")
  }

  /// The text after `:` or `=`, or between `=:` and `:`.
  private static func inner(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let isSequence = text.starts(with: [0x3D, 0x3A]) && text.count > 2 && text.last == 0x3A
    return isSequence ? text.dropFirst(2).dropLast() : text.dropFirst()
  }

  private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var text = text.drop { $0 == 0x20 || $0 == 0x09 }
    while text.last == 0x20 || text.last == 0x09 { text = text.dropLast() }
    return text
  }
}
