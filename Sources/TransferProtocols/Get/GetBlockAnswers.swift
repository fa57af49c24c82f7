import TransferModel

/// The meaning of answers to the request for published checksums of blocks. None of them fails the file, which can do
/// without; each says how its host is, like any other answer.
extension GetProtocol {
  func published(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    if let failure = reply.transportFailure ?? reply.answerFailure {
      return unanswered(reply, failure, facts, context)
    }
    if needsFreshCredential(reply, facts, context) {
      let failure = Failure(.http4xx, "the server answered \(reply.status) to the request for the .zsync file")
      return .failed(failure, .refreshCredential).with(notes: BlockNotes.again)
    }
    switch StatusClass(reply.status) {
    case .throttled, .retry: return busy(reply, facts, context)
    default: break
    }
    switch reply.status {
    case 200: return Self.read(reply, facts, context)
    case 404, 410: return Self.refused("the server has none", context)
    case 300..<400: return Self.refused("the server redirects to another place", context)
    case 401: return Self.refused("the server answered 401", context, isForAll: true)
    default: return Self.refused("the server answered \(reply.status)", context)
    }
  }

  private static func read(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    var meaning: Interpretation
    do throws(ZsyncFault) {
      if reply.isBodyTruncated { throw ZsyncFault("it is too long") }
      let blocks = try ZsyncReader.read(reply.body)
      guard blocks.size == facts.layout.size else { throw ZsyncFault("it is for a file of \(blocks.size) bytes") }
      guard isBound(blocks, facts, wallMs: context.wallMs) else {
        throw ZsyncFault("nothing shows that it belongs to this version of the file")
      }
      meaning = .settled
      meaning.blocks = blocks
    } catch {
      meaning = unused(error.cause)
    }
    guard context.learned.blockRefusals > 0 else { return meaning }
    var learned = context.learned
    learned.blockRefusals = 0
    return meaning.with(learned: learned)
  }

  /// Whether a file that has the published digest cannot be another version than that of the first answer. A server may
  /// still have the checksums of the version before, which may have the same length.
  private static func isBound(_ blocks: PublishedBlocks, _ facts: TransferFacts, wallMs: Int64) -> Bool {
    guard let version = RemoteVersion(facts.session) else { return false }
    if !version.digests.isEmpty || !facts.file.expected.digests.isEmpty { return true }
    guard version.isDateStrong, let modified = version.modified, let other = blocks.modified else { return false }
    let time = HTTPDate.parse(modified, wallMs: wallMs)
    return time != nil && time == HTTPDate.parse(other, wallMs: wallMs)
  }

  // MARK: - No answer, or a refusal

  /// A time-out is not waited for twice. Without a connection nothing was asked, and the file needs one, too.
  private func unanswered(
    _ reply: TransferReply, _ failure: Failure, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard !reply.isCancelled, reply.requestMayHaveArrived else {
      return .failed(failure, FailureAction(transport: failure))
    }
    let isTimeout = failure.code == .netTimeout || failure.code == .netStalled
    let meaning = isTimeout ? nil : Self.later(1_000, facts)
    return (meaning ?? Self.refused(failure.message, context, isForAll: isTimeout))
      .with(tolerated: .failure(failure))
  }

  /// The same credential is sent as for the file, and may have expired since: it is obtained again, once.
  private func needsFreshCredential(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext
  ) -> Bool {
    guard context.credential != nil, !BlockNotes.areWantedAgain(facts.session) else { return false }
    if reply.status == 401 { return true }
    guard case .failed(_, .refreshCredential)? = source.meaning(of: reply, facts, context)?.outcome else {
      return false
    }
    return true
  }

  /// Only 429 and `Retry-After` are about the host: a server may be unable to send just these files.
  private func busy(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext) -> Interpretation {
    let failure = Failure(answer: reply, wallMs: context.wallMs)
    let isPause = StatusClass(reply.status) == .throttled && failure.retryAfterMs != nil
    let afterMs = failure.retryAfterMs ?? 1_000
    // While the host pauses, the file waits in any case.
    let meaning = isPause || afterMs <= Self.longestWaitMs ? Self.later(afterMs, facts) : nil
    return (meaning ?? Self.refused(failure.message, context, isForAll: true))
      .with(tolerated: isPause || reply.status == 429 ? .failure(failure, isThrottled: true) : .answer)
  }

  private static let longestWaitMs: Int64 = 60_000

  /// The request is sent once more. Not a failure of the file; nil if it was sent twice.
  private static func later(_ afterMs: Int64, _ facts: TransferFacts) -> Interpretation? {
    guard !BlockNotes.areWantedAgain(facts.session) else { return nil }
    return .notYet(afterMs: max(1_000, afterMs)).with(notes: BlockNotes.again)
  }

  /// After some refusals in a row none is requested in this run; at once if the server refuses more than this one.
  private static func refused(
    _ cause: String, _ context: RequestContext, isForAll: Bool = false
  ) -> Interpretation {
    var learned = context.learned
    learned.blockRefusals = isForAll ? LearnedFacts.mostBlockRefusals : learned.blockRefusals + 1
    let isLast = learned.refusesBlocks && !context.learned.refusesBlocks
    return unused(cause + (isLast ? "; this run requests no more .zsync files there" : "")).with(learned: learned)
  }

  private static func unused(_ cause: String) -> Interpretation {
    var meaning = Interpretation.settled.with(notes: BlockNotes.unused).with(tolerated: .answer)
    meaning.remark = "its .zsync is not used, and all of it is fetched: \(cause)"
    return meaning
  }
}
