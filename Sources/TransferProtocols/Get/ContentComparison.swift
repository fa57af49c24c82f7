import TransferModel

/// What is known about the content of a completely stored file, and what must still be compared.
struct ContentComparison {
  private let version: RemoteVersion
  private let expected: ExpectedContent
  /// The digest combined from those of the chunks; nil if they cannot be combined.
  private let found: Digest?
  private let size: Int64
  /// The digest in the file of checksums by which blocks of an older file were recognised. The content has it; but
  /// which version of the file it describes is only a claim of that file, so it proves no more than the size.
  private let published: Digest?
  /// The digest of the digests of its parts, if all of them are known.
  private let composite: PartedDigest?

  init(_ version: RemoteVersion, _ facts: TransferFacts) {
    composite = CompositeNotes(facts.session)?.parted
    (self.version, expected, size) = (version, facts.file.expected, facts.layout.size)
    found = facts.parts.combinedDigest
    published = BlockNotes.digest(facts.session)
  }

  /// Cheap algorithms first: the file is read once for all digests, and one of those from the server suffices.
  private static let preference: [DigestAlgorithm] = [
    .crc32c, .crc64nvme, .crc32, .sha256, .sha512, .md5, .sha1, .quickxor,
  ]

  /// The digest from the server. With several servers it counts less than the digests that tie them together, so it is
  /// nil then.
  private var told: Digest? {
    if expected.isTied { return nil }
    for algorithm in Self.preference {
      if let digest = version.digests.first(where: { $0.algorithm == algorithm }) { return digest }
    }
    return nil
  }

  /// The digest of the digests of its parts, if nobody has a digest of the whole.
  var parted: PartedDigest? {
    version.digests.isEmpty && expected.digests.isEmpty && published == nil ? composite : nil
  }

  /// Digests for which the file must be read.
  var unread: [Digest] {
    let known = expected.digests + [told, expected[.sha1] == nil ? published : nil].compactMap(\.self)
    return known.filter { $0.algorithm != found?.algorithm }
  }

  /// The difference between the file and what its server or a person specified; nil if there is none.
  var mismatch: Failure? {
    if let wanted = expected.size, wanted != size {
      return Failure(.integrityMismatch, "the file must have \(wanted) bytes, but the received content has \(size)")
    }
    guard let found else { return nil }
    if let wanted = expected[found.algorithm], wanted != found {
      return Failure(.integrityMismatch, "the file must have \(wanted), but the received content has \(found)")
    }
    guard let told, told.algorithm == found.algorithm, told != found else { return nil }
    return Failure(
      .integrityMismatch, "the server's digest of the file is \(told), but that of the received content is \(found)")
  }

  /// The proof for the receipt if ``unread`` matches.
  var proof: FileProof {
    let digest = expected.strongestDigest ?? published ?? told
    let isSizeSure = !version.isEndUncertain || expected.size != nil
    let isTold = !expected.digests.isEmpty || told != nil
    return FileProof(
      confirmation: isTold || expected.pieces != nil || parted != nil ? .digest : isSizeSure ? .size : .none,
      digest: digest ?? found,
      remoteDigest: version.digests.first { $0.algorithm == digest?.algorithm }, etag: version.etag ?? "",
      versionID: version.versionID ?? "")
  }
}
