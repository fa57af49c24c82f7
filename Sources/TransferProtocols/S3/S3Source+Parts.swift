import HTTPTypes
import TransferModel

/// Objects that were uploaded in parts.
extension S3Source {
  /// From the ETag of a multipart upload, `<digest>-<number of parts>`, which has at most 10,000.
  func partCount(of version: RemoteVersion) -> Int? {
    guard let etag = version.etag, etag.hasPrefix("\""), etag.hasSuffix("\"") else { return nil }
    let halves = etag.dropFirst().dropLast().split(separator: "-", omittingEmptySubsequences: false)
    guard halves.count == 2, halves[0].utf8.count >= 8, halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int(halves[1]), (2...10_000).contains(count)
    else { return nil }
    return count
  }

  /// `x-amz-checksum-sha256: <base64>-<number of parts>`. Source: "Checking object integrity", Amazon S3 User Guide.
  func composite(of version: RemoteVersion, in reply: TransferReply) -> Digest? {
    guard reply.field("x-amz-checksum-type") == "COMPOSITE", let count = partCount(of: version) else { return nil }
    for algorithm in [DigestAlgorithm.crc32c, .crc32, .sha256, .sha1] {
      let end = "-\(count)"
      guard let text = reply.field("x-amz-checksum-\(algorithm.rawValue)"), text.hasSuffix(end),
        let bytes = bytesFromBase64(String(text.dropLast(end.count))), bytes.count == algorithm.byteCount
      else { continue }
      return Digest(algorithm, bytes)
    }
    return nil
  }

  /// Source: "GetObjectAttributes", Amazon S3 API Reference. Its ETag has no quotes. Parts are listed for objects that
  /// were uploaded with checksums.
  func partList(_ reply: TransferReply) -> PartList? {
    guard reply.status == 200 || reply.status == 206, let root = reply.completeDocument, let etag = root.value("ETag"),
      let parts = root["ObjectParts"]?.all("Part"), !parts.isEmpty
    else { return nil }
    let bare = etag.hasPrefix("\"") ? etag : "\"\(etag)\""
    let list = parts.compactMap { part -> PartList.Part? in
      guard let number = part.value("PartNumber").flatMap({ Int($0) }),
        let length = part.value("Size").flatMap({ Int64($0) })
      else { return nil }
      return PartList.Part(number: number, length: length)
    }
    return list.count == parts.count ? PartList(etag: bare, parts: list) : nil
  }
}
