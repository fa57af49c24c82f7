import TransferLedger
import TransferModel
import TransferProtocols

/// An answer and everything needed to interpret it. A value, so that any thread may process it: a longer body is
/// searched for secrets and parsed on another thread while the loop continues.
struct ReplyReading: Sendable {
  /// Bodies up to this many bytes are processed by the loop itself, which is cheaper than passing them on.
  static let shortBody = 4 << 10

  struct Result: Sendable {
    /// Without secrets.
    var reply: TransferReply
    var meaning: Interpretation
    let bringsSecrets: Bool
  }

  let reply: TransferReply
  let mask: SecretMask
  /// A successful answer is parsed unmasked in memory, and nothing of it is stored.
  let bringsSecrets: Bool
  let transferProtocol: ProtocolInUse
  var step: StepRequest
  let facts: TransferFacts
  var context: RequestContext
  /// The meaning if it is known without the protocol.
  var meaning: Interpretation?
  var isBodyIncomplete = false
  /// Received the body of the answer; it is synced before the answer is interpreted.
  var region: TargetRegion?

  func read() -> Result {
    var settled = self
    settled.settle()
    return settled.readSettled()
  }

  private mutating func settle() {
    guard let region, meaning == nil else { return }
    if let failure = region.settle() { return meaning = .failed(failure, failure.remedyOfTarget) }
    do throws(Failure) {
      if try comparePieces(in: region) { return }
    } catch {
      meaning = .failed(error, .permanent)
    }
    guard let digest = region.digest() else { return }
    if case .chunk(var chunk) = step {
      chunk.digests[digest.algorithm] = digest
      step = .chunk(chunk)
    } else {
      context.receivedDigest = digest
    }
  }

  /// Reads back and compares the pieces that are now complete on the disk.
  /// - Returns: whether the digest of the chunk was computed in the same read.
  private mutating func comparePieces(in region: TargetRegion) throws(Failure) -> Bool {
    guard let receiving = transferProtocol.bodiesInAnswers, let file = region.file, region.taken > 0 else {
      return false
    }
    if let pieces = facts.file.expected.pieces { try compare(pieces, in: region, file, receiving) }
    // Of a body that ended early, nothing behind the received bytes is there yet.
    guard case .chunk(var chunk) = step, region.taken == region.range.length, receiving.isReadAnew(step, facts) else {
      return false
    }
    let algorithm = transferProtocol.sentDigest
    chunk.digests[algorithm] = try file.digests(of: chunk.range, [algorithm], .never)[algorithm]
    step = .chunk(chunk)
    return true
  }

  private mutating func compare(
    _ pieces: PieceDigests, in region: TargetRegion, _ file: TargetFile, _ receiving: any BodiesInAnswers
  ) throws(Failure) {
    let told =
      step.chunk != nil
      ? facts.layout.size
      : receiving.head(status: reply.status, reply.fields, facts).size ?? region.taken
    for piece in receiving.pieces(in: step, bytes: region.taken, size: told, facts) {
      let range = pieces.range(piece, of: told)
      let found = try file.digests(of: range, [pieces.algorithm], .never)[pieces.algorithm]
      if found != pieces[piece] { context.wrongPieces.append(piece) }
    }
  }

  private func readSettled() -> Result {
    var reply = reply
    // Masked before any text is made from it: a truncated secret would not be recognised.
    if !bringsSecrets || reply.status >= 300 { reply = mask.applied(to: reply) }
    var meaning = interpreted(reply)
    // The receipt also contains the ID.
    if let hidden = withoutNews(reply, meaning) { (reply, meaning) = (hidden, interpreted(hidden)) }
    meaning = masked(meaning, &reply)
    // A redirect contains its full target, which may be signed; a signed server quotes parts of its signature.
    if (300..<400).contains(reply.status) || context.routeWhenSent?.place != nil { reply.body = [] }
    return Result(reply: reply, meaning: meaning, bringsSecrets: bringsSecrets)
  }

  private func interpreted(_ reply: TransferReply) -> Interpretation {
    if let meaning { return transferProtocol.weighed(meaning, to: step, facts, context) }
    var interpreted = reply
    if isBodyIncomplete { interpreted.isBodyIncomplete = true }
    // Without bytes that were received again.
    if let region { interpreted.bytesReceived = region.taken }
    let found = transferProtocol.interpret(interpreted, to: step, facts, context)
    guard case .failed(let failure, .retry) = found.outcome else { return found }
    if interpreted.hasOverlongHeader, case .chunk = step { return found.asUnusableSuccess }
    guard interpreted.isUnusableSuccess else { return found }
    // Every other step may have made something at the server each time.
    guard case .chunk = step else { return found.with(.failed(failure, .permanent)) }
    return found.asUnusableSuccess
  }

  /// The reply with a new session or token of its answer masked in the request ID; nil if the ID does not contain it.
  private func withoutNews(_ reply: TransferReply, _ meaning: Interpretation) -> TransferReply? {
    let id = reply.serverRequestID
    guard !id.isEmpty else { return nil }
    let learned = bringsSecrets ? [meaning.learned].compactMap { $0 } : []
    var hidden = SecretMask(nil, learned, capabilities: meaning.capabilities).appliedToIDs(of: reply)
    if bringsSecrets { hidden = mask.appliedToIDs(of: hidden) }
    return hidden.serverRequestID == id ? nil : hidden
  }

  /// The text of a failure from a server that answered with success, without secrets.
  private func masked(_ meaning: Interpretation, _ reply: inout TransferReply) -> Interpretation {
    var meaning = meaning
    meaning.remark = meaning.remark.map { mask.applied(toMessage: $0) }
    guard (200..<300).contains(reply.status), case .failed(var failure, let action) = meaning.outcome else {
      return meaning
    }
    // Masked as a whole, before it is truncated for the attempt row.
    reply.body = mask.applied(toExcerpt: Array(reply.body.prefix(2 * AttemptResult.excerptLimit)))
    failure.message = mask.applied(toMessage: failure.message)
    return meaning.with(.failed(failure, action))
  }
}

extension TransferReply {
  /// The header of the answer is too long to be read, so that not even its status is known.
  fileprivate var hasOverlongHeader: Bool { status == 0 && (curlCode == 23 || curlCode == 100) && bodyFailure == nil }

  /// The server reports success with a field that is too long to be kept. It would probably do so again after another
  /// body.
  fileprivate var isUnusableSuccess: Bool { (200..<300).contains(status) && !isAnswered && !isEarlySuccess }
}
