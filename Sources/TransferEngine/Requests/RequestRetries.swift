import TransferLedger
import TransferModel
import TransferProtocols

/// Whether and when a request is repeated after its end, and with which layout. Owner of the ``Retries``. Used by the
/// engine's thread.
struct RequestRetries {
  private let engine: Engine
  private let hosts: Hosts
  private var retries: Retries

  init(_ engine: Engine, _ hosts: Hosts) {
    (self.engine, self.hosts) = (engine, hosts)
    retries = Retries(engine.configuration.retry)
  }

  /// The source of a file changed, and a new generation superseded it.
  mutating func superseded(_ file: FileID, by successor: FileID) { retries.superseded(file, by: successor) }

  /// Decides after a request of a file ended with this meaning. `loss` is the answer of a request that was lost on its
  /// way.
  mutating func decide(
    _ pending: PendingRequest, _ meaning: Interpretation, _ loss: TransferReply?, _ identityNow: SourceIdentity?,
    _ machine: FileMachine
  ) -> RetryDecision {
    guard let (failure, action) = pending.step.failure(meaning), pending.inquiry?.isFound != true else {
      return RetryDecision(notBeforeMs: engine.wallMs, isExhausted: false)
    }
    let isThrottled = if case .retry(isThrottled: let flag) = action { flag } else { false }
    let failures = pending.step.failuresBefore(meaning, action, machine)
    let drop = loss.flatMap { cutOff($0, pending, machine) }
    let budgetMs =
      action.costsBudget ? hosts.chargeRetry(pending, isThrottled: isThrottled, isLoss: loss != nil) : 0
    var retry = retries.decide(
      failure, isThrottled: isThrottled, of: pending.file, number: failures + 1, drop: drop, budgetMs: budgetMs,
      nowMs: engine.wallMs)
    retry.identityNow = identityNow
    if failure.awaitsNextRun(action) { retry.notBeforeMs = engine.wallMs + RetryPolicy.nextRunMs }
    return retry
  }

  /// The loss of a body that was cut off while others arrive. If only the answer was lost, another connection would not
  /// help: a repetition costs the whole body, and may leave another upload on the server.
  private func cutOff(_ loss: TransferReply, _ pending: PendingRequest, _ machine: FileMachine) -> Retries.Drop? {
    let abilities = machine.abilities
    // The parts of a whole file that could be sent in parallel are one request, about which nothing is asked.
    let isQueried = abilities.queriesChunks && !(abilities.parallelChunks && machine.isWhole)
    guard pending.range != nil, loss.isBodyCutOff(isQueried: isQueried),
      let gate = hosts.gate(pending.destination.host),
      gate.dropsNow
    else { return nil }
    return Retries.Drop(lossesInARow: gate.lossesInARow, wasUnderWay: loss.wasUnderWay)
  }

  /// A shorter layout for a file of which hardly anything is stored, on a connection that lost several bodies of this
  /// length and let none through.
  func shorterLayout(_ pending: PendingRequest, _ machine: FileMachine) -> ChunkLayout? {
    guard pending.range != nil, machine.isHardlyStored, machine.facts.isPlanned,
      let gate = hosts.gate(pending.destination.host), gate.isLossy,
      gate.lossesInARow >= 2 || pending.step.failures >= 2,
      let shorter = try? pending.destination.resolved.transferProtocol.layoutOfShortChunks(
        size: machine.facts.layout.size),
      shorter.chunkSize < machine.facts.layout.chunkSize, shorter.count > machine.facts.layout.count
    else { return nil }
    return shorter
  }
}

extension Failure {
  /// Only a person can help, in this run.
  func awaitsNextRun(_ action: FailureAction) -> Bool {
    code == .authNeedsURL || action == .hold && (isOfFullDisk || code == .policyLimit)
  }
}

extension BegunRequest {
  /// The failure that caused the retry; nil if there was none.
  fileprivate func failure(_ meaning: Interpretation) -> (Failure, FailureAction)? {
    switch meaning.outcome {
    case .failed(let failure, let action): (failure, action)
    case .advanced(let acked): tinyProgress(to: acked).map { ($0, .retry(isThrottled: false)) }
    default: nil
    }
  }

  /// How many failures in a row this one follows. A lost session counts against the file, whichever of its chunks
  /// reported it. So does a body of which hardly anything was stored: what was stored resets the count of its chunk.
  fileprivate func failuresBefore(_ meaning: Interpretation, _ action: FailureAction, _ machine: FileMachine) -> Int {
    if case .advanced = meaning.outcome { return max(failures, machine.failures) }
    return action == .sessionGone ? max(failures, machine.failures) : failures
  }
}

extension TransferReply {
  /// The longest body that the buffers of this machine may hold as a whole, in bytes: it counts as sent as soon as it
  /// is there, and when the connection is lost then, the body may be what was lost, or the answer.
  static let longestBuffered: Int64 = 256 << 10

  /// The body of the request was not sent completely, or that of the answer was received in part.
  /// - Parameter isQueried: the server is asked what it has before a body is sent again. Then a short one that it got
  ///   is never repeated, so one that is repeated was cut off.
  func isBodyCutOff(isQueried: Bool) -> Bool {
    isBodyIncomplete || bytesSent == 0 && bytesReceived > 0
      || isQueried && (1...Self.longestBuffered).contains(bytesSent)
  }

  /// Bytes moved for a while before the connection was lost: waiting would not make the next connection last longer.
  fileprivate var wasUnderWay: Bool { bytesMoved >= BodyProgress.enough && timing.totalMs >= 200 }
}

extension FailureAction {
  var isRetry: Bool {
    switch self {
    case .retry, .probe, .sessionGone: true
    case .repair, .elsewhere, .makeParents, .refreshCredential, .hold, .permanent, .unknown: false
    }
  }

  /// A server that no longer knows uploads, for example after a restart, answers at once and is not overloaded: sending
  /// again is new work.
  fileprivate var costsBudget: Bool { isRetry && self != .sessionGone }
}
