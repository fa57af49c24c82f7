public import HTTPTypes
public import TransferModel

// What a protocol may be able to do beside what ``TransferProtocol`` asks of all: a type conforms to what it has.
// ``ProtocolInUse`` finds them once, when a destination is set up, and has what holds for the others.

/// What it can do is not the same for all files.
public protocol VaryingAbilities: Sendable {
  /// What it can do for one file.
  func abilities(_ facts: TransferFacts) -> ProtocolAbilities
}

/// How a file is cut is known once a session is open: the server chooses the size of chunks, or says what it can.
public protocol LatePlanning: Sendable {
  /// False where the settings decide after all.
  var plansLate: Bool { get }

  func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout
}

/// Interim answers (1xx) can name a session while the request goes on.
public protocol InterimAnswers: Sendable {
  /// The session that an interim answer names; nil for nothing.
  func interpretInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> OpenedSession?
}

/// A chunk can go in several bodies.
public protocol PartialBodies: Sendable {
  /// The bytes of the file that the next request for `chunk` carries: from the first that the server lacks, and shorter
  /// than the rest of the chunk where a server limits bodies. Within the chunk, and empty only for an empty chunk.
  func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange
}

/// For lines on which connections are lost before long chunks arrive.
public protocol ShortChunks: Sendable {
  /// The same as ``TransferProtocol/layout(size:)`` with the shortest chunks that the protocol allows and the settings
  /// do not forbid.
  func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout
}

/// The bytes of a file come in the bodies of answers: a download.
public protocol BodiesInAnswers: Sendable {
  /// The answer to ``StepRequest/create`` brings the beginning of the file, which is asked for with it.
  func beginning(_ facts: TransferFacts) -> ByteRange

  /// What the header of an answer to a `create` or a chunk says about its body, before a byte of it is taken.
  func content(status: Int, _ fields: HTTPFields, of step: StepRequest, _ facts: TransferFacts) -> AnswerContent

  /// What the header of an answer that brings content says of the whole file.
  func head(status: Int, _ fields: HTTPFields, wallMs: Int64) -> AnswerHead

  /// Pieces of which all bytes are on the disk when an answer to `step` has brought so many, and which nobody has
  /// compared. `size` is that of the file, as the answer to a `create` said it.
  func pieces(in step: StepRequest, bytes: Int64, size: Int64?, _ facts: TransferFacts) -> [Int]

  /// Not all of a chunk comes in order: its digest is to be read from the disk.
  func isReadAnew(_ step: StepRequest, _ facts: TransferFacts) -> Bool

  /// Digests of the whole file that nobody has compared when every chunk is stored: the partial file is read for them
  /// before it gets its name.
  func digestsToCompare(_ facts: TransferFacts) -> [Digest]

  /// Whether an ETag that a listing tells shows that the server still has the version which was fetched in the session
  /// with these notes: not a weak one, and not one that another version could have got since.
  func isSame(_ etag: String, as notes: [String: String]) -> Bool

  /// One component that the server wants the file to be called by; nil where it keeps its own name.
  func givenName(_ facts: TransferFacts) -> NameBytes?

  /// What it means that a local file has all bytes, in one chunk with this digest: nothing is asked of the server.
  func begun(withLocal size: Int64, _ digest: Digest, _ facts: TransferFacts) -> Interpretation

  /// Milliseconds since 1970 UTC that the local file is given as its time of modification; nil leaves the present time.
  func modificationTimeMs(_ facts: TransferFacts) -> Int64?
}

/// A file can be asked for at several places: its own URL, which is place 0, and its mirrors.
public protocol SeveralPlaces: Sendable {
  /// Where a request goes; `open` are the requests for chunks of the file under way, by place.
  func place(for step: StepRequest, _ facts: TransferFacts, open: [Int: Int]) -> Int

  /// Host and port of a mirror; nil for place 0.
  func host(of place: Int, _ facts: TransferFacts) -> String?

  /// What an answer means for a file with mirrors: where another may do better, that one is asked.
  /// - Parameter facts: as they are seen from the place that answered.
  func weighed(
    _ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation

  /// What a new session of the file remembers when what came together is not the file; nil when that is final.
  func renewal(after failure: Failure, _ facts: TransferFacts) -> [String: String]?
}

/// What the body of an answer is.
public enum AnswerContent: Sendable {
  /// The bytes of the file from `offset`, which is not behind the first that was asked for, to `end`, or to the end of
  /// the body where its length is not known.
  case bytes(from: Int64, to: Int64?)
  /// No content of the file: read as other answers are.
  case other
  /// The request is ended, and this is what the answer means: a failure.
  case refused(Interpretation)
}

/// Digests go ahead of bodies.
public protocol DigestsAhead: Sendable {
  /// Digests that must be known before the body of a chunk is sent, of a file with this layout; computed by the engine
  /// from the same bytes.
  func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm>
}

/// Requests carry digests of the whole file, or answers are compared with them.
public protocol WholeFileDigests: Sendable {
  /// Digests of the whole file that must be known before this request is made; computed once for each time that a file
  /// is claimed, by reading it.
  func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm>
}

/// A listing proves by digests which chunks the server has, also those whose answer was lost.
public protocol ListingProof: Sendable {
  /// Digests of a chunk that show whether the server's listing has its content.
  var digestsOfListing: Set<DigestAlgorithm> { get }

  /// The receipt of a chunk that is not sent because the listing proves that the server has it; nil when it does not.
  /// `chunk` has the digests of ``digestsOfListing`` over all of it, read from the source just now.
  func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt?
}

/// Sessions are not always ended by one request with their id.
public protocol AbortTargets: Sendable {
  /// What there is to be ended at the server when the upload is given up: ids for ``StepRequest/abort(remoteID:)``.
  func abortTargets(_ facts: TransferFacts) -> [String]
}

/// Sessions of ours can be looked for at the server when the ledger does not know their names:
/// ``StepRequest/probe(marker:)`` with a session that has none is answered by
/// ``Interpretation/Outcome/orphansListed(_:next:)``.
public protocol OrphanListing: Sendable {}

/// A file takes other requests than one for each of its chunks.
public protocol RequestEstimate: Sendable {
  /// How many requests a file of `size` bytes takes when nothing has to be repeated, at a server that can all that the
  /// protocol makes use of. Throws as ``TransferProtocol/layout(size:)``.
  func plannedRequests(size: Int64) throws(TransferError) -> Int

  /// Requests that are made once for all files of a batch, before them.
  var plannedDiscovery: Int { get }
}
