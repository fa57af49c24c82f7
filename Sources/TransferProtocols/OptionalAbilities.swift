import HTTPTypes
public import TransferModel

// Optional abilities beyond ``TransferProtocol``: a type conforms to those it has. ``ProtocolInUse`` looks them up
// once, when a destination is set up, and has the defaults for all others.

/// The abilities differ between files.
public protocol VaryingAbilities: Sendable {
  /// The abilities for one file.
  func abilities(_ facts: TransferFacts) -> ProtocolAbilities
}

/// The layout is known only when a session is open, because the server chooses the chunk size or announces its limits.
package protocol LatePlanning: Sendable {
  /// False if the settings determine the layout.
  var plansLate: Bool { get }

  func layout(_ facts: TransferFacts) throws(TransferError) -> ChunkLayout
}

/// An object needs its collections (folders), which ``StepRequest/makeParent(depth:)`` creates.
package protocol ParentCollections: Sendable {
  /// False if the settings leave that to the server.
  var makesParents: Bool { get }

  /// Whether a request for this step is refused while a collection is missing, and shows that all exist if it succeeds.
  func needsParents(_ step: StepRequest) -> Bool
}

/// Interim answers (1xx) can name a session while the request is running.
package protocol InterimAnswers: Sendable {
  /// The session in an interim answer; nil for none.
  func interpretInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> OpenedSession?
}

/// A chunk can be sent in several bodies.
package protocol PartialBodies: Sendable {
  /// The range of the next request for `chunk`: from the first byte that the server does not have, and shorter than the
  /// rest of the chunk if a server limits bodies. Within the chunk, and empty only for an empty chunk.
  func bodyRange(of chunk: ChunkFacts, _ facts: TransferFacts) -> ByteRange
}

/// For networks on which connections are lost before long chunks arrive.
package protocol ShortChunks: Sendable {
  /// The same as ``TransferProtocol/layout(size:)`` with the shortest chunks that the protocol allows and the settings
  /// do not forbid.
  func layoutOfShortChunks(size: Int64) throws(TransferError) -> ChunkLayout
}

/// The content arrives in the bodies of answers: a download.
package protocol BodiesInAnswers: Sendable {
  /// The range at the beginning of the file that ``StepRequest/create`` requests.
  func beginning(_ facts: TransferFacts) -> ByteRange

  /// Interprets the header of an answer to a `create` or a chunk, before a byte of its body is accepted.
  func content(status: Int, _ fields: HTTPFields, of step: StepRequest, _ facts: TransferFacts) -> AnswerContent

  /// The properties of the whole file in the header of an answer with content.
  func head(status: Int, _ fields: HTTPFields, _ facts: TransferFacts) -> AnswerHead

  /// Pieces that are complete on the disk after an answer to `step` with `bytes` bytes, and were not compared yet.
  /// `size` is that of the file, from the answer to a `create`.
  func pieces(in step: StepRequest, bytes: Int64, size: Int64?, _ facts: TransferFacts) -> [Int]

  /// The bytes of the chunk do not arrive in order: its digest must be read from the disk.
  func isReadAnew(_ step: StepRequest, _ facts: TransferFacts) -> Bool

  /// Digests of the whole file that are not compared when every chunk is stored: the partial file is read for them
  /// before it gets its name.
  func digestsToCompare(_ facts: TransferFacts) -> [Digest]

  /// The digest of the digests of its parts, for which the partial file is read in the same way; nil for none.
  func partedDigest(_ facts: TransferFacts) -> PartedDigest?

  /// Whether an ETag in a listing proves that the server still has the version fetched in the session with these notes:
  /// not a weak one, and not one that another version could have got since.
  func isSame(_ etag: String, as notes: [String: String]) -> Bool

  /// The file name sent by the server, one component; nil to keep the file's own name.
  func givenName(_ facts: TransferFacts) -> NameBytes?

  /// The meaning of having all bytes in a local file, as one chunk with this digest: no request is sent.
  func begun(withLocal size: Int64, _ digest: Digest, _ facts: TransferFacts) -> Interpretation

  /// The modification time to set on the local file, in milliseconds since 1970 UTC; nil for the current time.
  func modificationTimeMs(_ facts: TransferFacts) -> Int64?

  /// Permissions and owner to set on the local file; empty for the usual ones.
  func access(_ facts: TransferFacts) -> FileAccess
}

/// Checksums of blocks may be published beside a file; an existing one is searched for these blocks.
package protocol PublishedTables: Sendable {
  /// The longest answer that is accepted to a step that requests them, in bytes; nil for other steps.
  func longestTable(in step: StepRequest, _ facts: TransferFacts) -> Int64?
}

/// A file can be requested from several places: its own URL, which is place 0, and its mirrors.
package protocol SeveralPlaces: Sendable {
  /// The place of a request; `open` are the running chunk requests of the file, by place.
  func place(for step: StepRequest, _ facts: TransferFacts, open: [Int: Int]) -> Int

  /// Host and port of a mirror; nil for place 0.
  func host(of place: Int, _ facts: TransferFacts) -> String?

  /// Adjusts the meaning of an answer for a file with mirrors: if another place may do better, it is used.
  /// - Parameter facts: as they are seen from the place that answered.
  func weighed(
    _ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation

  /// The notes of a new session after the assembled file was wrong; nil if that is final.
  func renewal(after failure: Failure, _ facts: TransferFacts) -> [String: String]?
}

/// The kind of an answer's body.
public enum AnswerContent: Sendable {
  /// The bytes of the file from `from`, which is at most the first requested offset, to `to`, or to the end of the body
  /// if its length is not known; `of` is the size of the whole file, if the answer says it.
  case bytes(from: Int64, to: Int64?, of: Int64? = nil)
  /// The bytes of the file from its start to the end of the body, whose length is not known. A body of more than `most`
  /// bytes is ended with the interpretation, a failure.
  case bytesToEnd(most: Int64, Interpretation)
  /// Not content of the file: handled like other answers.
  case other
  /// The request is ended with this interpretation, a failure.
  case refused(Interpretation)
}

/// Digests are sent before bodies.
package protocol DigestsAhead: Sendable {
  /// Digests that must be known before the body of a chunk is sent, of a file with this layout; computed by the engine
  /// from the same bytes.
  func digestsAhead(_ learned: LearnedFacts, _ layout: ChunkLayout) -> Set<DigestAlgorithm>
}

/// Requests carry digests of the whole file, or answers are compared with them.
package protocol WholeFileDigests: Sendable {
  /// Digests of the whole file that must be known before this request is made; computed once for each time that a file
  /// is claimed, by reading it.
  func fileDigests(for step: StepRequest, _ facts: TransferFacts) -> Set<DigestAlgorithm>
}

/// A listing proves by digests which chunks the server has, including those whose answer was lost.
package protocol ListingProof: Sendable {
  /// Digests of a chunk that show whether the server's listing has its content.
  var digestsOfListing: Set<DigestAlgorithm> { get }

  /// The receipt of a chunk that need not be sent because the listing proves that the server has it; nil if it does
  /// not. `chunk` has the digests of ``digestsOfListing`` over all of it, just read from the source.
  func receipt(of chunk: ChunkFacts, in listing: ListedPart) -> PartReceipt?
}

/// Sessions are not always aborted by one request with their ID.
public protocol AbortTargets: Sendable {
  /// What to abort on the server when the upload is given up: IDs for ``StepRequest/abort(remoteID:)``.
  func abortTargets(_ facts: TransferFacts) -> [String]
}

/// The ID of a session is a URL on the server of the destination: whoever knows it can continue the upload.
package protocol SessionURLs: NamedUploads {}

extension SessionURLs {
  package func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName? {
    guard facts.session?.remoteID == nil else { return nil }
    return meaning.opened.map { UploadName($0.remoteID, .everywhere) }
  }
}

/// The server names an upload, and nothing else in the requests to it tells it from other uploads: with the same name
/// for two files, or for two chunks, one would be stored in place of the other. A protocol without this ability chooses
/// the names itself, or they mean nothing without the key, as the UploadId of S3.
package protocol NamedUploads: Sendable {
  /// The name in an answer of the upload that it opened for the file, or for the chunk of the step; nil for none.
  func uploadName(_ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts) -> UploadName?
}

package struct UploadName: Sendable, Hashable {
  package enum Scope: Sendable, Hashable {
    /// A URL: it is the same upload for every destination.
    case everywhere
    /// Another destination may have another upload with this name.
    case destination
    /// Only the chunks of one file must have different names, because the requests also contain what tells files apart.
    case file
  }

  package let text: String
  package let scope: Scope
  /// The number of the chunk whose own upload it is; nil for the upload of the file.
  package let chunk: Int?

  package init(_ text: String, _ scope: Scope, chunk: Int? = nil) {
    (self.text, self.scope, self.chunk) = (text, scope, chunk)
  }

  package var isURL: Bool { text.hasPrefix("http://") || text.hasPrefix("https://") }
}

/// The server can list our sessions whose IDs the ledger does not know: ``StepRequest/probe(marker:)`` with a session
/// that has no ID is answered by ``Interpretation/Outcome/unlistedUploads(_:next:)``.
public protocol UnlistedUploadListing: Sendable {}

/// The number of requests of a file is not the number of its chunks.
public protocol RequestEstimate: Sendable {
  /// The number of requests for a file of `size` bytes without retries, at a server with all optional features. Throws
  /// as ``TransferProtocol/layout(size:)``.
  func plannedRequests(size: Int64) throws(TransferError) -> Int

  /// Requests made once for all files of a batch, before them.
  var plannedDiscovery: Int { get }
}
