import TransferLedger
import TransferModel
import TransferProtocols

/// A change to the rows of one file, as the file machine decides it; each is one named transition of the ledger.
enum FileChange: Sendable, Hashable {
  case storeChunk(ChunkID, AttemptID, PartReceipt)
  /// A question about the chunk found that it is there.
  case findChunk(ChunkID, AttemptID, PartReceipt)
  case retryChunk(ChunkID, AttemptID, notBeforeMs: Int64)
  case returnChunk(ChunkID, AttemptID)
  case failChunk(ChunkID, AttemptID)
  case chunkUnknown(ChunkID, AttemptID)
  case advanceChunk(ChunkID, AttemptID, acked: Int64)
  case prepareChunk(ChunkID, AttemptID, remote: [String: String])
  case probeChunk(ChunkID, AttemptID, acked: Int64)
  /// What shows later whether it is there although its answer was lost.
  case doubtChunk(ChunkID, AttemptID, remote: [String: String])
  /// What of a chunk that came is not what it is to be.
  case noteChunk(ChunkID, AttemptID, remote: [String: String])
  case disownChunks([Int])
  /// The answer to the first request for a download: its size, how it is cut, and the bytes that came.
  case storeBeginning(AttemptID, FileBeginning, plan: ChunkLayout?)
  /// Chunks in doubt that a listing proved to be there.
  case adoptChunks(AttemptID, [PartReceipt])
  /// The server holds so many bytes of the file, and what is between and above follows from that.
  case alignChunks(AttemptID, offset: Int64)
  /// A `verify` showed that the whole file is there although the answer to its body was lost.
  case confirmChunks(AttemptID, Confirmation, etag: String)
  case resetChunks
  /// Shorter chunks, of a file of which nothing is stored.
  case recut(ChunkLayout)
  case openSession(remoteID: String, expiresAtMs: Int64?, notes: [String: String]? = nil)
  /// The attempt began as unrepeatable, and opened its session: from now on the server can be asked about it.
  case askAbout(AttemptID)
  /// A session whose name is ours begins open.
  case beginOwnSession(remoteID: String, notes: [String: String])
  case noteSession([String: String])
  /// Of a download: what came is of no use, and all of it is asked for again, with what is remembered.
  case renewSession([String: String])
  /// What is left of it at the server is to be ended there.
  case giveUpSession
  case endSession(SessionState)
  case startFinishing
  /// Of a download: which file takes its bytes until all of them are there.
  case notePartialFile(SourceIdentity)
  /// Of a download: these chunks were in the local file, and need not be fetched.
  case reuseChunks([PartReceipt])
  /// The local file of a download has its name.
  case notePlaced(SourceIdentity)
  /// Its source has another ctime or device, and the same content.
  case sight(SourceIdentity)
  case resumeSending
  case complete(FileReceipt)
  /// A page of a listing: its files.
  case admitListed(ListedFiles)
  /// The files that it named stand for the listing.
  case endListing(String)
  case requeue(notBeforeMs: Int64?, ErrorCode?, isFailure: Bool)
  case fail(ErrorCode, String, keepsSession: Bool)
  case unknown(ErrorCode, String)
  case supersede(SourceIdentity, notBeforeMs: Int64?)

  /// After this the engine has nothing more to do with the file.
  var isRelease: Bool {
    switch self {
    case .complete, .requeue, .fail, .unknown, .supersede, .endListing: true
    case .storeChunk, .findChunk, .retryChunk, .returnChunk, .failChunk, .chunkUnknown, .advanceChunk, .prepareChunk,
      .probeChunk, .doubtChunk, .noteChunk, .disownChunks, .storeBeginning, .adoptChunks, .alignChunks, .confirmChunks,
      .resetChunks, .recut,
      .openSession, .askAbout,
      .beginOwnSession, .noteSession, .renewSession, .admitListed,
      .giveUpSession, .endSession, .startFinishing, .notePartialFile, .reuseChunks, .notePlaced, .resumeSending,
      .sight:
      false
    }
  }

  /// A chunk is done by the attempt that ends; its digest is recorded with it.
  var storesChunk: Bool { if case .storeChunk = self { true } else { false } }

  /// The size of the file is known from now on.
  var plansFile: Bool { if case .storeBeginning(_, _, _?) = self { true } else { false } }
}

extension FileChange {
  /// What the server acknowledged of the file is of no use any more.
  var throwsAway: Bool {
    switch self {
    case .resetChunks, .renewSession, .supersede: true
    default: false
    }
  }
}

/// What is to be opened in the ledger before a request may be sent.
enum Begin: Sendable, Hashable {
  case chunks(limit: Int)
  /// The first chunk, with a session that its request opens.
  case chunkThatOpensSession
  case control(StepRequest)
  /// The local file of a download is moved to its name, at this absolute path where its server gives it one.
  case placing(FileProof, named: NameBytes?)
  /// What the local file of a download still has of the version is taken from it; when that is all, this is the proof.
  case reusing(FileProof)
  /// What is asked about a request while its answer is awaited.
  case question(StepRequest, beside: Scheduler.JobID)
}

/// All that happens to one file in one transaction: the end of an attempt, its consequences, the beginning of the next.
struct FileUnit: Sendable {
  var file: FileID
  var session: SessionID?
  var plan: ChunkLayout?
  /// Of a download that is planned: how large the remote object is, in bytes.
  var size: Int64?
  var ended: EndedAttempt?
  var changes: [FileChange] = []
  var begin: Begin?
  /// May what begins be repeated without harm?
  var isRepeatable = true
  var opening = ChunkOpening.none
  /// The copy that was sent, which is of no use once the file is done.
  var staged: String?
  /// The receipts of all chunks are wanted back.
  var wantsParts = false

  var isEmpty: Bool { plan == nil && ended == nil && changes.isEmpty && begin == nil && !wantsParts }

  init(file: FileID, session: SessionID?) {
    self.file = file
    self.session = session
  }
}

struct EndedAttempt: Sendable {
  var attempt: AttemptID
  var result: AttemptResult
}

/// What the transaction of a ``FileUnit`` gave back; durable when the engine sees it.
struct Begun: Sendable {
  var file: FileID
  var chunks: [ClaimedChunk] = []
  var control: (step: StepRequest, attempt: AttemptID)?
  /// The local file is moved to its name now, and is complete then.
  var placing: FileProof?
  /// The path that its server's name for it leads to; nil for the one that it had.
  var placedAt: NameBytes?
  /// Another file of the ledger has that.
  var nameTakenBy: FileID?
  /// What the local file still has is taken from it now.
  var reusing: FileProof?
  /// The request that it asks about.
  var beside: Scheduler.JobID?
  var session: ClaimedSession?
  var parts: [PartReceipt]?
  var doubts: [ChunkDoubt]?
  /// Chunks that were taken for done and are pending again.
  var disownedChunks = 0
  /// The copy of a file that is done.
  var unstaged: String?
  /// Files that a listing named, which can be claimed now.
  var admitted = 0
  /// The generation that took the place of a changed source.
  var successor: FileID?
  /// Bytes that requests of this run had sent, and that a question found at the server.
  var creditedBytes: Int64 = 0
  /// Bytes that requests of this run got acknowledged of what was superseded.
  var uselessBytes: Int64 = 0
}
