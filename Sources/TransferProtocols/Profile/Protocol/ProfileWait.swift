import TransferModel

/// The waits for a server that has not finished; nothing has failed yet.
struct ProfileWait: ProfileAnswerPart {
  let answer: ProfileAnswer

  /// A rule with a delay and a limit: the server is still processing, and nothing has failed yet.
  func waits(_ rule: ProfileRule, _ index: Int) -> Interpretation? {
    guard let delayMs = rule.delayMs, rule.most != nil, chunk == nil, reply.isAnswered, facts.session != nil else {
      return nil
    }
    let asked = RetryAfter.milliseconds(reply.fields, wallMs: context.wallMs)
    return isProcessing(afterMs: max(delayMs, asked ?? 0), asked: asked)
      .with(notes: [SessionNotes.count(answer.key, index): String(answer.followed(index) + 1)])
  }

  /// The profile says that this answer means "not yet", whatever its status means elsewhere: the wait is that of the
  /// file, and its host goes on. Only 429 is always about the number of requests (RFC 6585 section 4).
  private func isProcessing(afterMs: Int64, asked: Int64?) -> Interpretation {
    let meaning = Interpretation.notYet(afterMs: afterMs)
    guard reply.status == 429 else { return meaning }
    var throttling = answer.failure()
    throttling.retryAfterMs = asked
    return meaning.with(tolerated: .failure(throttling, isThrottled: true))
  }

  func polling(_ poll: PollRules) -> Interpretation {
    guard let name else { return .failed(answer.failure(), .permanent) }
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
