/// The earlier download that wrote the existing file at a path, used when the path is fetched again from the same URL.
package struct PastDownload: Sendable, Hashable {
  package var id: FileID
  /// Identity of the local file after it was renamed; its times are 0 if they were not recorded.
  package var identity: SourceIdentity
  /// The version that was fetched, as its protocol describes it.
  package var session: SessionFacts
  package var layout: ChunkLayout
  package var proof: FileProof
  /// The expected content, which it had.
  package var expected: ExpectedContent
  /// The newest `verify` of the local file found that it has changed or is missing.
  package var isSuspect: Bool

  package init(
    id: FileID, identity: SourceIdentity, session: SessionFacts, layout: ChunkLayout, proof: FileProof,
    expected: ExpectedContent = ExpectedContent(), isSuspect: Bool = false
  ) {
    (self.id, self.identity, self.session, self.layout) = (id, identity, session, layout)
    (self.proof, self.expected, self.isSuspect) = (proof, expected, isSuspect)
  }

  /// Verified digests of the whole file.
  package var digests: [Digest] { expected.digests + [proof.digest, proof.remoteDigest].compactMap(\.self) }

  /// Whether its content meets the current expectation.
  package func meets(_ wanted: ExpectedContent) -> Bool {
    wanted.size ?? layout.size == layout.size && wanted.digests.allSatisfy(digests.contains)
  }
}

/// A chunk of a file that is fetched again, with the digest that the earlier download recorded of the same bytes.
package struct PastChunk: Sendable, Hashable {
  /// From 0.
  package var seq: Int
  package var range: ByteRange
  package var digest: Digest

  package init(seq: Int, range: ByteRange, digest: Digest) {
    (self.seq, self.range, self.digest) = (seq, range, digest)
  }
}

/// A chunk of a download that is not completely stored.
package struct IncompleteChunk: Sendable, Hashable {
  /// From 0.
  package var seq: Int
  package var range: ByteRange
  /// How many bytes from its start are stored.
  package var acked: Int64

  package init(seq: Int, range: ByteRange, acked: Int64) { (self.seq, self.range, self.acked) = (seq, range, acked) }

  /// The part that is not stored.
  package var rest: ByteRange { ByteRange(offset: range.offset + acked, length: range.length - acked) }
}
