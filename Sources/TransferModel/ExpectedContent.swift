/// The expected content of a remote file, from a manifest, a listing or a person. The received content must agree with
/// it.
public struct ExpectedContent: Sendable, Hashable {
  /// Bytes; nil if unknown.
  public var size: Int64?
  /// Of the whole file, at most one of each algorithm.
  public var digests: [Digest]
  /// It is from a listing by the server. The file may have changed since; another version is accepted too.
  public var isListed = false
  /// Digests of its pieces, which cover all of it; nil if unknown.
  public var pieces: PieceDigests?
  /// Other URLs of the same file, in order of preference. The file's own URL has precedence over all of them.
  public var mirrors: [String] = []

  public init(size: Int64? = nil, digests: [Digest] = []) { (self.size, self.digests) = (size, digests) }

  package init(listed size: Int64?) {
    self.init(size: size)
    isListed = size != nil
  }

  /// The expectation of the next generation, if the remote file has changed.
  package var ofNextVersion: ExpectedContent { isListed ? ExpectedContent() : self }

  public var isEmpty: Bool { !saysContent && mirrors.isEmpty }

  /// True if anything is known about the content.
  package var saysContent: Bool { size != nil || !digests.isEmpty || pieces != nil }

  /// The same expectation for a download from one place only.
  package var ofOnePlace: ExpectedContent {
    var expected = self
    (expected.mirrors, expected.pieces) = ([], nil)
    return expected
  }

  /// True if a digest will show whether all bytes are of one version, regardless of the places that they came from.
  package var isTied: Bool {
    pieces != nil || !mirrors.isEmpty && digests.contains { $0.algorithm.isCryptographic }
  }

  /// The digest that is hardest to forge; nil if there is none.
  public var strongestDigest: Digest? {
    let order: [DigestAlgorithm] = [.sha512, .sha256, .sha1, .md5, .crc64nvme, .crc32c, .crc32, .quickxor]
    return order.lazy.compactMap { self[$0] }.first
  }

  public subscript(algorithm: DigestAlgorithm) -> Digest? { digests.first { $0.algorithm == algorithm } }
}

/// The stored form: `{"digests":["sha256:…"],"size":123}`; for a listing `{"listed":true,"size":123}`.
extension ExpectedContent: Codable {
  private enum Key: String, CodingKey { case size, digests, listed, pieces, mirrors }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    size = try values.decodeIfPresent(Int64.self, forKey: .size)
    let texts = try values.decodeIfPresent([String].self, forKey: .digests) ?? []
    isListed = try values.decodeIfPresent(Bool.self, forKey: .listed) ?? false
    mirrors = try values.decodeIfPresent([String].self, forKey: .mirrors) ?? []
    pieces = try values.decodeIfPresent(PieceDigests.self, forKey: .pieces)
    // Digests of unknown algorithms (from a newer version) are ignored.
    digests = texts.compactMap(Digest.init(text:))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encodeIfPresent(size, forKey: .size)
    if isListed { try values.encode(true, forKey: .listed) }
    try values.encodeIfPresent(pieces, forKey: .pieces)
    if !mirrors.isEmpty { try values.encode(mirrors, forKey: .mirrors) }
    if !digests.isEmpty { try values.encode(digests.map(\.description), forKey: .digests) }
  }
}

extension DigestAlgorithm {
  /// Not a checksum, which only detects accidental transmission errors.
  fileprivate var isCryptographic: Bool { [.sha512, .sha256, .sha1, .md5].contains(self) }
}
