import TransferModel

/// What the ETags and checksums of S3 say of the content.
enum S3Tag {
  /// Without quotes and the prefix of a weak validator.
  static func bare(_ etag: String) -> String {
    String((etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]).filter { $0 != "\"" })
  }

  static func matches(_ etag: String, _ md5: Digest) -> Bool { bare(etag).lowercased() == hexText(md5.bytes) }

  /// The CRC64NVME in a field or element; nil for anything else, for example the composite of another algorithm.
  static func checksum(_ text: String?) -> Digest? {
    guard let bytes = text.flatMap(bytesFromBase64), bytes.count == DigestAlgorithm.crc64nvme.byteCount else {
      return nil
    }
    return Digest(.crc64nvme, bytes)
  }
}
