public import TransferModel

/// The properties of a file that a protocol needs.
public struct FileFacts: Sendable, Hashable {
  /// Unique and stable over retries: a token that identifies our object.
  package var uid: UID
  public var key: NameBytes
  public var size: Int64
  /// Milliseconds since 1970 UTC.
  public var mtimeMs: Int64
  /// The expected content of a download.
  public var expected = ExpectedContent()
  /// What rules set for the object of an upload.
  package var properties = ObjectProperties()

  package init(uid: UID, key: NameBytes, size: Int64, mtimeMs: Int64) {
    self.uid = uid
    self.key = key
    self.size = size
    self.mtimeMs = mtimeMs
  }
}

/// The input of a protocol's decisions. The engine builds it from rows; answers change it by
/// ``TransferFacts/apply(_:to:_:)``.
public struct TransferFacts: Sendable {
  public var file: FileFacts
  package var layout: ChunkLayout
  /// The live session (`intended` or `open`), when there is one.
  package var session: SessionFacts?
  /// An earlier request of this kind for this file may have taken effect although its answer was lost (or the engine
  /// crashed). Cleared by a conclusive answer.
  package var lostAnswer: AttemptOperation?
  /// The session is older than this claim: the data on the server may have changed since.
  public var isResumed = false
  /// The server was queried (`probe`) since the claim.
  public var isProbed = false
  /// The marker of the next page of a probe.
  public var probeMarker: String?
  /// Our sessions on the server that the ledger does not know; found by a probe, to be aborted.
  public var unlistedUploads: [String] = []
  /// `verify` did not find our object.
  public var isAbsent = false
  /// Queries with inconclusive answers since the claim (``Interpretation/Outcome/inconclusive``).
  package var inconclusive: Set<AttemptOperation> = []
  /// Chunks that are not known to be stored, but have notes; only set for a `probe`.
  package var doubts: [ChunkDoubt] = []
  /// Entries of this session's listing with the length of a chunk, by number; they may be the content of chunks still
  /// to be sent.
  public var listed: [Int: ListedPart] = [:]
  /// Progress of a probe: the first chunk that was not listed yet.
  var listedThrough = 0
  /// Completely acknowledged chunks.
  public var storedChunks = 0
  /// Acknowledged bytes of the file, as far as known.
  public var acked: Int64 = 0
  /// Where the bytes that were sent of each chunk in this session end, as offsets in the file, by number.
  var sentEnds: [Int: Int64] = [:]
  /// The largest offset that was sent or acknowledged in this session.
  package var sentThrough: Int64 = 0
  /// The ledger is a copy, and its original may have sent more.
  package var isSentElsewhere = false
  /// The most bytes of bodies that the run may move; nil for no limit.
  package var byteLimit: Int64?
  /// The server lost acknowledged data of this file.
  public var hasLosses = false
  /// The file has a layout in the ledger; until then ``layout`` is an estimate of protocols that plan late.
  public var isPlanned = false
  /// Receipts of all chunks in order while `isAllStored`; of all others while the last chunk is sent by a protocol that
  /// ``ProtocolAbilities/needsParts``.
  package var parts: [PartReceipt] = []
  /// The number of created parent collections; for WebDAV.
  public var parentsMade: Int?
  /// Facts learned about the destination so far.
  public var learned = LearnedFacts()
  /// The URL from which the file is requested.
  public var route = Route()
  /// The same of its mirrors.
  var mirrorRoutes: [Int: Route] = [:]
  /// The place that these facts are for (``TransferFacts/seen(from:)``); 0 is the URL of the file.
  var mirror = 0
  /// For a download that may replace an existing file: the download that wrote it.
  package var past: PastDownload?
  /// For a download: the newest version that an earlier generation had, or an earlier session of this one.
  package var earlierVersion: SessionFacts?
  /// For a download: there is a file with its final name. Only found out for an answer with a web page.
  package var replacesFile = false
  /// Intact data was copied from the local file since the claim (``TransferStep/reuse(_:)``).
  public var isReused = false
  /// Checksums of the blocks of the file, until an existing file was compared with them.
  public var blocks: PublishedBlocks?
  /// Milliseconds since 1970 UTC at which the next step is determined; for expiry times.
  public var wallMs: Int64 = 0

  package init(file: FileFacts, layout: ChunkLayout) {
    self.file = file
    self.layout = layout
  }

  /// Every chunk is stored.
  public var isAllStored: Bool { storedChunks == layout.count }
}

extension TransferFacts {
  /// The local file had these chunks, which need not be fetched.
  package mutating func reused(_ found: [PartReceipt]) {
    isReused = true
    guard !found.isEmpty else { return }
    storedChunks += found.count
    acked += found.reduce(0) { $0 + ($1.reused ?? $1.length) }
    parts = []
  }

  /// The existing file was compared with the published blocks. Returns the notes of the session if they changed.
  public mutating func compared(_ notes: [String: String]) -> [String: String]? {
    blocks = nil
    return note(notes).isEmpty ? nil : session?.notes
  }

  /// URLs of this upload on a server: with one, anybody may write to the upload or abort it, so they work as secrets.
  /// IDs that need our signature or credential (of S3, of Dropbox) are not included.
  package func capabilities(_ chunk: ChunkFacts?) -> [String] {
    let kept = [session?.remoteID].compactMap { $0 } + Array((session?.notes ?? [:]).values)
    let ofChunks = parts.flatMap(\.remote.values) + Array((chunk?.remote ?? [:]).values)
    return Self.capabilities(among: kept + ofChunks) + route.places + mirrorRoutes.values.flatMap(\.places)
  }

  /// The URLs among the stored values of an upload.
  fileprivate static func capabilities(among kept: [String]) -> [String] {
    let texts = kept.map { $0.hasPrefix("\"") ? String($0.dropFirst().prefix { $0 != "\"" }) : $0 }
    return texts.filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
  }
}

extension Interpretation {
  /// URLs of the upload that the answer was the first to contain: see ``TransferFacts/capabilities(_:)``.
  public var capabilities: [String] {
    let named = [opened?.remoteID].compactMap { $0 } + Array(notes.values) + Array((doubt ?? [:]).values)
    return TransferFacts.capabilities(among: named + namedByOutcome) + (route?.places ?? [])
  }

  private var namedByOutcome: [String] {
    switch outcome {
    case .chunkPrepared(let remote), .pieceStored(let remote): Array(remote.values)
    case .stored(let receipt, _): Array(receipt.remote.values)
    case .unlistedUploads(let ids, _): ids
    case .settled, .partsListed, .advanced, .chunkProbed, .offset, .begun, .listed, .finished, .absent, .inconclusive,
      .notYet,
      .failed:
      []
    }
  }
}
