import TransferModel

/// The `Repr-Digest` field: a structured dictionary of byte sequences (RFC 9530 section 3, RFC 8941 section 3.2).
enum ReprDigest {
  /// The CRC32C in it; nil when there is none. Other algorithms are skipped; a repeated one counts as its last.
  static func crc32c(_ field: String?) -> Digest? {
    guard let field else { return nil }
    var found: Digest?
    for member in field.split(separator: ",") {
      let text = member.drop { $0 == " " || $0 == "\t" }
      guard text.hasPrefix("crc32c=:") else { continue }
      let value = text.dropFirst(8).prefix { $0 != ":" }
      let rest = text.dropFirst(8 + value.count)
      guard rest.first == ":", let bytes = bytesFromBase64(String(value)), bytes.count == 4 else { return nil }
      found = Digest(.crc32c, bytes)
    }
    return found
  }
}
