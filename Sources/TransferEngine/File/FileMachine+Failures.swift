import TransferLedger
import TransferModel
import TransferProtocols

extension FileMachine {
  /// Repairs (region, clock, checksums, credentials) in a row before they count as a failure.
  static let repairLimit = 3
  /// Consecutive failures after which a dropped session fails the file.
  private static let dropLimit = 10

  mutating func failed(
    _ job: JobStep, _ failure: Failure, _ remedy: Remedy, _ retry: RetryDecision
  ) -> [FileChange] {
    let failure = claimed.staged == nil ? failure : failure.ofCopy
    if failure.code == .sourceChanged, remedy != .elsewhere { return sourceChanged(job, failure, retry) }
    if failure.code == .policyDuplicate { return returned(job) }
    if failure.code == .sourceMissing, isOfScan, isNothingSent { return sourceGone(job) }
    if failure.isLostWrite { sessionFate.lose(.useless) }
    switch remedy {
    case .retry: return retried(job, failure, retry)
    case .probe: return retried(job, failure, retry)
    case .repair, .refreshCredential:
      repairsInARow += 1
      if repairsInARow > Self.repairLimit { return retried(job, failure, retry) }
      return returned(job)
    case .hold:
      end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: false))
      return returned(job)
    case .makeParents, .elsewhere: return returned(job)
    case .sessionGone:
      return sessionGone(job, failure, retry)
    case .permanent:
      return failedForGood(job, failure, keepsSession: bytesStored > 0 && failure.leavesUploadIntact)
    case .unknown: return leftUnknown(job, failure)
    }
  }

  /// The outcome of the attempt row for a failure that ``failed(_:_:_:_:)`` will handle.
  static func outcome(_ failure: Failure, _ remedy: Remedy, _ retry: RetryDecision) -> AttemptOutcome {
    if failure.code == .sourceChanged, remedy != .elsewhere { return .fatal }
    if failure.code == .policyDuplicate { return .interrupted }
    // Not an error: the request continues at another place, or never began.
    if remedy == .elsewhere && failure.code == .httpRedirect || failure.code == .authNeedsURL { return .interrupted }
    switch remedy {
    case .permanent: return .fatal
    case .unknown: return .unknown
    case .retry, .probe: return retry.isExhausted ? retry.mayBeStored ? .unknown : .fatal : .retry
    case .sessionGone: return retry.isExhausted ? .fatal : .retry
    case .repair, .refreshCredential, .hold, .elsewhere, .makeParents: return .retry
    }
  }

  private func returned(_ job: JobStep) -> [FileChange] {
    guard case .chunk(let chunk, let attempt) = job.target else { return [] }
    return [.releaseChunk(chunk, attempt)]
  }

  private mutating func retried(_ job: JobStep, _ failure: Failure, _ retry: RetryDecision) -> [FileChange] {
    // A download without data has only an empty partial file; a listing has its page.
    let holdsSomething = claimed.direction == .upload || claimed.key.isFolder || bytesStored > 0
    if retry.isExhausted, retry.mayBeStored { return leftUnknown(job, Failure(.protoLostAnswer, failure.message)) }
    if retry.isExhausted { return failedForGood(job, failure, keepsSession: holdsSomething) }
    if let shorter = retry.shorterLayout {
      sessionFate.recut(shorter)
      end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: false))
      return returned(job)
    }
    guard case .chunk(let chunk, let attempt) = job.target, !isWhole, abilities.parallelChunks else {
      end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: true))
      return returned(job)
    }
    requests.backOff(untilMs: retry.notBeforeMs)
    return [.retryChunk(chunk, attempt, notBeforeMs: retry.notBeforeMs)]
  }

  private mutating func leftUnknown(_ job: JobStep, _ failure: Failure) -> [FileChange] {
    end(.unknown(failure))
    guard case .chunk(let chunk, let attempt) = job.target else { return [] }
    return [.chunkUnknown(chunk, attempt)]
  }

  private mutating func failedForGood(_ job: JobStep, _ failure: Failure, keepsSession: Bool) -> [FileChange] {
    end(.fail(failure, keepsSession: keepsSession))
    guard case .chunk(let chunk, let attempt) = job.target else { return [] }
    return [.failChunk(chunk, attempt)]
  }

  private mutating func sessionGone(_ job: JobStep, _ failure: Failure, _ retry: RetryDecision) -> [FileChange] {
    if retry.isExhausted { return failedForGood(job, failure, keepsSession: false) }
    let isUseless = failure.code == .protoOffset
    // The server kept nothing of a body because that body failed, which has been counted already. This does not hold if
    // every body was accepted.
    let isCounted = isUseless && failures > 0 && !facts.isAllStored
    end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: !isCounted))
    // A session known to be useless still exists, and no request is completing it.
    if isUseless {
      sessionFate.lose(.useless)
    } else if facts.mayBeCompleting(after: failure, failures: failures) {
      sessionFate.keepLost()
    } else {
      sessionFate.lose(.gone)
    }
    return returned(job)
  }

  /// Running requests of an ending file are useless, unless it was only released (a pause, a drain, a deadline).
  var othersAreInVain: Bool {
    if sessionFate != .kept { return true }
    guard case .release(_, _, isFailure: false)? = ending else { return ending != nil }
    return false
  }

  /// The protocol sees no further step.
  mutating func endWithoutStep(_ failure: Failure, _ proto: ProtocolInUse) -> [FileChange] {
    if openCount == 0, let renewal = proto.places?.renewal(after: failure, facts) { return renewed(renewal, failure) }
    end(.fail(failure, keepsSession: false))
    return []
  }

  /// The same with what a person can do if the file was to be repaired, and other content came than that recorded.
  func explained(_ reason: FileEnding) -> FileEnding {
    guard case .fail(let failure, let keepsSession) = reason, failure.code == .integrityMismatch,
      let past = facts.past, past.isSuspect, facts.file.expected.saysContent, past.meets(facts.file.expected)
    else { return reason }
    let text = "\(failure.message); that is not what was fetched before, and \"transfers pull --overwrite\" takes it"
    return .fail(Failure(failure.code, text), keepsSession: keepsSession)
  }

  /// The protocol gives up the session. This counts as a failure, so that a server whose sessions expire at once does
  /// not keep us busy forever.
  mutating func dropSession(_ failure: Failure, nowMs: Int64) {
    sessionFate.lose(.gone)
    guard failures < Self.dropLimit else { return end(.fail(failure, keepsSession: false)) }
    let delay: Int64 = failures == 0 ? 0 : 1_000 << Int64(min(failures, 6))
    end(.release(notBeforeMs: nowMs + delay, failure.code, isFailure: true))
  }

  /// Another file has delivered the same content. Nothing of this one was sent, so a session that was intended for it
  /// does not exist.
  mutating func isDuplicate(of original: DeliveredFile) {
    if sessionID != nil { sessionFate.lose(.gone) }
    end(.duplicate(original))
  }

  /// Nothing of the file was sent, so a session that was intended for it does not exist.
  private mutating func sourceGone(_ job: JobStep) -> [FileChange] {
    if sessionID != nil { sessionFate.lose(.gone) }
    end(.gone("its source was deleted before anything of it was sent"))
    return returned(job)
  }

  private mutating func sourceChanged(_ job: JobStep, _ failure: Failure, _ retry: RetryDecision) -> [FileChange] {
    if claimed.isCompared {
      end(.fail(failure.ofCompared, keepsSession: false))
    } else if let identity = retry.identityNow, !retry.isRestless {
      end(.supersede(identity, notBeforeMs: retry.notBeforeMs))
    } else {
      end(.fail(failure, keepsSession: false))
    }
    return returned(job)
  }
}

extension Failure {
  /// The same for a file that was compared with a list or a plan.
  fileprivate var ofCompared: Failure {
    Failure(code, message + "; it was compared with a list or a plan, and is sent when it is added again")
  }

  /// The cause is unrelated to the data that is stored: `retry` can continue once it is removed.
  fileprivate var leavesUploadIntact: Bool {
    switch code {
    case _ where isLostWrite: false
    case .sourceMissing, .sourceDenied, .sourceIO, .http507: true
    default: code.category == .auth || code.category == .local || code.category == .network
    }
  }
}
