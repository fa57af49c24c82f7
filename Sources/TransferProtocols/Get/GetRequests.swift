import HTTPTypes
import TransferModel

extension GetProtocol {
  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    if facts.file.key.isFolder { return try source.listing(ListingProgress(facts.session).next, facts, context) }
    if step == .probe(marker: BlockNotes.marker) { return try blocksRequest(facts, context) }
    let part = try part(step, facts, context)
    var request = try source.request(part, facts, context)
    request.removesCodings = part.isWhole && removesCodings(facts, context.learned)
    if step == .create, let condition = PastVersion.condition(facts, context, context.learned) {
      request.fields[condition.name] = condition.value
    }
    return request
  }

  private func part(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> GetPart {
    switch step {
    case .create:
      let isWhole = context.learned.refusesRanges || facts.file.expected.size == 0
      return .beginning(isWhole || removesCodings(facts, context.learned) ? nil : firstRange(facts, context))
    case .chunk(let chunk):
      guard chunk.isPart(of: facts) else { return .whole }
      // Without a validator if digests tie the ranges together.
      let validator = facts.file.expected.isTied ? RemoteVersion(facts.session)?.validator : try validator(facts)
      return .range(chunk.body, validator: validator)
    case .probe(marker: PartNotes.marker): return .firstPart
    case .probe(marker: CompositeNotes.marker): return .partList(after: CompositeNotes(facts.session)?.known ?? 0)
    case .probe: return .description(validator: try validator(facts))
    case .prepareChunk, .probeChunk, .discover, .finish, .save, .verify, .abort, .makeParent:
      throw Failure(.engineBug, "\(name) has no request for \(step.operation)")
    }
  }

  private func validator(_ facts: TransferFacts) throws(Failure) -> String {
    if let validator = RemoteVersion(facts.session)?.validator { return validator }
    throw Failure(.engineBug, "a version was requested without a validator")
  }
}

extension ChunkFacts {
  /// Whether the request asks for a range, not for the whole file.
  func isPart(of facts: TransferFacts) -> Bool { body.length < facts.layout.size }
}
