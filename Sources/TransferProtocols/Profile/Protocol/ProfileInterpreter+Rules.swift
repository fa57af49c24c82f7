import TransferModel

/// Applies a matching rule to an answer.
extension ProfileInterpreter {
  func follow(_ rule: ProfileRule, _ index: Int) throws -> Interpretation {
    var failure = reply.transportFailure ?? self.failure(nil, rule.note)
    if let delayMs = rule.delayMs { failure.retryAfterMs = max(delayMs, failure.retryAfterMs ?? 0) }
    switch rule.action {
    case .ok: return try succeeded(isLenient: true)
    case .fail: return failed(failure)
    case .retry: return waits(rule, index) ?? again(failure)
    case .retryAfter: return .failed(failure, .retry(isThrottled: true))
    case .reprobe: return reprobe(failure) ?? failed(failure)
    case .skipChunk: return try skipped(failure)
    case .setOffset: return try moved(rule, failure)
    case .restartSession: return sessionGone(failure)
    case .refreshAuth: return unauthorised(Failure(.authExpired, failure.message))
    case .prepareAgain: return preparedAgain(rule, index, failure)
    case .makeParents: return .failed(failure, facts.parentsMade == nil ? .makeParents : .permanent)
    case .shrinkChunk: return .failed(chunk.map(tooLarge) ?? failure, .permanent)
    }
  }

  /// A deliberate refusal. If the last chunk was sent again after a lost answer, it may mean that the file exists.
  private func failed(_ failure: Failure) -> Interpretation {
    if step == .finish || step == .save, facts.lostAnswer == step.operation {
      let text = "\(failure.message), but the existing object may be ours: the answer to an earlier request was lost"
      return .failed(Failure(.protoLostAnswer, text), .unknown)
    }
    if let chunk, chunk.isUncertain, isLast(chunk), case .chunk = step, let meaning = ambiguous(failure) {
      return meaning
    }
    return .failed(failure, .permanent)
  }

  /// A rule with a delay and a limit: the server is still processing, and nothing has failed yet.
  private func waits(_ rule: ProfileRule, _ index: Int) -> Interpretation? {
    guard let delayMs = rule.delayMs, rule.most != nil, chunk == nil, reply.isAnswered, facts.session != nil else {
      return nil
    }
    let asked = RetryAfter.milliseconds(reply.fields, wallMs: context.wallMs)
    return isProcessing(afterMs: max(delayMs, asked ?? 0), asked: asked)
      .with(notes: [SessionNotes.count(key, index): String(followed(index) + 1)])
  }

  /// The profile says that this answer means "not yet", whatever its status means elsewhere: the wait is that of the
  /// file, and its host goes on. Only 429 is always about the number of requests (RFC 6585 section 4).
  private func isProcessing(afterMs: Int64, asked: Int64?) -> Interpretation {
    let meaning = Interpretation.notYet(afterMs: afterMs)
    guard reply.status == 429 else { return meaning }
    var throttling = failure()
    throttling.retryAfterMs = asked
    return meaning.with(tolerated: .failure(throttling, isThrottled: true))
  }

  /// The server already has this chunk. For the last chunk, the next steps may need a value that only the lost answer
  /// had.
  private func skipped(_ failure: Failure) throws -> Interpretation {
    guard let chunk else { return .failed(failure, .permanent) }
    if case .chunk = step, !facts.mayHold(chunk, through: chunk.range.end), !proto.namesDigestOfChunk {
      return again(
        Failure(.protoOffset, "the server claims to have the chunk, which was not sent completely: \(failure.message)"))
    }
    let values = extracted()
    if isLast(chunk), case .chunk = step, lacksRequired(values, [.result], of: chunk) {
      return ambiguous(failure) ?? .failed(Self.unsaid, .permanent)
    }
    return noted(values.notes, .stored(receipt(chunk, values.part, nil), proof: nil))
  }

  static let unsaid = Failure(
    .protoLostAnswer, "the server has the chunk, but does not repeat the value that the next step needs")

  /// Whether a value that only the answer to `chunk` contains is neither in `values` nor known.
  func lacksRequired(_ values: ExtractedValues, _ scopes: Set<ExtractTarget.Scope>, of chunk: ChunkFacts) -> Bool {
    let scope = proto.scope(facts, context, chunk: chunk)
    return proto.profile.step(.chunk)?.extract.contains { target in
      guard scopes.contains(target.scope), target.extraction.isRequired,
        (try? target.extraction.isWanted(scope)) != false
      else { return false }
      if target.scope == .part { return values.part[target.name] == nil && chunk.remote[target.name] == nil }
      let name = SessionNotes.result(target.name)
      return values.notes[name] == nil && notes.texts[name] == nil
    } ?? false
  }

  private func moved(_ rule: ProfileRule, _ failure: Failure) throws -> Interpretation {
    guard let chunk, let value = try rule.offset?.value(in: reader, scope), let offset = try? value.integer() else {
      return misshapen("the answer does not say where to continue")
    }
    return place(offset, chunk, values: ExtractedValues(), failure)
  }

  /// Discards the values of `prepare_chunk`, and runs it again.
  private func preparedAgain(_ rule: ProfileRule, _ index: Int, _ failure: Failure) -> Interpretation {
    guard case .chunk = step, followed(index) < rule.most ?? 3 else { return .failed(failure, .permanent) }
    return .chunkPrepared([:]).with(notes: [SessionNotes.count(key, index): String(followed(index) + 1)])
  }

  // MARK: - Polling

  func polling(_ poll: PollRules) -> Interpretation {
    guard let name else { return .failed(failure(), .permanent) }
    let since = notes.pollsSinceMs(name) ?? context.wallMs
    guard context.wallMs - since < poll.maxMs else {
      let text = "the server was not done after \((context.wallMs - since) / 1000) s"
      return .failed(Failure(.netTimeout, text), .permanent)
    }
    let asked = poll.honoursRetryAfter ? RetryAfter.milliseconds(reply.fields, wallMs: context.wallMs) : nil
    return isProcessing(afterMs: asked ?? poll.everyMs, asked: asked)
      .with(notes: [SessionNotes.poll(name): String(since)])
  }
}
