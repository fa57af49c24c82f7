import TransferLedger
import TransferModel
import TransferProtocols

/// A change to the rows of one file, as decided by the file machine; each is one named transition of the ledger.
enum FileChange: Sendable, Hashable {
  case storeChunk(ChunkID, AttemptID, PartReceipt)
  /// A query found that the server has the chunk.
  case findChunk(ChunkID, AttemptID, PartReceipt)
  case retryChunk(ChunkID, AttemptID, notBeforeMs: Int64)
  case releaseChunk(ChunkID, AttemptID)
  case failChunk(ChunkID, AttemptID)
  case chunkUnknown(ChunkID, AttemptID)
  case advanceChunk(ChunkID, AttemptID, acked: Int64)
  case prepareChunk(ChunkID, AttemptID, remote: [String: String])
  /// A part of the chunk was fetched, and others are missing.
  case storePiece(ChunkID, AttemptID, remote: [String: String])
  /// For a download: a local file had parts of the chunk with this number; these notes say which ones are missing.
  case noteMissing(seq: Int, remote: [String: String])
  case probeChunk(ChunkID, AttemptID, acked: Int64)
  /// How a later query can recognise the chunk although its answer was lost.
  case doubtChunk(ChunkID, AttemptID, remote: [String: String])
  /// The wrong pieces of a received chunk.
  case noteChunk(ChunkID, AttemptID, remote: [String: String])
  case disownChunks([Int])
  /// The answer to the first request of a download: its size, the layout, and the received bytes.
  case storeBeginning(AttemptID, FileBeginning, plan: ChunkLayout?)
  /// Uncertain chunks that a listing proved to be stored.
  case adoptChunks(AttemptID, [PartReceipt])
  /// The server has this many bytes of the file; the state of all chunks follows from it.
  case alignChunks(AttemptID, offset: Int64)
  /// A `verify` showed that the server has the whole file although the answer to its body was lost.
  case confirmChunks(AttemptID, Confirmation, etag: String)
  case resetChunks
  /// Divides a file of which nothing is stored, or a download of which only the beginning is, into shorter chunks.
  case recut(ChunkLayout)
  case openSession(remoteID: String, expiresAtMs: Int64?, notes: [String: String]? = nil)
  /// The attempt began as unrepeatable, and its session was opened: from now on its result can be queried.
  case askAbout(AttemptID)
  /// A session whose name we chose ourselves begins as open.
  case beginOwnSession(remoteID: String, notes: [String: String])
  case noteSession([String: String])
  /// For a download: the received data is useless for this reason; everything is requested again, with these notes.
  case renewSession([String: String], Failure)
  /// What is left of the session is to be aborted on the server.
  case giveUpSession
  case endSession(SessionState)
  case startFinishing
  /// For a download: the identity of its partial file.
  case notePartialFile(SourceIdentity)
  /// For a download: the local file had these chunks, which need not be fetched.
  case reuseChunks([PartReceipt])
  /// The local file of a download has its final name.
  case notePlaced(SourceIdentity)
  /// The source has a new ctime or device, but the same content.
  case sight(SourceIdentity)
  case resumeSending
  case complete(FileReceipt)
  /// A page of a listing: its files.
  case admitListed(ListedFiles)
  /// The listing is complete and superseded by its files.
  case endListing(String)
  case release(notBeforeMs: Int64?, ErrorCode?, isFailure: Bool)
  case fail(ErrorCode, String, keepsSession: Bool)
  case unknown(ErrorCode, String)
  case supersede(SourceIdentity, notBeforeMs: Int64?)
  /// The file is not sent, because another file has delivered the same content.
  case endDuplicate(DeliveredFile)
  /// Its source was deleted before anything of it was sent, for this reason.
  case endGone(String)

  /// After this change the engine no longer holds the file.
  var isRelease: Bool {
    switch self {
    case .complete, .release, .fail, .unknown, .supersede, .endListing, .endDuplicate, .endGone: true
    case .storeChunk, .findChunk, .retryChunk, .releaseChunk, .failChunk, .chunkUnknown, .advanceChunk, .prepareChunk,
      .storePiece, .noteMissing, .probeChunk, .doubtChunk, .noteChunk, .disownChunks, .storeBeginning, .adoptChunks,
      .alignChunks, .confirmChunks,
      .resetChunks, .recut,
      .openSession, .askAbout,
      .beginOwnSession, .noteSession, .renewSession, .admitListed,
      .giveUpSession, .endSession, .startFinishing, .notePartialFile, .reuseChunks, .notePlaced, .resumeSending,
      .sight:
      false
    }
  }

  /// The ending attempt stores a chunk; its digest is recorded with it.
  var storesChunk: Bool { if case .storeChunk = self { true } else { false } }

  /// The size of the file is known from now on.
  var plansFile: Bool { if case .storeBeginning(_, _, _?) = self { true } else { false } }
}

extension FileChange {
  /// The bytes that the server acknowledged become useless.
  var throwsAway: Bool {
    switch self {
    case .resetChunks, .renewSession, .supersede: true
    default: false
    }
  }
}

/// What must be recorded in the ledger before a request may be sent.
enum Begin: Sendable, Hashable {
  case chunks(limit: Int)
  /// The first chunk, whose request also opens the session.
  case chunkThatOpensSession
  case control(StepRequest)
  /// The local file of a download is renamed to its final name, or to this absolute path if the server supplied a name.
  case placing(FileProof, named: NameBytes?)
  /// Intact data is taken from the existing local file of a download; if that is all of it, this is the proof.
  case reusing(FileProof)
  /// A query about a request that is still waiting for its answer.
  case question(StepRequest, beside: Scheduler.RequestID)
}

/// All changes of one file in one transaction: the end of an attempt, its consequences, the beginning of the next.
struct FileUnit: Sendable {
  var file: FileID
  var session: SessionID?
  var plan: ChunkLayout?
  /// For a download that is planned: the size of the remote object, in bytes.
  var size: Int64?
  var ended: EndedAttempt?
  var changes: [FileChange] = []
  var begin: Begin?
  /// Whether the request that begins may be repeated safely.
  var isRepeatable = true
  var opening = ChunkOpening.none
  /// The staged copy that was sent, which is no longer needed when the file is done.
  var staged: String?
  /// SHA-256 of the whole file for its receipt, if it is known.
  var sha256: Digest?
  /// SHA-256 of the whole file, to be recorded as delivered content when it is done.
  var content: Digest?
  /// The transaction returns the receipts of all chunks.
  var wantsParts = false

  var isEmpty: Bool { plan == nil && ended == nil && changes.isEmpty && begin == nil && !wantsParts }

  init(file: FileID, session: SessionID?) {
    self.file = file
    self.session = session
  }
}

extension Begin {
  var requestCount: Int {
    switch self {
    case .chunks(let limit): limit
    case .chunkThatOpensSession, .control, .question: 1
    case .placing, .reusing: 0
    }
  }
}

extension FileUnit {
  /// The maximum number of requests that it begins.
  var requestCount: Int { begin?.requestCount ?? 0 }
}

struct EndedAttempt: Sendable {
  var attempt: AttemptID
  var result: AttemptResult
}

/// The result of the transaction of a ``FileUnit``; durable when the engine receives it.
struct Begun: Sendable {
  var file: FileID
  var chunks: [ClaimedChunk] = []
  var control: (step: StepRequest, attempt: AttemptID)?
  /// The local file is to be renamed now; after that it is complete.
  var placing: FileProof?
  /// The path from the name that the server supplied; nil for the recorded path.
  var placedAt: NameBytes?
  /// Another file of the ledger that already has this path.
  var nameTakenBy: FileID?
  /// Intact data is to be taken from the local file now.
  var reusing: FileProof?
  /// The request that the query is about.
  var beside: Scheduler.RequestID?
  var session: ClaimedSession?
  var parts: [PartReceipt]?
  var doubts: [ChunkDoubt]?
  /// Chunks that were recorded as done and are pending again.
  var disownedChunks = 0
  /// The staged copy of a file that became done.
  var unstaged: String?
  /// Files from a listing that can be claimed now.
  var admitted = 0
  /// It was to end as a duplicate, but is sent after all: for example, the other file was replaced in the meantime.
  var isRequeued = false
  /// The generation that superseded a changed source.
  var successor: FileID?
  /// Bytes sent by requests of this run that a query found on the server.
  var creditedBytes: Int64 = 0
  /// Acknowledged bytes of this run that belong to superseded content, or were lost.
  var uselessBytes: Int64 = 0
}
