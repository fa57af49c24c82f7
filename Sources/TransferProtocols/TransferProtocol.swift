public import TransferModel

/// How files are moved to a kind of server, or from it: pure. A protocol is asked for the next step of a file, builds
/// the requests, and says what an answer means. It never sleeps, retries, logs, stores or opens anything; all state is
/// in the facts that it is given.
///
/// The engine's side of the contract: it opens an attempt row before it sends a request; it hands every reply to
/// ``interpret(_:to:_:)`` exactly once; it applies the meaning to the facts, asks for the next
/// step, and commits the meaning and the beginning of that step together; nothing is sent before that commit is
/// durable. What only some protocols are able to do are small protocols of their own: ``LatePlanning``,
/// ``OrphanListing`` …
public protocol TransferProtocol: Sendable {
  /// `s3`, `put`, … : stored with each batch.
  var name: String { get }
  var abilities: ProtocolAbilities { get }

  /// The algorithm of the digest that the engine computes over the bytes as they are sent or received, in the same
  /// pass; the chunk that is given to ``interpret(_:to:_:_:)`` carries it.
  var sentDigest: DigestAlgorithm { get }

  /// Says how a file of `size` bytes is cut. Throws `.usage` when the limits of the protocol cannot hold it.
  func layout(size: Int64) throws(TransferError) -> ChunkLayout

  /// Says that `key` can be expressed at the server; nil when it can, else why not.
  func refusal(ofKey key: NameBytes) -> Failure?

  /// What people see as the place of `key` at the destination; without secrets.
  func location(ofKey key: NameBytes) -> String

  func nextStep(_ facts: TransferFacts) -> TransferStep

  /// Builds one request. `chunk` is present for ``StepRequest/chunk(_:)`` only; its body is added by the engine.
  func request(_ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext) throws(Failure)
    -> TransferRequest

  /// Says what an answer means.
  func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation
}

/// What a protocol can do; printed for people and used by the engine instead of asking for names.
public struct ProtocolAbilities: Sendable, Hashable {
  /// Several chunks of one file at a time; without it they are sent in order, each after the answer to the one before.
  public var parallelChunks: Bool
  /// How many of them at most; nil for no limit of the protocol's own.
  public var mostParallel: Int?
  /// The server keeps what it acknowledged, and can be asked.
  public var resumable: Bool
  /// Requests whose repetition may do harm: one that lost its answer makes the file `unknown`.
  public var unrepeatable: Set<AttemptOperation>
  /// What goes ahead of the body of a chunk.
  public var chunkOpening: ChunkOpening
  /// ``TransferFacts/parts`` are wanted as soon as every chunk is stored, also without a step that uses them.
  public var needsParts: Bool
  /// What a session made at the server is of no use once the file was seen there, and is ended then.
  public var leavesUploads: Bool
  /// What `verify` finds can be no other version of the file than the one that was sent.
  public var verifiesContent: Bool

  public init(
    parallelChunks: Bool, mostParallel: Int? = nil, resumable: Bool, unrepeatable: Set<AttemptOperation> = [],
    chunkOpening: ChunkOpening = .none, needsParts: Bool = false, leavesUploads: Bool = false,
    verifiesContent: Bool = false
  ) {
    self.parallelChunks = parallelChunks
    self.mostParallel = mostParallel
    self.resumable = resumable
    self.unrepeatable = unrepeatable
    self.chunkOpening = chunkOpening
    self.needsParts = needsParts
    self.leavesUploads = leavesUploads
    self.verifiesContent = verifiesContent
  }

  /// Sending the same body again is harmless.
  public var repeatable: Bool { !unrepeatable.contains(.part) }
}
