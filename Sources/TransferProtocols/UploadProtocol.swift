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
