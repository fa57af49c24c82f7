/// One chunk to be sent.
package struct ChunkFacts: Sendable, Hashable {
  /// From 0.
  package var seq: Int
  package var range: ByteRange
  /// How many bytes from its start the server is known to have; less than the length of the range.
  package var acked: Int64
  /// Earlier values from the server for this chunk: the URL of a partial upload, values of a profile.
  package var remote: [String: String]
  /// An earlier request for it may have taken effect although its answer was lost, and the server was not queried
  /// since.
  package var isUncertain: Bool
  /// Consecutive earlier attempts without progress.
  package var failures: Int
  /// How often the server lost acknowledged bytes of it: sending the same bytes again does not count as progress.
  package var losses: Int
  /// Digests of the body that the protocol needs before sending it; when an answer is interpreted, also the digest of
  /// the chunk from its start to the last sent byte.
  package var digests: [DigestAlgorithm: Digest]
  /// The engine's limit of the body length, if the protocol can send a chunk in pieces; nil for no limit.
  package var mostBody: Int64?
  /// The same limit for a body that the server stores completely or not at all, so that all of it is lost with its
  /// connection.
  package var mostAtOnce: Int64?
  /// The body of the request: the piece chosen by the protocol. Until the engine has asked, the rest of the chunk.
  package var body: ByteRange

  package init(
    seq: Int, range: ByteRange, acked: Int64 = 0, remote: [String: String] = [:], isUncertain: Bool = false,
    failures: Int = 0, losses: Int = 0, digests: [DigestAlgorithm: Digest] = [:]
  ) {
    self.seq = seq
    self.range = range
    self.acked = acked
    self.remote = remote
    self.isUncertain = isUncertain
    self.failures = failures
    self.losses = losses
    self.digests = digests
    body = ByteRange(offset: range.offset + acked, length: range.length - acked)
  }

  /// The part that the server does not have.
  package var rest: ByteRange { ByteRange(offset: range.offset + acked, length: range.length - acked) }
}

/// A chunk whose answer was lost after its body was sent completely.
package struct ChunkDoubt: Sendable, Hashable {
  package var seq: Int
  package var length: Int64
  /// The values that the protocol stored with it.
  package var remote: [String: String]
  /// It failed before, and is backing off or being retried.
  package var isBackingOff: Bool

  package init(seq: Int, length: Int64, remote: [String: String], isBackingOff: Bool) {
    self.seq = seq
    self.length = length
    self.remote = remote
    self.isBackingOff = isBackingOff
  }
}
