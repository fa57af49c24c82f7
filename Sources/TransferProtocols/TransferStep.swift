import TransferModel

/// The next step of a file.
package enum TransferStep: Sendable, Hashable {
  /// Send this one request, alone.
  case control(StepRequest)
  /// Every pending chunk may be sent; a required session exists.
  case chunks
  /// Send the first pending chunk alone; its request opens the session, whose `intended` row is durable before.
  case chunkThatOpensSession
  /// A session begins without a request, with an ID chosen by us. Durable with the next step.
  case openSession(remoteID: String, notes: [String: String])
  /// The session is useless (it expired): its row → `gone`, chunks → pending; counts as a failure of the file, which
  /// continues at once.
  case dropSession(Failure)
  /// The server confirmed the complete file.
  case complete(FileProof)
  /// The server has the version that was fetched before: intact data is copied from the local file. If that is all of
  /// it, the file stays as it is, with this proof.
  case reuse(FileProof)
  /// Every byte of a download is stored: the partial file is synced and renamed, and is then complete.
  case place(FileProof)
  case fail(Failure)
}

/// A request of a protocol, by purpose.
package enum StepRequest: Sendable, Hashable {
  /// Opens a session; its `intended` row is durable before this is sent.
  case create
  /// Queries what the server has; from a marker for the next page.
  case probe(marker: String?)
  case chunk(ChunkFacts)
  /// Precedes the body of a chunk and obtains what it needs: a separate upload, a URL.
  case prepareChunk(ChunkFacts)
  /// Queries what the server has of one chunk.
  case probeChunk(ChunkFacts)
  /// Queries the abilities of the destination, before anything is sent there.
  case discover
  case finish
  /// A separate step after the finish step: registers the finished object.
  case save
  /// Queries whether the finished object exists and is ours.
  case verify
  /// Aborts a session on the server, by its ID there.
  case abort(remoteID: String)
  /// Creates the collection with the first `depth` components of the key's path (WebDAV MKCOL).
  case makeParent(depth: Int)

  package var operation: AttemptOperation {
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
  package var chunk: ChunkFacts? {
    switch self {
    case .chunk(let chunk), .prepareChunk(let chunk), .probeChunk(let chunk): chunk
    case .create, .probe, .discover, .finish, .save, .verify, .abort, .makeParent: nil
    }
  }
}
