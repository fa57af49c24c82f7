public import TransferModel

/// Files with mirrors. What several servers say about their files does not show which of them has the right bytes. So
/// they serve one file together only if digests tie it together: either each range is compared with digests of pieces
/// before it counts, or the whole file is compared before it gets its name. Otherwise a file stays with the server that
/// sent its first bytes.
extension GetProtocol: SeveralPlaces {
  private func mirrors(_ facts: TransferFacts) -> Mirrors {
    Mirrors(facts, location: source.location(ofKey: facts.file.key))
  }

  package func place(for step: StepRequest, _ facts: TransferFacts, open: [Int: Int]) -> Int {
    let expected = facts.file.expected
    guard !expected.mirrors.isEmpty else { return 0 }
    let mirrors = mirrors(facts)
    let choice = mirrors.choice(facts.learned)
    guard case .chunk = step else { return choice.first ?? 0 }
    guard expected.isTied else { return mirrors.lead }
    guard expected.pieces != nil else { return choice.contains(mirrors.lead) ? mirrors.lead : choice.first ?? 0 }
    // The fastest place is idle most often.
    return choice.min { open[$0] ?? 0 < open[$1] ?? 0 } ?? 0
  }

  public func host(of place: Int, _ facts: TransferFacts) -> String? {
    guard place > 0, place <= facts.file.expected.mirrors.count else { return nil }
    return WebOrigin(url: facts.file.expected.mirrors[place - 1])?.authority
  }

  /// The failure if no place is left to request the file from; otherwise nil.
  func exhausted(_ facts: TransferFacts) -> Failure? {
    guard !facts.file.expected.mirrors.isEmpty, !mirrors(facts).hasAble(facts.learned, [:]) else { return nil }
    return Failure(.integrityMismatch, "each of its mirrors sent wrong bytes, or does not have it")
  }

  package func weighed(
    _ meaning: Interpretation, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard !facts.file.expected.mirrors.isEmpty else { return meaning }
    var meaning = meaning
    meaning.mirror = facts.mirror
    switch meaning.outcome {
    case .failed(let failure, let action): return passedOver(meaning, failure, action, facts, context)
    case .begun, .stored, .advanced, .pieceStored:
      let isLead = if case .begun = meaning.outcome { true } else { false }
      return meaning.with(notes: mirrors(facts).noteContent(from: facts.mirror, isLead: isLead))
    default: return meaning
    }
  }

  private func passedOver(
    _ meaning: Interpretation, _ failure: Failure, _ action: FailureAction, _ facts: TransferFacts,
    _ context: RequestContext
  ) -> Interpretation {
    let mirrors = mirrors(facts)
    var failure = failure
    if action != .elsewhere {
      failure.message = "\(WebOrigin(url: mirrors.origin(facts.mirror))?.authority ?? ""): \(failure.message)"
    }
    guard Self.isOfPlace(failure, action, meaning, facts) else { return meaning.with(.failed(failure, action)) }
    if meaning.chunkNotes != nil, !meaning.provesWrong { return meaning.with(.failed(failure, .elsewhere)) }
    let isFinal = meaning.provesWrong || action == .permanent
    let notes = mirrors.noteFailure(of: facts.mirror, isFinal: isFinal)
    var learned = context.learned
    if meaning.provesWrong { learned.mistrusted.insert(mirrors.origin(facts.mirror)) }
    if failure.code.category == .network { learned.failing.insert(mirrors.origin(facts.mirror)) }
    let passed = meaning.with(learned: learned)
    if mirrors.hasOther(learned, notes) { return passed.with(.failed(failure, .elsewhere)).with(notes: notes) }
    guard mirrors.hasAble(learned, notes) else { return passed.with(.failed(failure, .permanent)).with(notes: notes) }
    let retry = if case .retry = action { action } else { FailureAction.retry(isThrottled: false) }
    return passed.with(.failed(failure, retry)).with(notes: mirrors.forgetFailures(notes))
  }

  /// Whether another place may do better. The stored bytes of a file that no digests tie together belong to one place
  /// only.
  private static func isOfPlace(
    _ failure: Failure, _ action: FailureAction, _ meaning: Interpretation, _ facts: TransferFacts
  ) -> Bool {
    guard facts.file.expected.isTied || facts.acked == 0 else { return false }
    switch failure.code.category {
    case .network, .server, .auth, .source: break
    default: return false
    }
    return switch action {
    case .retry, .permanent, .refreshCredential, .probe: true
    // This place would be asked for the whole file; another one may send ranges.
    case .repair: facts.mirror > 0 && meaning.learned?.refusesRanges == true
    case .elsewhere, .makeParents, .hold, .sessionGone, .unknown: false
    }
  }

  public func renewal(after failure: Failure, _ facts: TransferFacts) -> [String: String]? {
    guard failure.code == .integrityMismatch else { return nil }
    if let notes = BlockNotes.renewal(facts.session) { return notes }
    guard !facts.file.expected.mirrors.isEmpty else { return nil }
    return mirrors(facts).renewal
  }
}
