public import TransferModel

/// One file, as far as a protocol needs to know it.
public struct FileFacts: Sendable, Hashable {
  /// Unique and stable over retries: the token that tells our object from somebody else's.
  public var uid: UID
  public var key: NameBytes
  public var size: Int64
  /// Milliseconds since 1970 UTC.
  public var mtimeMs: Int64
  /// What the content of a download has to be.
  public var expected = ExpectedContent()

  public init(uid: UID, key: NameBytes, size: Int64, mtimeMs: Int64) {
    self.uid = uid
    self.key = key
    self.size = size
    self.mtimeMs = mtimeMs
  }
}

/// Everything a protocol may base a step on. The engine builds it from rows; answers change it by
/// ``TransferFacts/apply(_:to:_:)``.
public struct TransferFacts: Sendable {
  public var file: FileFacts
  public var layout: ChunkLayout
  /// The live session (`intended` or `open`), when there is one.
  public var session: SessionFacts?
  /// An earlier request of this kind, for this file, may have taken effect although its answer never came (lost answer
  /// or crash). Cleared by an answer that settles it.
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
  /// What a listing of this session showed with the length of a chunk, by number; of chunks that are to be sent, it may
  /// be their content.
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
  /// Where the file is asked for.
  public var route = Route()
  /// The same of its mirrors.
  var mirrorRoutes: [Int: Route] = [:]
  /// Whose point of view this is (``TransferFacts/seen(from:)``): 0 is the URL of the file.
  var mirror = 0
  /// Of a download that may replace what stands at its path: the one that wrote it.
  public var past: PastDownload?
  /// What the local file has of the version was taken from it, since the file was claimed (``TransferStep/reuse(_:)``).
  public var isReused = false
  /// Milliseconds since 1970 UTC, when the next step is asked for; for what expires.
  public var wallMs: Int64 = 0

  public init(file: FileFacts, layout: ChunkLayout) {
    self.file = file
    self.layout = layout
  }

  /// Every chunk is stored.
  public var isAllStored: Bool { storedChunks == layout.count }
}

extension TransferFacts {
  /// These chunks were in the local file, and need not be fetched.
  public mutating func reused(_ found: [PartReceipt]) {
    isReused = true
    guard !found.isEmpty else { return }
    storedChunks += found.count
    acked += found.reduce(0) { $0 + $1.length }
    parts = []
  }

  /// URLs under which a server knows this upload, wherever they are kept: whoever has one may write to it or end it, so
  /// they work as secrets. Ids that need our signature or credential (of S3, of Dropbox) are none.
  public func capabilities(_ chunk: ChunkFacts?) -> [String] {
    let kept = [session?.remoteID].compactMap { $0 } + Array((session?.notes ?? [:]).values)
    let ofChunks = parts.flatMap(\.remote.values) + Array((chunk?.remote ?? [:]).values)
    return Self.capabilities(among: kept + ofChunks) + route.places + mirrorRoutes.values.flatMap(\.places)
  }

  /// The URLs among what is kept with an upload.
  fileprivate static func capabilities(among kept: [String]) -> [String] {
    let texts = kept.map { $0.hasPrefix("\"") ? String($0.dropFirst().prefix { $0 != "\"" }) : $0 }
    return texts.filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
  }
}

extension Interpretation {
  /// URLs under which the server knows the upload, as far as the answer was the first to name them: see
  /// ``TransferFacts/capabilities(_:)``.
  public var capabilities: [String] {
    let named = [opened?.remoteID].compactMap { $0 } + Array(notes.values) + Array((doubt ?? [:]).values)
    return TransferFacts.capabilities(among: named + namedByOutcome) + (route?.places ?? [])
  }

  private var namedByOutcome: [String] {
    switch outcome {
    case .chunkPrepared(let remote): Array(remote.values)
    case .stored(let receipt, _): Array(receipt.remote.values)
    case .orphansListed(let ids, _): ids
    case .settled, .partsListed, .advanced, .chunkProbed, .offset, .begun, .listed, .finished, .absent, .untold,
      .notYet,
      .failed:
      []
    }
  }
}
