import HTTPTypes
import TransferModel

/// Digests of the whole file in an answer, from the fields of RFC 9530, RFC 3230, S3 and Google.
enum ToldDigests {
  /// One digest of each algorithm; `isWhole` if the body of the answer is the whole file.
  static func all(_ fields: HTTPFields, isWhole: Bool) -> [Digest] {
    var found = registered(fields, "repr-digest")
    if isWhole { found += registered(fields, "content-digest") + body(fields) + amazon(fields) }
    found += google(fields) + instance(fields)
    var seen: Set<DigestAlgorithm> = []
    return found.filter { seen.insert($0.algorithm).inserted }
  }

  private static func registered(_ fields: HTTPFields, _ name: String) -> [Digest] {
    let field = text(fields, name)
    let names: [(DigestAlgorithm, String)] = [
      (.crc32c, "crc32c"), (.sha256, "sha-256"), (.sha512, "sha-512"), (.md5, "md5"), (.sha1, "sha"),
    ]
    return names.compactMap { ReprDigest.value($0, $1, field) }
  }

  /// For a file that was uploaded in parts, S3 may have a digest of the digests of the parts, which it calls COMPOSITE;
  /// in an answer with a range that is exactly one part, it sends the digest of that part. Source: "Checking object
  /// integrity", Amazon S3 User Guide; boto/botocore issue 3346.
  private static func amazon(_ fields: HTTPFields) -> [Digest] {
    guard text(fields, "x-amz-checksum-type") == "FULL_OBJECT" else { return [] }
    return [DigestAlgorithm.crc32c, .crc64nvme, .crc32, .sha256, .sha1].compactMap { algorithm in
      digest(algorithm, text(fields, "x-amz-checksum-\(algorithm.rawValue)"))
    }
  }

  /// Digest of the stored content, which differs from the sent content if the server removes a coding.
  private static func google(_ fields: HTTPFields) -> [Digest] {
    guard text(fields, "x-goog-stored-content-encoding").map({ $0 == "identity" }) ?? true else { return [] }
    return members(text(fields, "x-goog-hash")).compactMap { name, value in
      switch name {
      case "crc32c": digest(.crc32c, value)
      case "md5": digest(.md5, value)
      default: nil
      }
    }
  }

  /// RFC 3230: digest of the whole file, even in an answer with a range.
  private static func instance(_ fields: HTTPFields) -> [Digest] {
    members(text(fields, "digest")).compactMap { name, value in
      switch name.lowercased() {
      case "sha-256": digest(.sha256, value)
      case "sha-512": digest(.sha512, value)
      case "md5": digest(.md5, value)
      default: nil
      }
    }
  }

  /// RFC 1864: digest of the body, whether or not that is the whole file.
  private static func body(_ fields: HTTPFields) -> [Digest] {
    digest(.md5, text(fields, "content-md5")).map { [$0] } ?? []
  }

  private static func members(_ field: String?) -> [(String, String)] {
    (field ?? "").split(separator: ",").compactMap { member in
      let parts = member.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      return parts.count == 2 ? (String(parts[0]), String(parts[1].prefix { $0 != " " })) : nil
    }
  }

  private static func digest(_ algorithm: DigestAlgorithm, _ value: String?) -> Digest? {
    guard let bytes = value.flatMap(bytesFromBase64), bytes.count == algorithm.byteCount else { return nil }
    return Digest(algorithm, bytes)
  }

  private static func text(_ fields: HTTPFields, _ name: String) -> String? {
    HTTPField.Name(name).flatMap { fields[$0] }
  }
}
