import HTTPTypes
import TransferModel

/// A kind of server that files are fetched from by GET: how requests to it are addressed and signed, and what its
/// answers have of their own. Everything else of a download is judged by ``GetProtocol``.
protocol GetSource: Sendable {
  /// ``TransferProtocol/name``.
  var protocolName: String { get }
  var sentDigest: DigestAlgorithm { get }
  /// Type and coding in its answers were stored with the file by somebody, and are not made for the answer.
  var sendsWhatIsStored: Bool { get }

  func refusal(ofKey key: NameBytes) -> Failure?
  func location(ofKey key: NameBytes) -> String
  /// What the file is called there, decoded.
  func fileName(ofKey key: NameBytes) -> NameBytes

  func request(_ part: GetPart, _ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest

  /// What its answers say of a version beside what all servers do.
  func complete(_ version: inout RemoteVersion, _ fields: HTTPFields)

  /// Why nobody can tell that a range with these fields is of that version; nil where it was asked for so that it is.
  func doubt(of version: RemoteVersion, in fields: HTTPFields) -> Failure?

  /// What an answer means that is read otherwise than those of other servers; nil for none of these.
  func meaning(of reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation?

  /// Bytes of the file, as an answer says that has no such range of it; nil when it does not say.
  func size(behindTheEnd reply: TransferReply) -> Int64?

  /// Asks for a page of what lies below the folder that `facts` are of; `next` is where it begins.
  func listing(
    _ next: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest

  /// Reads the answer to it.
  func page(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation

  /// The digest of a file of several ranges is asked for when all of them are there.
  var tellsDigestsLate: Bool { get }
}

extension GetSource {
  func doubt(of version: RemoteVersion, in fields: HTTPFields) -> Failure? { nil }
}

/// What one request asks for.
enum GetPart {
  /// The first request: the beginning of whatever version there is, or all of it.
  case beginning(ByteRange?)
  /// A range of the version that has this validator; of any where it is nil.
  case range(ByteRange, validator: String?)
  case whole
  /// What is known of the version with this validator, without content.
  case description(validator: String)
}
