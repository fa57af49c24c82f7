import HTTPTypes
import TransferModel

/// A kind of server from which files are fetched by GET: how requests are addressed and signed, and what is special in
/// its answers. ``GetProtocol`` handles everything else of a download.
protocol GetSource: Sendable {
  /// ``TransferProtocol/name``.
  var protocolName: String { get }
  var sentDigest: DigestAlgorithm { get }
  /// Media type and coding in its answers were stored with the file, and are not made for the answer.
  var sendsWhatIsStored: Bool { get }

  func refusal(ofKey key: NameBytes) -> Failure?
  func location(ofKey key: NameBytes) -> String
  /// The name of the file on the server, decoded.
  func fileName(ofKey key: NameBytes) -> NameBytes

  func request(_ part: GetPart, _ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest

  /// Adds the properties of a version that only this kind of server reports.
  func complete(_ version: inout RemoteVersion, _ fields: HTTPFields)

  /// What is to be kept of the permissions and the owner of a version, which an earlier download with other options may
  /// have recorded.
  func wanted(of access: FileAccess) -> FileAccess

  /// Whether the fields of a range say of which version it is.
  func isNamed(_ version: RemoteVersion, in fields: HTTPFields) -> Bool

  /// Why a range with these fields belongs to another version; nil if its ETag and its dates say all that is known.
  func doubt(of version: RemoteVersion, in fields: HTTPFields) -> Failure?

  /// The meaning of an answer that differs from that of other servers; nil if it does not differ.
  func meaning(of reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation?

  /// The size of the file according to an answer that refuses a range of it; nil if the answer does not say.
  func size(behindTheEnd reply: TransferReply) -> Int64?

  /// Requests a page of the contents of the folder in `facts`; `next` is the marker of the page.
  func listing(
    _ next: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest

  /// Parses the answer to ``listing(_:_:_:)``.
  func page(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation

  /// The number of parts in which the version was uploaded; nil if it was one, or nothing says so.
  func partCount(of version: RemoteVersion) -> Int?

  /// The digest of the digests of its parts in an answer that describes the version; nil if there is none.
  func composite(of version: RemoteVersion, in reply: TransferReply) -> Digest?

  /// Parses an answer to ``GetPart/partList(after:)``; nil if it lists no parts.
  func partList(_ reply: TransferReply) -> PartList?

  /// The digest of a file that arrived in several ranges is requested when all of them are stored.
  var tellsDigestsLate: Bool { get }
}

extension GetSource {
  func wanted(of access: FileAccess) -> FileAccess { FileAccess() }
  func isNamed(_ version: RemoteVersion, in fields: HTTPFields) -> Bool { version.isNamed(in: fields) }
  func doubt(of version: RemoteVersion, in fields: HTTPFields) -> Failure? { nil }
  func partCount(of version: RemoteVersion) -> Int? { nil }
  func composite(of version: RemoteVersion, in reply: TransferReply) -> Digest? { nil }
  func partList(_ reply: TransferReply) -> PartList? { nil }
}

/// What one request asks for.
enum GetPart {
  /// The first request: the beginning of the current version, or all of it.
  case beginning(ByteRange?)
  /// A range of the version with this validator; of any version if it is nil.
  case range(ByteRange, validator: String?)
  case whole
  /// The properties of the version with this validator, without content.
  case description(validator: String)
  /// The length of the first stored part, and how many there are, without content.
  case firstPart
  /// A page of the list of its stored parts, from the one behind this number.
  case partList(after: Int)
}
