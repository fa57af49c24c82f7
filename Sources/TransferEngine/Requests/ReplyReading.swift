import TransferLedger
import TransferModel
import TransferProtocols

/// An answer and all that is needed to say what it means. A value, so that any thread may read it: a body of some size
/// is searched for secrets and parsed on a preparing thread while the loop goes on.
struct ReplyReading: Sendable {
  /// Bodies up to so many bytes are read by the loop itself: that costs less than handing them over.
  static let shortBody = 4 << 10

  struct Result: Sendable {
    /// Without secrets.
    var reply: TransferReply
    var meaning: Interpretation
    let bringsSecrets: Bool
  }

  let reply: TransferReply
  let mask: SecretMask
  /// Its success is read as it came, which stays in memory, and nothing of it is kept.
  let bringsSecrets: Bool
  let transferProtocol: ProtocolInUse
  var step: StepRequest
  let facts: TransferFacts
  var context: RequestContext
  /// What is known without the protocol.
  var meaning: Interpretation?
  var isBodyIncomplete = false
  /// Took the body of the answer, which is synced before anything is said of it.
  var region: TargetRegion?

  func read() -> Result {
    var settled = self
    settled.settle()
    return settled.readSettled()
  }

  private mutating func settle() {
    guard let region, meaning == nil else { return }
    if let failure = region.settle() { meaning = .failed(failure, .permanent) }
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

  /// Reads the pieces that are on the disk whole now.
  /// - Returns: whether the digest of the chunk was read there, too.
  private mutating func comparePieces(in region: TargetRegion) throws(Failure) -> Bool {
    guard let receiving = transferProtocol.bodiesInAnswers, let pieces = facts.file.expected.pieces,
      let file = region.file, region.taken > 0
    else { return false }
    let told =
      step.chunk != nil
      ? facts.layout.size
      : receiving.head(
        status: reply.status, reply.fields, wallMs: context.wallMs
      ).size ?? region.taken
    for piece in receiving.pieces(in: step, bytes: region.taken, size: told, facts) {
      let range = pieces.range(piece, of: told)
      let found = try file.digests(of: range, [pieces.algorithm], .never)[pieces.algorithm]
      if found != pieces[piece] { context.wrongPieces.append(piece) }
    }
    guard case .chunk(var chunk) = step, receiving.isReadAnew(step, facts) else { return false }
    let algorithm = transferProtocol.sentDigest
    chunk.digests[algorithm] = try file.digests(of: chunk.range, [algorithm], .never)[algorithm]
    step = .chunk(chunk)
    return true
  }

  private func readSettled() -> Result {
    var reply = reply
    // Before anybody makes a text of it: a cut secret would not be recognised any more.
    if !bringsSecrets || reply.status >= 300 { reply = mask.applied(to: reply) }
    var meaning = interpreted(reply)
    // The id stands in the receipt too.
    if let hidden = withoutNews(reply, meaning) { (reply, meaning) = (hidden, interpreted(hidden)) }
    meaning = masked(meaning, &reply)
    // A redirect names in full where it points to, which may be signed; a signed place quotes its signature in pieces.
    if (300..<400).contains(reply.status) || context.routeWhenSent?.place != nil { reply.body = [] }
    return Result(reply: reply, meaning: meaning, bringsSecrets: bringsSecrets)
  }

  private func interpreted(_ reply: TransferReply) -> Interpretation {
    if let meaning { return transferProtocol.weighed(meaning, to: step, facts, context) }
    var interpreted = reply
    if isBodyIncomplete { interpreted.isBodyIncomplete = true }
    // Not what was sent again.
    if let region { interpreted.bytesReceived = region.taken }
    return transferProtocol.interpret(interpreted, to: step, facts, context)
  }

  /// The reply without what its answer is the first to name, a session or a token, in the id of the request; nil when
  /// it is not there.
  private func withoutNews(_ reply: TransferReply, _ meaning: Interpretation) -> TransferReply? {
    let id = reply.serverRequestID
    guard !id.isEmpty else { return nil }
    let learned = bringsSecrets ? [meaning.learned].compactMap { $0 } : []
    var hidden = SecretMask(nil, learned, capabilities: meaning.capabilities).appliedToIDs(of: reply)
    if bringsSecrets { hidden = mask.appliedToIDs(of: hidden) }
    return hidden.serverRequestID == id ? nil : hidden
  }

  /// A failure in the words of a server that answered with success, without secrets.
  private func masked(_ meaning: Interpretation, _ reply: inout TransferReply) -> Interpretation {
    guard (200..<300).contains(reply.status), case .failed(var failure, let remedy) = meaning.outcome else {
      return meaning
    }
    // Whole, before it is cut for the record.
    reply.body = mask.applied(toExcerpt: Array(reply.body.prefix(2 * AttemptResult.excerptLimit)))
    failure.message = mask.applied(toMessage: failure.message)
    return meaning.with(.failed(failure, remedy))
  }
}
