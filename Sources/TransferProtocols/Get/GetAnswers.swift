import HTTPTypes
import TransferModel

extension GetProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    if step == .probe(marker: BlockNotes.marker) { return published(reply, facts, context) }
    switch step {
    case .probe(marker: PartNotes.marker) where !facts.file.key.isFolder: return divided(reply, facts, context)
    case .probe(marker: CompositeNotes.marker) where !facts.file.key.isFolder: return listed(reply, facts, context)
    default: break
    }
    if let failure = reply.transportFailure { return .failed(failure, FailureAction(transport: failure)) }
    if facts.file.key.isFolder { return source.page(reply, facts, context) }
    if case .probe = step { return described(reply, facts, context) }
    if let meaning = source.meaning(of: reply, facts, context) { return meaning }
    let answer = GetAnswer(reply: reply, facts: facts, context: context, get: self)
    switch step {
    case .create: return GetBeginning(answer: answer).interpretation
    case .chunk(let chunk): return GetBodyAnswer(answer: answer, chunk: chunk).interpretation
    case .probe, .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      return .failed(Failure(.engineBug, "\(name) has no request for \(step.operation)"), .permanent)
    }
  }

  func version(
    size: Int64, _ fields: HTTPFields, isWhole: Bool, _ context: RequestContext
  ) -> RemoteVersion {
    var version = RemoteVersion(size: size, fields, isWhole: isWhole, wallMs: context.wallMs)
    source.complete(&version, fields)
    if usesRemoteNames { version.givenName = ContentDisposition.name(fields[.contentDisposition]) }
    return version
  }
}
