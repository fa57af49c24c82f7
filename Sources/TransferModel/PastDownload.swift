/// The earlier download that wrote the existing file at a path, used when the path is fetched again from the same URL.
public struct PastDownload: Sendable, Hashable {
  public var id: FileID
  /// Identity of the local file after it was renamed; its times are 0 if they were not recorded.
  public var identity: SourceIdentity
  /// The version that was fetched, as its protocol describes it.
  public var session: SessionFacts
  public var layout: ChunkLayout
  public var proof: FileProof
  /// The expected content, which it had.
  public var expected: ExpectedContent
  /// The newest `verify` of the local file found that it has changed or is missing.
  public var isSuspect: Bool

  public init(
    id: FileID, identity: SourceIdentity, session: SessionFacts, layout: ChunkLayout, proof: FileProof,
    expected: ExpectedContent = ExpectedContent(), isSuspect: Bool = false
  ) {
    (self.id, self.identity, self.session, self.layout) = (id, identity, session, layout)
    (self.proof, self.expected, self.isSuspect) = (proof, expected, isSuspect)
  }

  /// Verified digests of the whole file.
  public var digests: [Digest] { expected.digests + [proof.digest, proof.remoteDigest].compactMap(\.self) }

  /// Whether its content meets the current expectation.
  public func meets(_ wanted: ExpectedContent) -> Bool {
    wanted.size ?? layout.size == layout.size && wanted.digests.allSatisfy(digests.contains)
  }
}

/// A chunk of a file that is fetched again, with the digest that the earlier download recorded of the same bytes.
public struct PastChunk: Sendable, Hashable {
  /// From 0.
  public var seq: Int
  public var range: ByteRange
  public var digest: Digest

  public init(seq: Int, range: ByteRange, digest: Digest) { (self.seq, self.range, self.digest) = (seq, range, digest) }
}

/// A chunk of a download that is not completely stored.
public struct IncompleteChunk: Sendable, Hashable {
  /// From 0.
  public var seq: Int
  public var range: ByteRange
  /// How many bytes from its start are stored.
  public var acked: Int64

  public init(seq: Int, range: ByteRange, acked: Int64) { (self.seq, self.range, self.acked) = (seq, range, acked) }

  /// The part that is not stored.
  public var rest: ByteRange { ByteRange(offset: range.offset + acked, length: range.length - acked) }
}
