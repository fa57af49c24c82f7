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
    guard let digest = region.digest() else { return }
    if case .chunk(var chunk) = step {
      chunk.digests[digest.algorithm] = digest
      step = .chunk(chunk)
    } else {
      context.receivedDigest = digest
    }
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
    if let meaning { return meaning }
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
