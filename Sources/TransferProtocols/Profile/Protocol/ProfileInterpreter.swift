import TransferModel

extension ProfileProtocol {
  package func interpret(
    _ reply: TransferReply, to step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) -> Interpretation {
    guard let (name, described) = described(step) else {
      return .failed(Failure(.engineBug, "the profile has no step to \(step.operation.rawValue)"), .permanent)
    }
    let url = (try? request(step, facts, context).url) ?? inputs["url"] ?? ""
    let answer = ProfileAnswer(
      proto: self, step: step, name: name, rules: described, reply: reply, reader: ReplyReader(reply, url: url),
      facts: facts, context: context, scope: values.scope(step, facts, context))
    return ProfileInterpreter(answer: answer).interpretation()
  }
}

/// Interprets one answer.
///
/// The order is: the rules of the step, the common rules, a missing answer, `poll`, `success`. Otherwise
/// ``StatusClass`` determines the meaning.
struct ProfileInterpreter: ProfileAnswerPart {
  let answer: ProfileAnswer

  func interpretation() -> Interpretation {
    let found: Interpretation
    do {
      found = try meaning()
    } catch let fault as Extraction.Fault {
      found = refusals.misshapen(fault.message)
    } catch let fault as RenderFault {
      found = .failed(fault.failure, .permanent)
    } catch {
      found = .failed(Failure(.engineBug, "\(error)"), .permanent)
    }
    return remembering(found)
  }

  private func meaning() throws -> Interpretation {
    if let (index, rule) = try matchingRule() { return try ProfileRuleAction(answer: answer).follow(rule, index) }
    if let failure = reply.transportFailure { return refusals.lost(failure) }
    if step.isProbeOfChunk, let meaning = try chunks.probedChunk() { return meaning }
    // An answer without the compared value does not end the polling.
    if let poll = rules.poll, try poll.condition.holds(reader, scope, earlier: [], countsNothing: true) {
      return waiting.polling(poll)
    }
    guard rules.success.status.contains(reply.status) || isAcceptedAndVerified else { return refusals.refused() }
    if let meaning = try checks.unmetRequirement() { return meaning }
    return try success.succeeded()
  }

  /// 202 leaves the outcome open, and `verify` queries it.
  private var isAcceptedAndVerified: Bool {
    reply.status == 202 && (step == .finish || step == .save) && proto.isAlways(.verify)
  }

  /// The first rule that matches and was not applied too often. If no answer was received, only rules for that case can
  /// match.
  private func matchingRule() throws -> (Int, ProfileRule)? {
    let earlier = notes.seen(answer.key)
    for (index, rule) in (rules.rules + proto.profile.errors).enumerated() {
      if reply.transportFailure != nil && rule.condition.curl == nil { continue }
      if let most = rule.most, max(answer.followed(index), rule.action.countsAsFailure ? failures : 0) >= most {
        continue
      }
      if try rule.condition.holds(reader, scope, earlier: earlier) { return (index, rule) }
    }
    return nil
  }

  /// Statuses are remembered if a rule asks for earlier ones; a success clears them.
  private func remembering(_ meaning: Interpretation) -> Interpretation {
    let asks = (rules.rules + proto.profile.errors).contains { $0.condition.seen != nil }
    guard asks, reply.isAnswered, facts.session != nil else { return meaning }
    let seen = notes.seen(answer.key).union([reply.status]).sorted().map(String.init).joined(separator: ",")
    return meaning.with(notes: [SessionNotes.seen(answer.key): meaning.goesOn ? seen : ""])
  }
}

extension StepRequest {
  var isProbeOfChunk: Bool { if case .probeChunk = self { true } else { false } }
}

extension Interpretation {
  /// Whether the same step is repeated.
  fileprivate var goesOn: Bool {
    switch outcome {
    case .failed, .notYet: true
    default: false
    }
  }
}

extension ProfileRule.Action {
  /// Whether the attempt counts as one without progress.
  fileprivate var countsAsFailure: Bool {
    switch self {
    case .retry, .retryAfter, .reprobe, .restartSession, .setOffset: true
    case .ok, .skipChunk, .refreshAuth, .prepareAgain, .makeParents, .shrinkChunk, .fail: false
    }
  }
}
