import TransferLedger
import TransferModel
import TransferProtocols

/// An attempt that ended with a failure: ends its file, or lets it continue, and determines the changes of rows that
/// belong to the end of the attempt.
struct FailedAttempt {
  let request: BegunRequest
  let failure: Failure
  let action: FailureAction
  let retry: RetryDecision

  /// The outcome of the row of the attempt.
  static func outcome(_ failure: Failure, _ action: FailureAction, _ retry: RetryDecision) -> AttemptOutcome {
    if failure.code == .sourceChanged, action != .elsewhere { return .fatal }
    if failure.code == .policyDuplicate { return .interrupted }
    // Not an error: the request continues at another place, or never began.
    if action == .elsewhere && failure.code == .httpRedirect || failure.code == .authNeedsURL { return .interrupted }
    switch action {
    case .permanent: return .fatal
    case .unknown: return .unknown
    case .retry, .probe: return retry.isExhausted ? retry.mayBeStored ? .unknown : .fatal : .retry
    case .sessionGone: return retry.isExhausted ? .fatal : .retry
    case .repair, .refreshCredential, .hold, .elsewhere, .makeParents: return .retry
    }
  }

  func conclude(_ machine: inout FileMachine) -> [FileChange] {
    if failure.code == .sourceChanged, action != .elsewhere { return sourceChanged(&machine) }
    if failure.code == .policyDuplicate { return returned() }
    if failure.code == .sourceMissing, machine.isOfScan, machine.isNothingSent { return sourceGone(&machine) }
    if failure.isLostWrite { machine.sessionFate.lose(.useless) }
    switch action {
    case .retry: return retried(&machine)
    case .probe: return retried(&machine)
    case .repair, .refreshCredential:
      return machine.failureCounts.mayRepair() ? returned() : retried(&machine)
    case .hold:
      machine.end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: false))
      return returned()
    case .makeParents, .elsewhere: return returned()
    case .sessionGone: return sessionGone(&machine)
    case .permanent:
      return failedForGood(keepsSession: machine.bytesStored > 0 && failure.leavesUploadIntact, &machine)
    case .unknown: return leftUnknown(failure, &machine)
    }
  }

  private func returned() -> [FileChange] {
    guard case .chunk(let chunk, let attempt) = request.target else { return [] }
    return [.releaseChunk(chunk, attempt)]
  }

  private func retried(_ machine: inout FileMachine) -> [FileChange] {
    // A download without data has only an empty partial file; a listing has its page.
    let holdsSomething = machine.claimed.direction == .upload || machine.claimed.key.isFolder || machine.bytesStored > 0
    if retry.isExhausted, retry.mayBeStored { return leftUnknown(Failure(.protoLostAnswer, failure.message), &machine) }
    if retry.isExhausted { return failedForGood(keepsSession: holdsSomething, &machine) }
    if let shorter = retry.shorterLayout {
      machine.sessionFate.recut(shorter)
      machine.end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: false))
      return returned()
    }
    guard case .chunk(let chunk, let attempt) = request.target, !machine.isWhole, machine.abilities.parallelChunks
    else {
      machine.end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: true))
      return returned()
    }
    machine.requests.backOff(untilMs: retry.notBeforeMs)
    return [.retryChunk(chunk, attempt, notBeforeMs: retry.notBeforeMs)]
  }

  private func leftUnknown(_ failure: Failure, _ machine: inout FileMachine) -> [FileChange] {
    machine.end(.unknown(failure))
    guard case .chunk(let chunk, let attempt) = request.target else { return [] }
    return [.chunkUnknown(chunk, attempt)]
  }

  private func failedForGood(keepsSession: Bool, _ machine: inout FileMachine) -> [FileChange] {
    machine.end(.fail(failure, keepsSession: keepsSession))
    guard case .chunk(let chunk, let attempt) = request.target else { return [] }
    return [.failChunk(chunk, attempt)]
  }

  private func sessionGone(_ machine: inout FileMachine) -> [FileChange] {
    if retry.isExhausted { return failedForGood(keepsSession: false, &machine) }
    let isUseless = failure.code == .protoOffset
    // The server kept nothing of a body because that body failed, which has been counted already. This does not hold if
    // every body was accepted.
    let isCounted = isUseless && machine.failures > 0 && !machine.facts.isAllStored
    machine.end(.release(notBeforeMs: retry.notBeforeMs, failure.code, isFailure: !isCounted))
    // A session known to be useless still exists, and no request is completing it.
    if isUseless {
      machine.sessionFate.lose(.useless)
    } else if machine.facts.mayBeCompleting(after: failure, failures: machine.failures) {
      machine.sessionFate.keepLost()
    } else {
      machine.sessionFate.lose(.gone)
    }
    return returned()
  }

  /// Nothing of the file was sent, so a session that was intended for it does not exist.
  private func sourceGone(_ machine: inout FileMachine) -> [FileChange] {
    if machine.sessionID != nil { machine.sessionFate.lose(.gone) }
    machine.end(.gone("its source was deleted before anything of it was sent"))
    return returned()
  }

  private func sourceChanged(_ machine: inout FileMachine) -> [FileChange] {
    if machine.claimed.isCompared {
      machine.end(.fail(failure.ofCompared, keepsSession: false))
    } else if let identity = retry.identityNow, !retry.isRestless {
      machine.end(.supersede(identity, notBeforeMs: retry.notBeforeMs))
    } else {
      machine.end(.fail(failure, keepsSession: false))
    }
    return returned()
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
