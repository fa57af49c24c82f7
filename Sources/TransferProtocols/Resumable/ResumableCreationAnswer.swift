import TransferModel

/// The answer to a request that creates an upload: an empty one, or one with the whole file, which a server without
/// resumable uploads stores like any other.
struct ResumableCreationAnswer {
  let answer: ResumableAnswer

  private var reply: TransferReply { answer.reply }
  private var facts: TransferFacts { answer.facts }
  private var context: RequestContext { answer.context }
  private var settings: ResumableSettings { answer.resumable.settings }

  /// A 104 contains the URL of the upload while its request is running. One with another version is ignored (section
  /// 2.1 of the reference).
  var interim: OpenedSession? {
    guard reply.status == 104,
      reply.field("upload-draft-interop-version") == answer.resumable.interop(facts).field,
      let url = try? location()
    else { return nil }
    return OpenedSession(remoteID: url, expiresAtMs: answer.expiresAtMs)
  }

  var empty: Interpretation {
    if answer.isComplete == true {
      return reply.isSuccess
        ? answer.badReply("it ended the upload before it began", .permanent) : .failed(answer.failure, .permanent)
    }
    guard reply.isSuccess else { return advised(answer.refused()) }
    return named { url, expiry in .opened(OpenedSession(remoteID: url, expiresAtMs: expiry)) }
  }

  func withBody(_ chunk: ChunkFacts) -> Interpretation {
    let isMade = facts.session?.remoteID != nil
    if isMade, let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    let interpreter = answer.resumable.bodyInterpreter(facts)
    if reply.isEarlySuccess { return interpreter.interpret(reply, chunk, facts, context) }
    let ending = ResumableFinalAnswer(answer: answer, chunk: chunk)
    switch answer.isComplete {
    case true?: return ending.interpretation
    case false? where reply.isSuccess:
      let unfinished = Failure(.protoOffset, "the server accepted the body and expects more")
      return named {
        .failed(unfinished, .probe).with(opened: OpenedSession(remoteID: $0, expiresAtMs: $1))
      }
    case nil where reply.isSuccess: return ending.interpretation
    default: break
    }
    if isMade { return ResumableBodyAnswer(answer: answer, chunk: chunk).refused() }
    return advised(interpreter.interpret(reply, chunk, facts, context))
  }

  /// The URL of the upload in a final answer; it must be the URL that a 104 contained.
  private func named(_ meaning: (String, Int64?) -> Interpretation) -> Interpretation {
    let heard = facts.session?.remoteID
    if let heard, reply.field("location") == nil { return meaning(heard, nil) }
    do throws(Failure) {
      let url = try location()
      guard heard == nil || heard == url else {
        throw Failure(.protoBadReply, "the server names two URLs for one upload")
      }
      return answer.noted(meaning(url, answer.expiresAtMs))
    } catch {
      return .failed(error, .permanent)
    }
  }

  private func location() throws(Failure) -> String {
    try SessionURL.read(reply, answer.resumable.place.origin, request: answer.resumable.target(facts))
  }

  /// Adds advice if the endpoint does not accept a request that creates an upload: many servers have one URL for all
  /// uploads, and some accept only other versions (tusd answers 412 to 8 and 9).
  private func advised(_ meaning: Interpretation) -> Interpretation {
    guard case .failed(var failure, .permanent) = meaning.outcome else { return meaning }
    switch reply.status {
    case 405:
      let method = settings.isPost ? "--method put" : "--method post"
      failure.message +=
        "; a server with one URL for all uploads takes \(method), or {path} in the query of the destination"
    case 412 where !settings.ifNoneMatch:
      failure.message += "; it may speak another version of resumable uploads: try --interop 6, or 5, 4, 3"
    default: return meaning
    }
    return .failed(failure, .permanent)
  }
}
