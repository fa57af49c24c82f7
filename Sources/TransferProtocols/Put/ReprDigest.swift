import TransferModel

/// The `Repr-Digest` field: a structured dictionary of byte sequences (RFC 9530 section 3, RFC 8941 section 3.2).
enum ReprDigest {
  /// The CRC32C in it; nil when there is none. Other algorithms are skipped; a repeated one counts as its last.
  static func crc32c(_ field: String?) -> Digest? { value(.crc32c, "crc32c", field) }

  /// The digest of one algorithm, by its name in the registry of RFC 9530.
  static func value(_ algorithm: DigestAlgorithm, _ name: String, _ field: String?) -> Digest? {
    guard let field else { return nil }
    let opening = name + "=:"
    var found: Digest?
    for member in field.split(separator: ",") {
      let text = member.drop { $0 == " " || $0 == "\t" }
      guard text.hasPrefix(opening) else { continue }
      let value = text.dropFirst(opening.count).prefix { $0 != ":" }
      let rest = text.dropFirst(opening.count + value.count)
      guard rest.first == ":", let bytes = bytesFromBase64(String(value)), bytes.count == algorithm.byteCount else {
        return nil
      }
      found = Digest(algorithm, bytes)
    }
    return found
  }
}
