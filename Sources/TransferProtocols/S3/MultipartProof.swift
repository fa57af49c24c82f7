import TransferModel

/// What the receipts of all parts say about the whole object.
struct MultipartProof {
  /// The CRC64NVME of the whole, combined from the parts; nil when one has none.
  let checksum: Digest?
  /// The ETag in AWS form, `<md5 of the md5s>-<count>`, without quotes; nil when an MD5 is unknown.
  let etag: String?
  /// The weakest confirmation of a part.
  let weakest: Confirmation

  /// `parts` in order of `seq`.
  init(_ parts: [PartReceipt]) {
    checksum = Self.checksum(parts)
    let md5s = parts.compactMap(\.md5)
    etag =
      md5s.isEmpty || md5s.count != parts.count
      ? nil : hexText(RunningDigest.of(md5s.flatMap(\.bytes), .md5).bytes) + "-\(parts.count)"
    let order = Confirmation.allCases
    weakest = parts.map(\.confirmation).max { order.firstIndex(of: $0)! < order.firstIndex(of: $1)! } ?? .none
  }

  private static func checksum(_ parts: [PartReceipt]) -> Digest? {
    guard var whole = parts.first?.digest, whole.algorithm == .crc64nvme else { return nil }
    for part in parts.dropFirst() {
      guard let next = part.digest,
        let combined = RunningDigest.combine(whole, next, secondLength: part.length)
      else { return nil }
      whole = combined
    }
    return whole
  }
}
