public import TransferModel

/// A protocol for uploads: pure. It is asked for the next step of a file, builds the requests, and says what an answer
/// means. It never sleeps, retries, logs, stores or opens anything; all state is in the facts that it is given.
///
/// The engine's side of the contract: it opens an attempt row before it sends a request; it hands every reply to
/// ``judge(_:to:_:)`` exactly once; it applies the meaning to the facts, asks for the next
/// step, and commits the meaning and the beginning of that step together; nothing is sent before that commit is durable.
public protocol UploadProtocol: Sendable {
  /// `s3`, `put`, … : stored with each batch.
  var name: String { get }
  var abilities: ProtocolAbilities { get }

  /// What it can do for one file, where that is not the same for all of them.
  func abilities(_ facts: UploadFacts) -> ProtocolAbilities

  /// Says how a file of `size` bytes is cut. Throws `.usage` when the limits of the protocol cannot hold it.
  func layout(size: Int64) throws(TransferError) -> ChunkLayout

  /// How many requests a file of `size` bytes takes when nothing has to be repeated, at a server that can all that the protocol
  /// makes use of. Throws as ``layout(size:)``.
  func plannedRequests(size: Int64) throws(TransferError) -> Int

  /// Requests that are made once for all files of a batch, before them.
  var plannedDiscovery: Int { get }

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
  func judge(_ reply: TransferReply, to step: StepRequest, _ facts: UploadFacts, _ context: RequestContext)
    -> Interpretation

  /// Says what an interim answer (1xx) means while its request goes on; nil for nothing. Asked only with
  /// ``ProtocolAbilities/hearsInterim``. It can name the session.
  func judgeInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: UploadFacts, _ context: RequestContext
  ) -> OpenedSession?

  /// The layout once a session is open, for protocols whose server chooses the size of chunks
  /// (``ProtocolAbilities/plansLate``).
  func layout(_ facts: UploadFacts) throws(TransferError) -> ChunkLayout

  /// The bytes of the file that the next request for `chunk` carries: from the first that the server lacks, and shorter than
  /// the rest of the chunk where a server limits bodies. Within the chunk, and empty only for an empty chunk.
  func bodyRange(of chunk: ChunkFacts, _ facts: UploadFacts) -> ByteRange

  /// The same as ``layout(size:)`` with the shortest chunks that the protocol allows and the settings do not forbid: for lines on which
  /// connections are lost before longer ones arrive.
  func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout

  /// Digests of the whole file that must be known before this request is made; computed once for each time that a file is
  /// claimed, by reading it.
  func fileDigests(for step: StepRequest, _ facts: UploadFacts) -> Set<DigestAlgorithm>

  /// Digests of a chunk that show whether the server's listing has its content.
  var digestsOfListing: Set<DigestAlgorithm> { get }

  /// The receipt of a chunk that is not sent because the listing proves that the server has it; nil when it does not. `chunk` has
  /// the digests of ``digestsOfListing`` over all of it, read from the source just now.
  func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt?

  /// What there is to be ended at the server when the upload is given up: ids for ``StepRequest/abort(remoteID:)``.
  func abortTargets(_ facts: UploadFacts) -> [String]
}

extension UploadProtocol {
  public func abilities(_ facts: UploadFacts) -> ProtocolAbilities { abilities }

  public func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout { try layout(size: size) }

  public func plannedRequests(size: Int64) throws(TransferError) -> Int { try layout(size: size).count }

  public var plannedDiscovery: Int { 0 }

  public func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm> {
    digestsAhead(learned)
  }

  public func judgeInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: UploadFacts, _ context: RequestContext
  ) -> OpenedSession? { nil }

  public func layout(_ facts: UploadFacts) throws(TransferError) -> ChunkLayout { try layout(size: facts.file.size) }

  public func bodyRange(of chunk: ChunkFacts, _ facts: UploadFacts) -> ByteRange { chunk.rest }

  public func fileDigests(for step: StepRequest, _ facts: UploadFacts) -> Set<DigestAlgorithm> { [] }

  public var digestsOfListing: Set<DigestAlgorithm> { [] }

  public func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt? { nil }

  public func abortTargets(_ facts: UploadFacts) -> [String] { facts.session?.remoteID.map { [$0] } ?? [] }
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
  /// ``UploadProtocol/judgeInterim(_:to:_:_:)`` wants to be asked.
  public var hearsInterim: Bool
  /// The layout is known once a session is open, not before.
  public var plansLate: Bool
  /// ``UploadFacts/parts`` are wanted as soon as every chunk is stored, also without a step that uses them.
  public var needsParts: Bool
  /// Sessions of ours can be looked for at the server when the ledger does not know their names.
  public var findsOrphans: Bool
  /// What a session made at the server is of no use once the file was seen there, and is ended then.
  public var leavesUploads: Bool
  /// What `verify` finds can be no other version of the file than the one that was sent.
  public var verifiesContent: Bool

  public init(
    parallelChunks: Bool, mostParallel: Int? = nil, resumable: Bool, unrepeatable: Set<AttemptOperation> = [],
    chunkOpening: ChunkOpening = .none, hearsInterim: Bool = false, plansLate: Bool = false,
    needsParts: Bool = false, findsOrphans: Bool = false,
    leavesUploads: Bool = false, verifiesContent: Bool = false
  ) {
    self.parallelChunks = parallelChunks
    self.mostParallel = mostParallel
    self.resumable = resumable
    self.unrepeatable = unrepeatable
    self.chunkOpening = chunkOpening
    self.hearsInterim = hearsInterim
    self.plansLate = plansLate
    self.needsParts = needsParts
    self.findsOrphans = findsOrphans
    self.leavesUploads = leavesUploads
    self.verifiesContent = verifiesContent
  }

  /// Sending the same body again is harmless.
  public var repeatable: Bool { !unrepeatable.contains(.part) }
}
