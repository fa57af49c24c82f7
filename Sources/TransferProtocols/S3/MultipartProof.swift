import TransferModel

/// The proof about the whole object from the receipts of all parts.
struct MultipartProof {
  /// The CRC64NVME of the whole object, combined from the parts; nil if a part has none.
  let checksum: Digest?
  /// The ETag in AWS form, `<md5 of the md5s>-<count>`, without quotes; nil if an MD5 is unknown.
  let etag: String?
  /// The weakest confirmation of a part.
  let weakest: Confirmation

  /// `parts` in order of `seq`.
  init(_ parts: [PartReceipt]) {
    checksum = parts.first?.digest?.algorithm == .crc64nvme ? parts.combinedDigest : nil
    let md5s = parts.compactMap(\.md5)
    etag =
      md5s.isEmpty || md5s.count != parts.count
      ? nil : hexText(RunningDigest.of(md5s.flatMap(\.bytes), .md5).bytes) + "-\(parts.count)"
    weakest = parts.weakestConfirmation
  }
}
