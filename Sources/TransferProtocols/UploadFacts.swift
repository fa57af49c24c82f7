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

/// Everything a protocol may base a step on. The engine builds it from rows; answers change it by ``UploadFacts/apply(_:to:_:)``.
public struct UploadFacts: Sendable {
  public var file: FileFacts
  public var layout: ChunkLayout
  /// The live session (`intended` or `open`), when there is one.
  public var session: SessionFacts?
  /// An earlier request of this kind, for this file, may have taken effect although its answer never came (lost answer or
  /// crash). Cleared by an answer that settles it.
  public var lostAnswer: AttemptOperation?
  /// The session is older than this claim of the file: what the server holds may have changed since.
  public var isResumed = false
  /// The server has been asked (`probe`) since the file was claimed.
  public var isProbed = false
  /// Where the next page of a probe begins.
  public var probeMarker: String?
  /// Sessions at the server that are ours and unknown to the ledger; found by a probe, to be aborted.
  public var orphans: [String] = []
  /// `verify` found nothing of ours at the destination.
  public var isAbsent = false
  /// Questions that the server would not answer since the file was claimed (``Interpretation/Outcome/untold``).
  public var untold: Set<AttemptOperation> = []
  /// Chunks that are not stored as far as is known, and of which something is remembered; only filled for a `probe`.
  public var doubts: [ChunkDoubt] = []
  /// What a listing of this session showed with the length of a chunk, by number; of chunks that are to be sent, it may be their
  /// content.
  public var listed: [Int: ListedPart] = [:]
  /// How far the pages of a probe have come: the first chunk that was not listed yet.
  var listedThrough = 0
  /// Chunks that the server acknowledged as a whole.
  public var storedChunks = 0
  /// Bytes of the file that the server acknowledged, as far as is known.
  public var acked: Int64 = 0
  /// The server lost something of this file that it had acknowledged.
  public var hasLosses = false
  /// The file has a layout in the ledger; until then ``layout`` is a guess of protocols that plan late.
  public var isPlanned = false
  /// Receipts of all chunks in order while `isAllStored`; of all others while the last chunk is sent by a protocol that
  /// ``ProtocolAbilities/needsParts``.
  public var parts: [PartReceipt] = []
  /// How many missing parents were made; for WebDAV.
  public var parentsMade: Int?
  /// What answers taught about the destination so far.
  public var learned = LearnedFacts()
  /// Milliseconds since 1970 UTC, when the next step is asked for; for what expires.
  public var wallMs: Int64 = 0

  public init(file: FileFacts, layout: ChunkLayout) {
    self.file = file
    self.layout = layout
  }

  /// Every chunk is stored.
  public var isAllStored: Bool { storedChunks == layout.count }
}

public struct SessionFacts: Sendable, Hashable {
  /// nil while `intended`.
  public var remoteID: String?
  /// Milliseconds since 1970 UTC: written before the create call was sent.
  public var intendedAtMs: Int64
  /// Milliseconds since 1970 UTC; nil when the server named none.
  public var expiresAtMs: Int64?
  /// What the protocol wanted to remember about this session (``Interpretation/notes``): tokens, how far the last steps are.
  public var notes: [String: String]
  /// A request brought bytes to it before the file was claimed, or may have.
  public var mayHoldBytes = false

  public init(remoteID: String?, intendedAtMs: Int64, expiresAtMs: Int64? = nil, notes: [String: String] = [:]) {
    self.remoteID = remoteID
    self.intendedAtMs = intendedAtMs
    self.expiresAtMs = expiresAtMs
    self.notes = notes
  }
}

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
  /// How often the server lost what it had acknowledged of it: what is only sent again is no progress.
  public var losses: Int
  /// What ``DigestsAhead/digestsAhead(_:_:)`` asked for, over the body of the request; when an answer is judged, also
  /// ``UploadProtocol/sentDigest`` of the chunk from its start to the last byte that went out.
  public var digests: [DigestAlgorithm: Digest]
  /// The engine wants no longer body, where the protocol can send a chunk in pieces; nil for no limit.
  public var mostBody: Int64?
  /// The same for a body that the server stores whole or not at all, so that all of it is lost with its connection.
  public var mostAtOnce: Int64?
  /// What the request carries: ``PartialBodies/bodyRange(of:_:)``. The rest of the chunk until the engine has asked.
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

/// A chunk whose answer was lost after all of its body went out (``Interpretation/doubt``).
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
  /// What the protocol keeps about it for the last steps; empty for most.
  public var remote: [String: String]

  public init(
    seq: Int, length: Int64, etag: String, digest: Digest?, md5: Digest? = nil, confirmation: Confirmation,
    remote: [String: String] = [:]
  ) {
    self.remote = remote
    self.seq = seq
    self.length = length
    self.etag = etag
    self.digest = digest
    self.md5 = md5
    self.confirmation = confirmation
  }
}

extension UploadFacts {
  /// URLs under which a server knows this upload, wherever they are kept: whoever has one may write to it or end it, so they
  /// work as secrets. Ids that need our signature or credential (of S3, of Dropbox) are none.
  public func capabilities(_ chunk: ChunkFacts?) -> [String] {
    let kept = [session?.remoteID].compactMap { $0 } + Array((session?.notes ?? [:]).values)
    let ofChunks = parts.flatMap(\.remote.values) + Array((chunk?.remote ?? [:]).values)
    return Self.capabilities(among: kept + ofChunks)
  }

  /// The URLs among what is kept with an upload.
  fileprivate static func capabilities(among kept: [String]) -> [String] {
    let texts = kept.map { $0.hasPrefix("\"") ? String($0.dropFirst().prefix { $0 != "\"" }) : $0 }
    return texts.filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
  }
}

extension Interpretation {
  /// URLs under which the server knows the upload, as far as the answer was the first to name them: see
  /// ``UploadFacts/capabilities(_:)``.
  public var capabilities: [String] {
    let named = [opened?.remoteID].compactMap { $0 } + Array(notes.values) + Array((doubt ?? [:]).values)
    return UploadFacts.capabilities(among: named + namedByOutcome)
  }

  private var namedByOutcome: [String] {
    switch outcome {
    case .chunkPrepared(let remote): Array(remote.values)
    case .stored(let receipt, _): Array(receipt.remote.values)
    case .orphansListed(let ids, _): ids
    case .settled, .partsListed, .advanced, .chunkProbed, .offset, .finished, .absent, .untold, .notYet, .failed: []
    }
  }
}
