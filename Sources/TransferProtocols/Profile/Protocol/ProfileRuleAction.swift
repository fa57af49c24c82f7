import TransferModel

/// What a rule that matches makes of an answer.
struct ProfileRuleAction: ProfileAnswerPart {
  let answer: ProfileAnswer

  func follow(_ rule: ProfileRule, _ index: Int) throws -> Interpretation {
    var failure = reply.transportFailure ?? answer.failure(nil, rule.note)
    if let delayMs = rule.delayMs { failure.retryAfterMs = max(delayMs, failure.retryAfterMs ?? 0) }
    switch rule.action {
    case .ok: return try success.succeeded(isLenient: true)
    case .fail: return failed(failure)
    case .retry: return waiting.waits(rule, index) ?? refusals.again(failure)
    case .retryAfter: return .failed(failure, .retry(isThrottled: true))
    case .reprobe: return refusals.reprobe(failure) ?? failed(failure)
    case .skipChunk: return try skipped(failure)
    case .setOffset: return try moved(rule, failure)
    case .restartSession: return refusals.sessionGone(failure)
    case .refreshAuth: return refusals.unauthorised(Failure(.authExpired, failure.message))
    case .prepareAgain: return preparedAgain(rule, index, failure)
    case .makeParents: return .failed(failure, facts.parentsMade == nil ? .makeParents : .permanent)
    case .shrinkChunk: return .failed(chunk.map(refusals.tooLarge) ?? failure, .permanent)
    }
  }

  /// A deliberate refusal. If the last chunk was sent again after a lost answer, it may mean that the file exists.
  private func failed(_ failure: Failure) -> Interpretation {
    if step == .finish || step == .save, facts.lostAnswer == step.operation {
      let text = "\(failure.message), but the existing object may be ours: the answer to an earlier request was lost"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    if let chunk, chunk.isUncertain, answer.isLast(chunk), case .chunk = step, let meaning = refusals.ambiguous(failure)
    {
      return meaning
    }
    return .failed(failure, .permanent)
  }

  /// The server already has this chunk. For the last chunk, the next steps may need a value that only the lost answer
  /// had.
  private func skipped(_ failure: Failure) throws -> Interpretation {
    guard let chunk else { return .failed(failure, .permanent) }
    if case .chunk = step, !facts.mayHold(chunk, through: chunk.range.end),
      !ProfileUploadNames(profile: proto.profile).namesDigestOfChunk
    {
      return refusals.again(
        Failure(.protoOffset, "the server claims to have the chunk, which was not sent completely: \(failure.message)"))
    }
    let values = answer.extracted()
    if answer.isLast(chunk), case .chunk = step, answer.lacksRequired(values, [.result], of: chunk) {
      return refusals.ambiguous(failure) ?? .failed(ProfileAnswer.unsaid, .permanent)
    }
    return answer.noted(values.notes, .stored(answer.receipt(chunk, values.part, nil), proof: nil))
  }

  private func moved(_ rule: ProfileRule, _ failure: Failure) throws -> Interpretation {
    guard let chunk, let value = try rule.offset?.value(in: reader, scope), let offset = try? value.integer() else {
      return refusals.misshapen("the answer does not say where to continue")
    }
    return chunks.place(offset, chunk, values: ExtractedValues(), failure)
  }

  /// Discards the values of `prepare_chunk`, and runs it again.
  private func preparedAgain(_ rule: ProfileRule, _ index: Int, _ failure: Failure) -> Interpretation {
    guard case .chunk = step, answer.followed(index) < rule.most ?? 3 else { return .failed(failure, .permanent) }
    return .chunkPrepared([:]).with(notes: [SessionNotes.count(answer.key, index): String(answer.followed(index) + 1)])
  }
}
