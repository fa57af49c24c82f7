/// One chunk that is to be sent.
public struct ChunkFacts: Sendable, Hashable {
  /// From 0.
  public var seq: Int
  public var range: ByteRange
  /// How many bytes from its start the server is known to hold; less than the length of the range.
  public var acked: Int64
  /// What the server said about this chunk before: the URL of a partial upload, values of a profile.
  public var remote: [String: String]
  /// An earlier request for it may have taken effect although its answer never came, and nobody was asked since.
  public var isUncertain: Bool
  /// Attempts before this one that moved nothing.
  public var failures: Int
  /// How often the server lost what it had acknowledged of it: sending the same bytes again does not count as
  /// progress.
  public var losses: Int
  /// What the protocol wants to be known ahead of the body, over that body; when an answer is judged, also the digest
  /// of the chunk from its start to the last byte that went out.
  public var digests: [DigestAlgorithm: Digest]
  /// The engine wants no longer body, where the protocol can send a chunk in pieces; nil for no limit.
  public var mostBody: Int64?
  /// The same for a body that the server stores whole or not at all, so that all of it is lost with its connection.
  public var mostAtOnce: Int64?
  /// What the request carries: the piece that the protocol chose. The rest of the chunk until the engine has asked.
  public var body: ByteRange

  public init(
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

  /// What the server lacks of it.
  public var rest: ByteRange { ByteRange(offset: range.offset + acked, length: range.length - acked) }
}

/// A chunk whose answer was lost after all of its body went out.
public struct ChunkDoubt: Sendable, Hashable {
  public var seq: Int
  public var length: Int64
  /// What the protocol remembered with it.
  public var remote: [String: String]
  /// It failed before, and waits or is tried again.
  public var isBackingOff: Bool

  public init(seq: Int, length: Int64, remote: [String: String], isBackingOff: Bool) {
    self.seq = seq
    self.length = length
    self.remote = remote
    self.isBackingOff = isBackingOff
  }
}
