public import TransferModel

/// What is done next for a file.
public enum TransferStep: Sendable, Hashable {
  /// Send this one request, alone.
  case control(StepRequest)
  /// Every chunk that is pending may be sent; when ``SessionFacts`` is needed it is there.
  case chunks
  /// Send the first pending chunk alone; its request opens the session, whose `intended` row is durable before.
  case chunkThatOpensSession
  /// A session begins without a request: its name is ours. Durable with the next step.
  case openSession(remoteID: String, notes: [String: String])
  /// The session is of no use any more (it expired): its row → `gone`, chunks → pending; counts as a failure of the
  /// file, and goes on at once.
  case dropSession(Failure)
  /// The server has everything and said so.
  case complete(FileProof)
  /// The server has the version that was fetched before: what the local file still has of it is taken from there. When
  /// that is all of it, the file stays as it is, and this is what is known of it.
  case reuse(FileProof)
  /// Every byte of a download is stored: the local file is synced and moved to its name, and then it is complete.
  case place(FileProof)
  case fail(Failure)
}

/// A request of a protocol, by purpose.
public enum StepRequest: Sendable, Hashable {
  /// Opens a session; its `intended` row is durable before this is sent.
  case create
  /// Asks the server what it has; from a marker for the next page.
  case probe(marker: String?)
  case chunk(ChunkFacts)
  /// Goes ahead of the body of a chunk and gets what it needs: an upload of its own, a URL.
  case prepareChunk(ChunkFacts)
  /// Asks what the server has of one chunk.
  case probeChunk(ChunkFacts)
  /// Asks what the destination can do, before anything is sent there.
  case discover
  case finish
  /// What follows the finish step, with a life of its own: registers the finished object.
  case save
  /// Asks whether the finished object is there and ours.
  case verify
  /// Ends a session at the server, by its id there.
  case abort(remoteID: String)
  /// Makes the collection with the first `depth` components of the key's path (WebDAV MKCOL).
  case makeParent(depth: Int)

  public var operation: AttemptOperation {
    switch self {
    case .create, .makeParent: .create
    case .probe, .probeChunk, .discover: .probe
    case .chunk: .part
    case .prepareChunk: .prepare
    case .finish: .finish
    case .save: .save
    case .verify: .verify
    case .abort: .abort
    }
  }
  /// The chunk that it is about.
  public var chunk: ChunkFacts? {
    switch self {
    case .chunk(let chunk), .prepareChunk(let chunk), .probeChunk(let chunk): chunk
    case .create, .probe, .discover, .finish, .save, .verify, .abort, .makeParent: nil
    }
  }
}
