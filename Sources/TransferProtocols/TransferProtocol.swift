import TransferModel

/// A transfer protocol for uploads or downloads: pure. It determines the next step of a file, builds requests, and
/// interprets answers. It never sleeps, retries, logs, stores or opens anything; all state is in the facts passed to
/// it.
///
/// The engine's side of the contract: it opens an attempt row before it sends a request; it passes every reply to
/// ``interpret(_:to:_:)`` exactly once; it applies the meaning to the facts, gets the next step, and commits the
/// meaning and the beginning of that step together; nothing is sent before that commit is durable. Abilities of only
/// some protocols are Swift protocols of their own: ``LatePlanning``, ``UnlistedUploadListing`` …
package protocol TransferProtocol: Sendable {
  /// `s3`, `put`, … : stored with each batch.
  var name: String { get }
  var abilities: ProtocolAbilities { get }

  /// The algorithm of the digest that the engine computes over the bytes as they are sent or received, in the same
  /// pass; the chunk that is given to ``interpret(_:to:_:_:)`` carries it.
  var sentDigest: DigestAlgorithm { get }

  /// The layout of a file of `size` bytes. Throws `.usage` if it exceeds the limits of the protocol.
  func layout(size: Int64) throws(TransferError) -> ChunkLayout

  /// Why the server cannot store `key`; nil if it can.
  func refusal(ofKey key: NameBytes) -> Failure?

  /// The location of `key` at the destination for display; without secrets.
  func location(ofKey key: NameBytes) -> String

  /// The place of keys, without secrets: the same key in the same place is the same object. Two batches that could
  /// store a key as different objects have different places; otherwise files of the second one would count as sent.
  var keyPlace: String { get }

  /// Where the objects are that uploads replace, whoever sends them; nil if the server decides where an upload goes.
  var objectPlace: ObjectPlace? { get }

  func nextStep(_ facts: TransferFacts) -> TransferStep

  /// Builds one request. `chunk` is present for ``StepRequest/chunk(_:)`` only; its body is added by the engine.
  func request(_ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext) throws(Failure)
    -> TransferRequest

  /// Interprets an answer.
  func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation
}

extension TransferProtocol {
  public var keyPlace: String { location(ofKey: NameBytes("")) }

  package var objectPlace: ObjectPlace? { nil }
}

/// The abilities of a protocol; printed for people and used by the engine instead of protocol names.
public struct ProtocolAbilities: Sendable, Hashable {
  /// Several concurrent chunks of one file; otherwise chunks are sent in order, each after the answer to the previous
  /// one.
  public var parallelChunks: Bool
  /// The maximum number of concurrent chunks; nil for no limit of the protocol.
  public var mostParallel: Int?
  /// The server keeps acknowledged data, and can be queried.
  public var resumable: Bool
  /// The server is asked what it has of a chunk whose answer was lost, before its body is sent again.
  public var queriesChunks: Bool
  /// Operations that must not be repeated: after a lost answer the file becomes `unknown`.
  package var unrepeatable: Set<AttemptOperation>
  /// Requests before the body of a chunk.
  package var chunkOpening: ChunkOpening
  /// ``TransferFacts/parts`` are needed as soon as every chunk is stored, even without a step that uses them.
  public var needsParts: Bool
  /// The uploads of a session are useless once the finished file was found, and are then aborted.
  public var leavesUploads: Bool
  /// `verify` cannot mistake another version of the file for the one that was sent.
  public var verifiesContent: Bool

  package init(
    parallelChunks: Bool, mostParallel: Int? = nil, resumable: Bool, unrepeatable: Set<AttemptOperation> = [],
    chunkOpening: ChunkOpening = .none, needsParts: Bool = false, leavesUploads: Bool = false,
    verifiesContent: Bool = false, queriesChunks: Bool? = nil
  ) {
    self.parallelChunks = parallelChunks
    self.mostParallel = mostParallel
    self.resumable = resumable
    self.queriesChunks = queriesChunks ?? resumable
    self.unrepeatable = unrepeatable
    self.chunkOpening = chunkOpening
    self.needsParts = needsParts
    self.leavesUploads = leavesUploads
    self.verifiesContent = verifiesContent
  }

  /// Sending the same body again is harmless.
  public var repeatable: Bool { !unrepeatable.contains(.part) }
}
