import HTTPTypes
import TransferModel

/// Objects that were uploaded in parts. S3 serves ranges best if they are those of the stored parts ("Performance
/// guidelines", Amazon S3 User Guide), so chunks begin where parts do. The server says how long the parts are in its
/// answer to one more request, which is sent only for files that would be divided anyway. Nothing else depends on it:
/// each range is requested from one version, whatever the answer says.
extension GetProtocol {
  /// Whether the question is worth its request: a file without a layout would be divided, and the `received` bytes are
  /// less than a chunk.
  func asksForParts(
    of version: RemoteVersion, received: Int64, _ facts: TransferFacts, _ context: RequestContext
  ) -> Bool {
    let (usual, expected) = (layout(of: version, facts.file.expected), facts.file.expected)
    return source.partCount(of: version) != nil && !context.learned.refusesParts && !facts.isPlanned && usual.count > 1
      && received < usual.chunkSize && expected.pieces == nil && expected.mirrors.isEmpty
  }

  /// The meaning of the answer: in any case the file is divided now.
  func divided(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    guard let version = RemoteVersion(facts.session) else { return .inconclusive }
    if let failure = reply.transportFailure ?? reply.answerFailure {
      // Without a connection nothing was asked, and the file needs one, too.
      guard !reply.isCancelled, reply.requestMayHaveArrived else {
        return .failed(failure, FailureAction(transport: failure))
      }
      return divided(version, nil, facts).with(tolerated: .failure(failure))
    }
    switch StatusClass(reply.status) {
    case .throttled, .retry:
      let failure = Failure(answer: reply, wallMs: context.wallMs)
      let isThrottled = StatusClass(reply.status) == .throttled
      return divided(version, nil, facts).with(tolerated: .failure(failure, isThrottled: isThrottled))
    default: break
    }
    let parts = source.partCount(of: version).flatMap { StoredParts(reply, of: version.size, count: $0) }
    let meaning = divided(version, parts, facts).with(tolerated: .answer)
    // 404 and 412 are about this object.
    guard !StoredParts.areTold(reply), reply.status != 404, reply.status != 412 else { return meaning }
    var learned = context.learned
    learned.refusesParts = true
    return meaning.with(learned: learned)
  }

  private func divided(_ version: RemoteVersion, _ parts: StoredParts?, _ facts: TransferFacts) -> Interpretation {
    let usual = layout(of: version, facts.file.expected)
    let least = max(facts.acked + 1, version.size / Self.mostChunks + 1)
    let most = chunkSize ?? usual.chunkSize * 3 / 2
    let length = parts?.chunkLength(near: usual.chunkSize, least: least, most: most) ?? usual.chunkSize
    var meaning = Interpretation.settled.with(notes: PartNotes.asked)
    meaning.division = ChunkLayout(size: version.size, chunkSize: length)
    return meaning
  }
}

/// The parts of an object, all of one length except the last.
struct StoredParts: Sendable, Hashable {
  /// In bytes.
  let length: Int64

  init(length: Int64) { self.length = length }

  static func areTold(_ reply: TransferReply) -> Bool {
    (200..<300).contains(reply.status) && reply.field("x-amz-mp-parts-count") != nil
  }

  /// The answer to a HEAD for the first of `count` parts of an object of `size` bytes; nil if it does not describe one,
  /// or parts that cannot all have its length. Source: "HeadObject", Amazon S3 API Reference (partNumber).
  init?(_ reply: TransferReply, of size: Int64, count: Int) {
    guard Self.areTold(reply), reply.field("x-amz-mp-parts-count").flatMap({ Int($0) }) == count else { return nil }
    let content = ContentRange(reply.fields[.contentRange])
    guard let length = content?.range?.length ?? GetProtocol.length(reply.fields), content?.size ?? size == size,
      length > 0, length <= size, (size - 1) / length + 1 == Int64(count)
    else { return nil }
    self.length = length
  }

  /// The length of as many parts as `wanted` bytes can hold; of one that is longer, but not longer than `most`; or of
  /// an equal fraction of one. nil if no such length is at least `least`, and near `wanted`.
  func chunkLength(near wanted: Int64, least: Int64, most: Int64) -> Int64? {
    if length <= wanted { return max(wanted / length, (least - 1) / length + 1) * length }
    if length <= most, length >= least { return length }
    let fewest = (length - 1) / wanted + 1
    return (fewest...(4 * fewest)).first { length % $0 == 0 }.map { length / $0 }.flatMap { $0 >= least ? $0 : nil }
  }
}

/// The note of a session whether the parts of its object are to be asked for.
enum PartNotes {
  private static let key = "parts", isWanted = "wanted"
  /// The marker of the question.
  static let marker = "parts"

  static let wanted = [key: isWanted]
  static let asked = [key: ""]

  static func areWanted(_ session: SessionFacts?) -> Bool { session?.notes[key] == isWanted }
}
