import TransferLedger
import TransferModel
import TransferProtocols

/// What a failed request costs, and when it is tried again.
extension EngineLoop {
  func decide(
    _ job: Job, _ meaning: Interpretation, _ loss: TransferReply?, _ identityNow: SourceIdentity?,
    _ machine: FileMachine
  ) -> RetryDecision {
    guard let (failure, remedy) = Self.failure(job, meaning) else {
      return RetryDecision(notBeforeMs: wallMs, isExhausted: false)
    }
    let throttled = if case .retry(isThrottled: let flag) = remedy { flag } else { false }
    if job.inquiry?.isFound == true { return RetryDecision(notBeforeMs: wallMs, isExhausted: false) }
    let policy = engine.configuration.retry
    // A session belongs to the file, whichever of its chunks says that it is gone.
    let number = (remedy == .sessionGone ? max(job.step.failures, machine.failures) : job.step.failures) + 1
    let dropping = loss == nil ? nil : hosts.gate(job.destination.host).flatMap { $0.dropsNow ? $0 : nil }
    let inARow = dropping.map { loss?.wasUnderWay == true ? 1 : max(1, $0.lossesInARow) } ?? number
    var delay = policy.delayMs(
      afterFailure: min(number, inARow), isThrottled: throttled, retryAfterMs: failure.retryAfterMs, using: &dice)
    if remedy.costsBudget {
      delay += hosts.chargeRetry(job, isThrottled: throttled, isLoss: loss != nil)
    }
    let changed = changes[job.file] ?? 0
    if failure.code == .sourceChanged { delay = 1_000 << Int64(min(changed, 6)) }
    let most = dropping == nil ? policy.maxAttempts : policy.maxAttempts * Self.patienceWithDrops
    return RetryDecision(
      notBeforeMs: wallMs + delay, isExhausted: number >= most, identityNow: identityNow,
      isRestless: changed >= Self.sourceChangeLimit)
  }

  /// For a file of which hardly anything is stored, on a line that lost several bodies of its kind and let none
  /// through.
  func shorterLayout(_ job: Job, _ machine: FileMachine) -> ChunkLayout? {
    guard job.range != nil, machine.isHardlyStored, machine.facts.isPlanned,
      let gate = hosts.gate(job.destination.host), gate.isLossy, gate.lossesInARow >= 2 || job.step.failures >= 2,
      let shorter = try? job.destination.resolved.transferProtocol.layoutOfShortChunks(size: machine.facts.layout.size),
      shorter.chunkSize < machine.facts.layout.chunkSize, shorter.count > machine.facts.layout.count
    else { return nil }
    return shorter
  }

  private static func failure(_ job: Job, _ meaning: Interpretation) -> (Failure, Remedy)? {
    switch meaning.outcome {
    case .failed(let failure, let remedy): (failure, remedy)
    case .advanced(let acked): FileMachine.tinyProgress(job.step, to: acked).map { ($0, .retry(isThrottled: false)) }
    default: nil
    }
  }

  /// Generations of one source in one run before it is given up: a log that is written all the time must not keep a run
  /// alive for ever.
  static let sourceChangeLimit = 3

  /// So many times as often may a body be lost while others arrive.
  private static let patienceWithDrops = 3

  func applyRemedy(_ remedy: Remedy, _ work: FileWork) {
    if remedy == .refreshCredential {
      work.destination.resolved.credentials.refresh()
    }
  }

  func noteFailure(
    _ job: Job, _ failure: Failure, _ outcome: AttemptOutcome, _ retry: RetryDecision,
    _ machine: FileMachine
  ) {
    guard outcome == .retry else { return }
    tally.retried(machine, failure, failures: job.step.failures + 1, dueMs: retry.notBeforeMs)
  }
}

extension TransferReply {
  /// Bytes moved for a while before the connection was lost: to wait would not make the next one live longer.
  fileprivate var wasUnderWay: Bool { bytesSent >= BodyProgress.enough && timing.totalMs >= 200 }
}

extension Remedy {
  var isRetry: Bool {
    switch self {
    case .retry, .probe, .sessionGone: true
    case .repair, .makeParents, .refreshCredential, .hold, .permanent, .unknown: false
    }
  }

  /// A server that has forgotten uploads, as after a restart, answers at once and is not overloaded: what is sent again
  /// then is new work.
  fileprivate var costsBudget: Bool { isRetry && self != .sessionGone }
}
