import TransferModel

/// Answers to requests that create an upload.
extension ResumableProtocol {
  /// A 104 contains the URL of the upload while its request is running. One with another version is ignored (section
  /// 2.1 of the reference).
  package func interpretInterim(
    _ reply: InterimReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> OpenedSession? {
    guard reply.status == 104, isMaking(step, facts) else { return nil }
    var answer = TransferReply()
    (answer.status, answer.fields) = (reply.status, reply.fields)
    guard answer.field("upload-draft-interop-version") == interop(facts).field,
      let url = try? SessionURL.read(answer, place.origin, request: target(facts))
    else { return nil }
    return OpenedSession(remoteID: url, expiresAtMs: expiry(answer, context))
  }

  private func isMaking(_ step: StepRequest, _ facts: TransferFacts) -> Bool {
    switch step {
    case .create: true
    case .chunk: facts.session != nil && facts.session?.remoteID == nil
    default: false
    }
  }

  func interpretCreate(_ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext)
    -> Interpretation
  {
    if interop(facts).isComplete(reply) == true {
      let isSuccess = reply.isSuccess
      return isSuccess
        ? .badReply(reply, "it ended the upload before it began", .permanent, context)
        : .failed(failure(reply, context), .permanent)
    }
    guard reply.isSuccess else { return advised(refused(reply, context), reply) }
    return named(reply, facts, context) { url, expiry in .opened(OpenedSession(remoteID: url, expiresAtMs: expiry)) }
  }

  /// The URL of the upload in a final answer; it must be the URL that a 104 contained.
  private func named(
    _ reply: TransferReply, _ facts: TransferFacts, _ context: RequestContext,
    _ meaning: (String, Int64?) -> Interpretation
  ) -> Interpretation {
    let heard = facts.session?.remoteID
    if let heard, reply.field("location") == nil { return meaning(heard, nil) }
    do throws(Failure) {
      let url = try SessionURL.read(reply, place.origin, request: target(facts))
      guard heard == nil || heard == url else {
        throw Failure(.protoBadReply, "the server names two URLs for one upload")
      }
      return noted(reply, facts, context, meaning(url, expiry(reply, context)))
    } catch {
      return .failed(error, .permanent)
    }
  }

  /// Interprets the answer to a request with the whole file, either to an upload or by a server without resumable
  /// uploads.
  func interpretCreateWithBody(
    _ reply: TransferReply, _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    let isMade = facts.session?.remoteID != nil
    if isMade, let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    if reply.isEarlySuccess { return bodyInterpreter(facts).interpret(reply, chunk, facts, context) }
    switch interop(facts).isComplete(reply) {
    case true?: return ended(reply, chunk, facts, context)
    case false? where reply.isSuccess:
      let unfinished = Failure(.protoOffset, "the server accepted the body and expects more")
      return named(reply, facts, context) {
        .failed(unfinished, .probe).with(opened: OpenedSession(remoteID: $0, expiresAtMs: $1))
      }
    case nil where reply.isSuccess: return ended(reply, chunk, facts, context)
    default: break
    }
    if isMade { return refusedAppend(reply, chunk, facts, context) }
    return advised(bodyInterpreter(facts).interpret(reply, chunk, facts, context), reply)
  }

  /// Adds advice if the endpoint does not accept a request that creates an upload: many servers have one URL for all
  /// uploads, and some accept only other versions (tusd answers 412 to 8 and 9).
  private func advised(_ meaning: Interpretation, _ reply: TransferReply) -> Interpretation {
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

  func bodyInterpreter(_ facts: TransferFacts) -> BodyInterpreter {
    BodyInterpreter(
      isRepeatable: !settings.isPost, ifNoneMatch: settings.ifNoneMatch,
      acceptsPage: settings.answers.acceptsPage(for: settings.mediaType.type(of: facts.file.key)),
      accepts202: settings.answers.accepts202)
  }
}
