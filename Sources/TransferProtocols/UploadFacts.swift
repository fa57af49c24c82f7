public import TransferModel

/// One file, as far as a protocol needs to know it.
public struct FileFacts: Sendable, Hashable {
  /// Unique and stable over retries: the token that tells our object from somebody else's.
  public var uid: UID
  public var key: NameBytes
  public var size: Int64
  /// Milliseconds since 1970 UTC.
  public var mtimeMs: Int64

  public init(uid: UID, key: NameBytes, size: Int64, mtimeMs: Int64) {
    self.uid = uid
    self.key = key
    self.size = size
    self.mtimeMs = mtimeMs
  }
}

/// Everything a protocol may base a step on. The engine builds it from rows and keeps it in step with verdicts.
public struct UploadFacts: Sendable {
  public var file: FileFacts
  public var layout: ChunkLayout
  /// The live session (`intended` or `open`), when there is one.
  public var session: SessionFacts?
  /// An earlier request of this kind, for this file, may have taken effect although its answer never came (lost answer or
  /// crash). Cleared by the engine after a verdict that settles it: see ``Verdict``.
  public var lostAnswer: AttemptOperation?
  /// The server has been asked (`probe`) since the file was claimed.
  public var isProbed = false
  /// Where the next page of a probe begins.
  public var probeMarker: String?
  /// Sessions at the server that are ours and unknown to the ledger; found by a probe, to be aborted.
  public var orphans: [String] = []
  /// `verify` found nothing of ours at the destination.
  public var isAbsent = false
  /// Every chunk is stored.
  public var isAllStored = false
  /// Receipts of all chunks in order; only filled while `isAllStored`.
  public var parts: [PartReceipt] = []
  /// How many missing parents were made; for WebDAV.
  public var parentsMade: Int?

  public init(file: FileFacts, layout: ChunkLayout) {
    self.file = file
    self.layout = layout
  }
}

public struct SessionFacts: Sendable, Hashable {
  /// nil while `intended`.
  public var remoteID: String?
  /// Milliseconds since 1970 UTC: written before the create call was sent.
  public var intendedAtMs: Int64

  public init(remoteID: String?, intendedAtMs: Int64) {
    self.remoteID = remoteID
    self.intendedAtMs = intendedAtMs
  }
}

/// One chunk that is to be sent.
public struct ChunkFacts: Sendable, Hashable {
  /// From 0.
  public var seq: Int
  public var range: ByteRange
  /// What ``UploadProtocol/digestsAhead(_:)`` asked for; when an answer is judged, also ``UploadProtocol/sentDigest`` of the
  /// bytes that went out.
  public var digests: [DigestAlgorithm: Digest]

  public init(seq: Int, range: ByteRange, digests: [DigestAlgorithm: Digest] = [:]) {
    self.seq = seq
    self.range = range
    self.digests = digests
  }
}

/// What the server acknowledged about one chunk.
public struct PartReceipt: Sendable, Hashable {
  public var seq: Int
  public var length: Int64
  /// As received, quotes included; empty when the server sent none.
  public var etag: String
  /// Of the bytes that were sent.
  public var digest: Digest?
  /// MD5 of the bytes that were sent, when it was computed; the ETag rule of S3 needs it beside the digest.
  public var md5: Digest?
  public var confirmation: Confirmation

  public init(
    seq: Int, length: Int64, etag: String, digest: Digest?, md5: Digest? = nil, confirmation: Confirmation
  ) {
    self.seq = seq
    self.length = length
    self.etag = etag
    self.digest = digest
    self.md5 = md5
    self.confirmation = confirmation
  }
}
