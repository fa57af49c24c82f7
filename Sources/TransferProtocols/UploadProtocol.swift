public import TransferModel

/// A protocol for uploads: pure. It is asked for the next step of a file, builds the requests, and says what an answer
/// means. It never sleeps, retries, logs, stores or opens anything; all state is in the facts that it is given.
///
/// The engine's side of the contract: it opens an attempt row before it sends a request; it hands every reply to
/// ``judge(_:to:_:)`` exactly once; it applies the verdict to the facts, asks for the next
/// step, and commits the verdict and the beginning of that step together; nothing is sent before that commit is durable.
public protocol UploadProtocol: Sendable {
  /// `s3`, `put`, … : stored with each batch.
  var name: String { get }
  var abilities: ProtocolAbilities { get }

  /// Says how a file of `size` bytes is cut. Throws `.usage` when the limits of the protocol cannot hold it.
  func layout(size: Int64) throws(TransferError) -> ChunkLayout

  /// Says that `key` can be expressed at the server; nil when it can, else why not.
  func refusal(ofKey key: NameBytes) -> Failure?

  /// What people see as the place of `key` at the destination; without secrets.
  func location(ofKey key: NameBytes) -> String

  func nextStep(_ facts: UploadFacts) -> UploadStep

  /// The algorithm of the digest that the engine computes over the bytes as they are sent, in the same read; the chunk
  /// that is given to ``judge(_:to:_:_:)`` carries it.
  var sentDigest: DigestAlgorithm { get }

  /// Digests that must be known before the body of a chunk is sent; computed by the engine from the same bytes. This one
  /// is enough for a chunk of any file.
  func digestsAhead(_ learned: LearnedFacts) -> Set<DigestAlgorithm>

  /// The same for a chunk of a file with this layout: fewer, where whole files and parts are confirmed differently.
  func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm>

  /// Builds one request. `chunk` is present for ``StepRequest/chunk(_:)`` only; its body is added by the engine.
  func request(_ step: StepRequest, _ facts: UploadFacts, _ context: RequestContext) throws(Failure) -> TransferRequest

  /// Says what an answer means.
  func judge(_ reply: TransferReply, to step: StepRequest, _ facts: UploadFacts, _ context: RequestContext) -> Verdict
}

extension UploadProtocol {
  public func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    digestsAhead(learned)
  }
}

/// What a protocol can do; printed for people and used by the engine instead of asking for names.
public struct ProtocolAbilities: Sendable, Hashable, Codable {
  /// Several chunks of one file at a time.
  public var parallelChunks: Bool
  /// The server keeps what it acknowledged, and can be asked.
  public var resumable: Bool
  /// Sending the same body again is harmless. When false, a lost answer makes the file `unknown`.
  public var repeatable: Bool

  public init(parallelChunks: Bool, resumable: Bool, repeatable: Bool) {
    self.parallelChunks = parallelChunks
    self.resumable = resumable
    self.repeatable = repeatable
  }
}

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

/// What is done next for a file.
public enum UploadStep: Sendable, Hashable {
  /// Send this one request, alone.
  case control(StepRequest)
  /// Every chunk that is pending may be sent; when ``SessionFacts`` is needed it is there.
  case chunks
  /// The server has everything and said so.
  case complete(FileProof)
  case fail(Failure)
}

/// A request of a protocol, by purpose.
public enum StepRequest: Sendable, Hashable {
  /// Opens a session; its `intended` row is durable before this is sent.
  case create
  /// Asks the server what it has; from a marker for the next page.
  case probe(marker: String?)
  case chunk(ChunkFacts)
  case finish
  /// Asks whether the finished object is there and ours.
  case verify
  /// Ends a session at the server, by its id there.
  case abort(remoteID: String)
  /// Makes the collection with the first `depth` components of the key's path (WebDAV MKCOL).
  case makeParent(depth: Int)

  public var operation: AttemptOperation {
    switch self {
    case .create, .makeParent: .create
    case .probe: .probe
    case .chunk: .part
    case .finish: .finish
    case .verify: .verify
    case .abort: .abort
    }
  }
}

/// What a request may be built from besides the facts.
public struct RequestContext: Sendable {
  /// Milliseconds since 1970 UTC, by our clock.
  public var wallMs: Int64
  public var credential: Credential?
  public var learned: LearnedFacts

  public init(wallMs: Int64, credential: Credential?, learned: LearnedFacts) {
    self.wallMs = wallMs
    self.credential = credential
    self.learned = learned
  }
}

/// A secret in use. Never stored, logged or printed: `description` hides it.
public enum Credential: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  case aws(accessKey: String, secretKey: String, sessionToken: String?)
  case basic(user: String, password: String)
  case bearer(token: String)

  public var description: String {
    switch self {
    case .aws: "aws credential (hidden)"
    case .basic: "basic credential (hidden)"
    case .bearer: "bearer credential (hidden)"
    }
  }
  public var debugDescription: String { description }
}

/// What answers taught about a destination; kept by the engine for all files of a batch while it runs.
public struct LearnedFacts: Sendable, Hashable {
  /// The bucket's real region.
  public var region: String?
  /// Server clock minus ours, in milliseconds.
  public var clockSkewMs: Int64 = 0
  /// For requests that send a whole object.
  public var checksums: ChecksumSupport = .untried
  /// For parts of an upload session: there are servers that confirm the one and not the other.
  public var partChecksums: ChecksumSupport = .untried

  public enum ChecksumSupport: String, Sendable, Codable {
    /// Not known yet: send ours and compute what both outcomes need.
    case untried
    /// The server answers with our checksum: it checked it.
    case confirmed
    /// Accepted without a word: nothing was checked.
    case ignored
    /// Refused: send none.
    case refused
  }

  public init() {}
}

/// What an answer means, and therefore what is written. In each case the engine closes the attempt, changes the rows
/// in one transaction, then updates the facts as told here.
public enum Verdict: Sendable {
  /// `create` succeeded: session row → `open`. Clears `lostAnswer`.
  case sessionOpened(remoteID: String, expiresAtMs: Int64?)
  /// A page of what the server stored. Chunks that the ledger calls done and the complete listing lacks are pending again.
  /// With `next == nil` the probe is complete: `isProbed`, and `lostAnswer` is cleared unless it is `finish`.
  case partsListed([ListedPart], next: String?)
  /// A page of sessions at the server that can only be lost creates of ours. Complete with `next == nil`: as above.
  case orphansListed([String], next: String?)
  /// The chunk is stored. `proof` is present when that was the whole upload (protocols without a finish step).
  case stored(PartReceipt, proof: FileProof?)
  /// The finish step, or a `verify` after a lost answer, showed that the object is there.
  case finished(FileProof)
  /// `verify`: nothing of ours is there. Sets `isAbsent`, clears `lostAnswer`.
  case absent
  /// `abort` or `makeParent` did its work (404 counts for abort).
  case settled
  case failed(Failure, Remedy)
  /// Applied to the destination's ``LearnedFacts`` beside any verdict that carries it.
  indirect case learned(LearnedFacts, Verdict)
}

public struct ListedPart: Sendable, Hashable {
  public var seq: Int
  public var length: Int64
  public var etag: String

  public init(seq: Int, length: Int64, etag: String) {
    self.seq = seq
    self.length = length
    self.etag = etag
  }
}

/// What can be done about a failure.
public enum Remedy: Sendable, Hashable {
  /// The same step again after backoff. The engine sets `lostAnswer` when the request may have arrived.
  case retry(isThrottled: Bool)
  /// The same step again at once, because the facts changed (region, clock, checksum support); at most 3 times in a row.
  case repair
  /// Missing parent: the next step will make it (WebDAV).
  case makeParents
  /// Credentials expired: read them again, once, then the same step.
  case refreshCredential
  /// The server forgot the session: session row → `gone`, chunks → pending, start with a new one (verify first when a
  /// finish may have been done).
  case sessionGone
  /// Ask the server first, then go on; counts as an attempt.
  case probe
  /// For this file, final.
  case permanent
  /// The answer was lost, repeating may double, and nobody can be asked: file → `unknown`.
  case unknown
}

/// The proof for a done file; becomes the receipt row.
public struct FileProof: Sendable, Hashable {
  public var confirmation: Confirmation
  /// Of the whole file, computed by us from the bytes sent; nil when the algorithm cannot be combined over chunks.
  public var digest: Digest?
  /// As the server reported it, same algorithm; nil when it did not.
  public var remoteDigest: Digest?
  public var etag: String
  public var versionID: String
  public var requestID: String
  /// The `Date` of the confirming answer, as received.
  public var serverDate: String

  public init(
    confirmation: Confirmation, digest: Digest? = nil, remoteDigest: Digest? = nil, etag: String = "",
    versionID: String = "", requestID: String = "", serverDate: String = ""
  ) {
    self.confirmation = confirmation
    self.digest = digest
    self.remoteDigest = remoteDigest
    self.etag = etag
    self.versionID = versionID
    self.requestID = requestID
    self.serverDate = serverDate
  }
}
