import TransferModel

func reprDigest(_ crc32c: UInt32) -> String { "crc32c=:\(base64(CRC32C.bigEndianBytes(crc32c))):" }

/// The crc32c in a digest field; nil when the field names only other algorithms; 400 when it is malformed.
func crc32c(inDigestField value: String) throws(ExchangeEnd) -> UInt32? {
  try digests(inField: value, of: [.crc32c])[.crc32c]?.reduce(0) { $0 << 8 | UInt32($1) }
}

/// The digests of these kinds in a digest field; 400 when one of them is malformed.
/// Source: RFC 9530 sections 2, 3 and 7, RFC 9651 sections 3.2 and 3.3.5.
func digests(
  inField value: String, of kinds: Set<RunningHash.Kind> = [.crc32c, .sha256, .sha512]
) throws(ExchangeEnd) -> [RunningHash.Kind: [UInt8]] {
  let known: [(name: String, kind: RunningHash.Kind, length: Int)] = [
    ("crc32c=", .crc32c, 4), ("sha-256=", .sha256, 32), ("sha-512=", .sha512, 64),
  ]
  var found: [RunningHash.Kind: [UInt8]] = [:]
  for member in value.split(separator: ",") {
    let text = member.drop { $0 == " " || $0 == "\t" }
    guard let (name, kind, length) = known.first(where: { text.hasPrefix($0.name) }), kinds.contains(kind) else {
      continue
    }
    let encoded = text.dropFirst(name.count)
    guard encoded.count >= 2, encoded.first == ":", let end = encoded.dropFirst().firstIndex(of: ":"),
      let bytes = bytesFromBase64(String(encoded[..<end].dropFirst())), bytes.count == length
    else { throw .refuse(400, "the \(name.dropLast()) of a digest field is malformed") }
    found[kind] = bytes
  }
  return found
}
