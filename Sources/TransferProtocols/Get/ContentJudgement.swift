import TransferModel

/// What is known of the content of a file of which every byte is stored, and what is to be compared yet.
struct ContentJudgement {
  private let version: RemoteVersion
  private let expected: ExpectedContent
  /// From the digests of the chunks; nil where they cannot be combined.
  private let found: Digest?
  private let size: Int64

  init(_ version: RemoteVersion, _ facts: TransferFacts) {
    (self.version, expected, size) = (version, facts.file.expected, facts.layout.size)
    found = facts.parts.combinedDigest
  }

  /// Cheap ones first: the file is read once for them, and one of the server's will do.
  private static let preference: [DigestAlgorithm] = [.crc32c, .crc64nvme, .crc32, .sha256, .md5, .sha1, .quickxor]

  /// What one of several servers says counts less than what ties them together.
  private var told: Digest? {
    if expected.isTied { return nil }
    for algorithm in Self.preference {
      if let digest = version.digests.first(where: { $0.algorithm == algorithm }) { return digest }
    }
    return nil
  }

  /// Digests for which the file has to be read.
  var unread: [Digest] { (expected.digests + [told].compactMap(\.self)).filter { $0.algorithm != found?.algorithm } }

  /// Why the file is not what its server or a person says; nil when nothing says so.
  var mismatch: Failure? {
    if let wanted = expected.size, wanted != size {
      return Failure(.integrityMismatch, "the file is to have \(wanted) bytes, and what came has \(size)")
    }
    guard let found else { return nil }
    if let wanted = expected[found.algorithm], wanted != found {
      return Failure(.integrityMismatch, "the file is to have \(wanted), and what came has \(found)")
    }
    guard let told, told.algorithm == found.algorithm, told != found else { return nil }
    return Failure(
      .integrityMismatch, "the server's digest of the file is \(told), but that of the received content is \(found)")
  }

  /// What the receipt says when ``unread`` agrees.
  var proof: FileProof {
    let digest = expected.strongestDigest ?? told
    let isSizeSure = !version.isEndUncertain || expected.size != nil
    return FileProof(
      confirmation: digest != nil || expected.pieces != nil ? .digest : isSizeSure ? .size : .none,
      digest: digest ?? found,
      remoteDigest: version.digests.first { $0.algorithm == digest?.algorithm }, etag: version.etag ?? "",
      versionID: version.versionID ?? "")
  }
}
