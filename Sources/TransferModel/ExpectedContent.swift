/// What a manifest, a listing or a person said of the content of a remote file before it was asked for. What comes has
/// to agree with it.
public struct ExpectedContent: Sendable, Hashable {
  /// Bytes; nil when nobody said it.
  public var size: Int64?
  /// Of the whole file, at most one of each algorithm.
  public var digests: [Digest]
  /// A listing of the server said it. The file may have another version since, which is as good.
  public var isListed = false
  /// Digests of its pieces, which together are all of it; nil when nobody said them.
  public var pieces: PieceDigests?
  /// Other URLs of the same file, the preferred one first. The file is called by its own URL, which goes before all.
  public var mirrors: [String] = []

  public init(size: Int64? = nil, digests: [Digest] = []) { (self.size, self.digests) = (size, digests) }

  public init(listed size: Int64?) {
    self.init(size: size)
    isListed = size != nil
  }

  /// Of the next generation, when the remote file has changed.
  public var ofNextVersion: ExpectedContent { isListed ? ExpectedContent() : self }

  public var isEmpty: Bool { !saysContent && mirrors.isEmpty }

  /// Something is known of the content.
  public var saysContent: Bool { size != nil || !digests.isEmpty || pieces != nil }

  /// The same for who asks one place, from the beginning to the end.
  public var ofOnePlace: ExpectedContent {
    var expected = self
    (expected.mirrors, expected.pieces) = ([], nil)
    return expected
  }

  /// In the end a digest shows whether all bytes are of one version, wherever they came from.
  public var isTied: Bool {
    pieces != nil || !mirrors.isEmpty && digests.contains { $0.algorithm.isCryptographic }
  }

  /// The one that is hardest to forge; nil when there is none.
  public var strongestDigest: Digest? {
    let order: [DigestAlgorithm] = [.sha512, .sha256, .sha1, .md5, .crc64nvme, .crc32c, .crc32, .quickxor]
    return order.lazy.compactMap { self[$0] }.first
  }

  public subscript(algorithm: DigestAlgorithm) -> Digest? { digests.first { $0.algorithm == algorithm } }
}

/// As it is stored: `{"digests":["sha256:…"],"size":123}`; of a listing `{"listed":true,"size":123}`.
extension ExpectedContent: Codable {
  private enum Key: String, CodingKey { case size, digests, listed, pieces, mirrors }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    size = try values.decodeIfPresent(Int64.self, forKey: .size)
    let texts = try values.decodeIfPresent([String].self, forKey: .digests) ?? []
    isListed = try values.decodeIfPresent(Bool.self, forKey: .listed) ?? false
    mirrors = try values.decodeIfPresent([String].self, forKey: .mirrors) ?? []
    pieces = try values.decodeIfPresent(PieceDigests.self, forKey: .pieces)
    // Of an algorithm that only a newer version knows nothing can be compared.
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
  /// Not a checksum, which only finds accidents of a line.
  fileprivate var isCryptographic: Bool { [.sha512, .sha256, .sha1, .md5].contains(self) }
}
