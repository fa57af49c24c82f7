public import TransferModel

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
