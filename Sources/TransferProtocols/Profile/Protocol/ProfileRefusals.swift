import TransferModel

/// The meaning of failures for which there is no rule.
struct ProfileRefusals: ProfileAnswerPart {
  let answer: ProfileAnswer

  /// No answer was received.
  func lost(_ failure: Failure) -> Interpretation {
    let action = FailureAction(transport: failure)
    guard reply.requestMayHaveArrived, case .retry = action else { return .failed(failure, action) }
    return uncertain(failure, action)
  }

  /// The request may have taken effect: it is repeated if that is harmless, the server is queried if that is possible,
  /// and otherwise the file is unknown.
  func uncertain(_ failure: Failure, _ action: FailureAction) -> Interpretation {
    switch step {
    case .chunk(let chunk): return uncertain(chunk, failure, action)
    case .finish, .save:
      guard let name, proto.profile.step(name)?.isIdempotent == false, !progress.isQuestion(name) else {
        return .failed(failure, action)
      }
      return proto.canAskAboutEnd(name) ? .failed(failure, .probe) : unknown(failure)
    default: return .failed(failure, action)
    }
  }

  private func uncertain(_ chunk: ChunkFacts, _ failure: Failure, _ action: FailureAction) -> Interpretation {
    if proto.profile.chunk.isIdempotent {
      // The chunk may have completed the file: this is queried before the chunk is sent again.
      let mayBeLast = proto.profile.chunk.mode == .parallel || answer.isLast(chunk)
      let isAsked =
        mayBeLast && progress.canVerify && (progress.endsWithChunks || proto.profile.verifiesContent)
      return .failed(failure, isAsked ? .probe : action)
    }
    if proto.isAlways(.probeChunk) { return .failed(failure, .probe) }
    if proto.canAskAboutChunks { return .failed(failure, .probe).with(notes: [SessionNotes.probe: "1"]) }
    guard answer.isLast(chunk) else { return unknown(failure) }
    return ambiguous(failure) ?? unknown(failure)
  }

  /// `other` is the step whose outcome is uncertain, if it is not this one.
  func unknown(_ failure: Failure, _ other: StepName? = nil) -> Interpretation {
    let what = (other ?? name)?.rawValue ?? "request"
    let text = "the answer to the \(what) was lost, and it may have taken effect: \(failure.message)"
    return .failed(Failure(.protoLostAnswer, text), .unknown)
  }

  /// The profile's reaction if the answer to the last chunk was lost and sending it again did not help; nil for no
  /// special reaction.
  func ambiguous(_ failure: Failure) -> Interpretation? {
    guard let chunk else { return nil }
    switch proto.profile.onAmbiguousLast {
    case .resend: return nil
    case .probe: return .failed(failure, .probe).with(notes: [SessionNotes.probe: "1"])
    case .commitAnyway:
      return facts.mayHold(chunk, through: chunk.range.end) ? .stored(answer.receipt(chunk, [:], nil), proof: nil) : nil
    case .restart: return sessionGone(failure)
    case .fail: return unknown(failure)
    }
  }

  /// A status that is not a success.
  func refused() -> Interpretation {
    if let chunk, chunk.isUncertain, answer.isLast(chunk), case .chunk = step, StatusClass(reply.status) == .permanent,
      let meaning = ambiguous(answer.failure())
    {
      return meaning
    }
    switch StatusClass(reply.status) {
    case .throttled where reply.mayHideSuccess(context): return uncertain(answer.failure(), .retry(isThrottled: true))
    case .throttled: return .failed(answer.failure(), .retry(isThrottled: true))
    // The storage is full: a retry does not free space.
    case .retry where reply.status == 507: return permanent()
    case .retry where reply.status >= 500 || reply.saysNothing:
      return uncertain(answer.failure(), .retry(isThrottled: false))
    case .permanent where reply.saysNothing: return uncertain(answer.failure(), .permanent)
    case .retry: return again(answer.failure())
    case .redirect where reply.mayFollowSuccess && rules.method == "POST": return uncertain(elsewhere, .permanent)
    case .redirect: return .failed(elsewhere, .permanent)
    case .success where reply.status == 202: return uncertain(answer.failure(.protoBadReply, Self.accepted), .permanent)
    case .success where reply.answersAnother: return uncertain(answer.failure(.protoBadReply, Self.another), .permanent)
    case .success:
      return .failed(answer.failure(.protoBadReply, "the profile does not count that as a success"), .permanent)
    case .permanent: return refusedForGood()
    }
  }

  /// RFC 9110 section 15.3.3.
  private static let accepted =
    "it accepted the request without reporting an outcome; the profile must list 202 under success"

  private static let another = "it does not report the outcome of the request; see success in the profile"

  private var elsewhere: Failure { Failure(redirect: reply, remedy: "the profile must name it") }

  private func refusedForGood() -> Interpretation {
    switch (reply.status, step) {
    case (404, .verify), (410, .verify):
      return progress.isEnded ? verification.missing(answer.failure()) : .absent
    case (400, .verify), (403, .verify), (405, .verify), (501, .verify):
      return verification.inconclusive(answer.failure())
    case (404, .save), (410, .save): return permanent()
    case (404, .abort), (410, .abort): return .settled
    case (404, .makeParent), (410, .makeParent): return permanent()
    case (401, _): return unauthorised(answer.failure(.authRefused))
    case (404, _), (410, _):
      if case .create = step { return permanent() }
      return facts.session?.remoteID == nil ? permanent() : sessionGone(answer.failure())
    case (416, .chunk): return reprobe(answer.failure(.protoOffset)) ?? permanent()
    case (413, .chunk(let chunk)): return .failed(tooLarge(chunk), .permanent)
    case (511, _): return .failed(answer.failure(nil, "the network may require a login"), .permanent)
    default: return permanent()
    }
  }

  private func permanent() -> Interpretation { .failed(answer.failure(), .permanent) }

  func tooLarge(_ chunk: ChunkFacts) -> Failure {
    answer.failure(
      nil, "it does not accept chunks of \(chunk.body.length) bytes: push the file again with a smaller --part-size")
  }

  /// Repeats the step after a while.
  func again(_ failure: Failure) -> Interpretation { .failed(failure, .retry(isThrottled: false)) }

  /// Queries what the server has before anything else is sent; nil if it cannot be queried.
  func reprobe(_ failure: Failure) -> Interpretation? {
    guard proto.profile.step(.probe) != nil else { return nil }
    return .failed(failure, .probe).with(notes: [SessionNotes.probe: "1"])
  }

  /// Secrets may have expired: they are fetched by `auth.refresh`, or reloaded, once.
  func unauthorised(_ failure: Failure) -> Interpretation {
    if proto.profile.auth.refresh != nil, name != nil {
      // The answer to a parallel request has already triggered a refresh: this one is repeated with the new secrets.
      let isDue = context.learned.discovered?[ProfileProtocol.refreshIsDue] != nil
      let isOld = context.learnedWhenSent.map { $0.secrets != context.learned.secrets } ?? false
      if isDue || isOld { return .failed(failure, .repair) }
      guard context.learned.discovered?[ProfileProtocol.refreshes(facts.file.uid)] == nil else {
        return .failed(failure, .permanent)
      }
      var learned = context.learned
      learned.discovered = (learned.discovered ?? [:]).merging(
        [ProfileProtocol.refreshIsDue: "1", ProfileProtocol.refreshes(facts.file.uid): "1"]) { $1 }
      return .failed(failure, .repair).with(learned: learned)
    }
    let isFirst = failures == 0 && proto.profile.inputs.contains(where: proto.trust.isHidden)
    return .failed(failure, isFirst ? .refreshCredential : .permanent)
  }

  /// Starts a new session, at most twice without progress in between. Parallel chunks may all report the end of the
  /// same session: it counts once. If every chunk is stored, the engine first queries whether the upload is complete,
  /// because the server may still be processing it.
  func sessionGone(_ refusal: Failure) -> Interpretation {
    if let name = nameInDoubt { return unknown(refusal, name) }
    // The session would also be gone if the file had been completed; the server does not tell which.
    if facts.lostAnswer == .part, facts.inconclusive.contains(.verify), progress.isLastMissing,
      progress.endsWithChunks
    {
      return unknown(refusal, .chunk)
    }
    var gone = refusal
    if gone.code != .integrityMismatch && gone.code != .protoOffset { gone.code = .protoSessionGone }
    if facts.mayBeCompleting(after: gone, failures: failures) { return .failed(gone, .sessionGone) }
    let key = ProfileProtocol.restarts(facts.file.uid)
    let known = context.learned.discovered?[key]?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
    let count = known.first.flatMap { Int($0) } ?? 0
    // Not the session's ID, which may be the same each time.
    let session = facts.session.map { String($0.intendedAtMs) } ?? ""
    if known.count == 2 && known[1] == session { return .failed(gone, .sessionGone) }
    // If the session was not opened by a request, its end usually means that the place does not exist.
    let most = step == .finish && proto.profile.step(.begin) == nil ? 1 : ProfileProtocol.mostRestarts
    guard count < most else {
      let text = "the session was restarted \(count) times without progress: \(refusal.message)"
      return answer.forgetting([key], .failed(Failure(refusal.code, text), .permanent))
    }
    var learned = context.learned
    learned.discovered = (learned.discovered ?? [:]).merging([key: "\(count + 1) \(session)"]) { $1 }
    return .failed(gone, .sessionGone).with(learned: learned)
  }

  /// The last step whose answer was lost, if its success may have ended the session: the outcome is unknown, and a
  /// second upload would be completed a second time.
  private var nameInDoubt: StepName? {
    guard facts.isAllStored, facts.lostAnswer == .finish, let name = proto.finishName,
      proto.profile.step(name)?.isIdempotent == false, !proto.isAlways(.verify), progress.isPending(name)
    else { return nil }
    return name
  }

  /// The body is not what the profile expects: a proxy, a login page, a crash. Treated as a gateway error.
  func misshapen(_ message: String) -> Interpretation {
    let failure = Failure(
      .protoBadReply, "\(message) (status \(reply.status))",
      retryAfterMs: RetryAfter.milliseconds(reply.fields, wallMs: context.wallMs))
    return uncertain(failure, .retry(isThrottled: false))
  }
}

extension ProfileProtocol {
  static let mostRestarts = 2
  /// How many times a complete file may be missing before that counts as final.
  static let mostLooks = 4

  static func restarts(_ uid: UID) -> String { "restarts.\(uid)" }
  static func refreshes(_ uid: UID) -> String { "refreshed.\(uid)" }
}
