import TransferLedger
import TransferModel
import TransferProtocols

/// The running requests that abort sessions on their servers. Each has an attempt that was durable before the request
/// is begun here. Used by the engine's thread; results from other threads are posted as an ``Event``.
final class AbortRequests {
  enum Event: Sendable {
    case credential(RequestNumbers.Number, FreshCredentials.Answer)
    case replied(RequestNumbers.Number, TransferReply)
    case read(RequestNumbers.Number, ReplyReading.Result)
    case known(Result<Set<String>, TransferError>, ListedSessions)
  }

  /// How a request ended; its attempt is still open in the ledger.
  enum End {
    /// Another request about the same session follows.
    case next(AbortRun, after: AttemptResult)
    /// No further request is sent in this run. The session gets the state; if that is nil, the session stays for the
    /// next run.
    case over(AbortWork, AttemptResult, SessionState?)
  }

  private let around: SessionAborts.Surroundings
  private var running: [RequestNumbers.Number: AbortRun] = [:]
  /// Batches without a credential: no further credential is requested for them in this run.
  private var without: [BatchID: Failure] = [:]

  init(_ around: SessionAborts.Surroundings) { self.around = around }

  var count: Int { running.count }

  /// Cancels the requests that were sent.
  func cancel() {
    for (id, abort) in running {
      try? around.batches.destination(of: abort.work.batch).resolved.transport.cancel(ExchangeID(rawValue: id))
    }
  }

  /// Cancels the requests that were sent, because their connections have probably died in a sleep; each is repeated.
  func endBySleep() {
    for id in running.keys where running[id]?.isSent == true { running[id]?.endsBySleep = true }
    cancel()
  }

  /// - Returns: the end of the request, if this was its last event.
  func handle(_ event: Event) -> End? {
    switch event {
    case .credential(let id, let answer): return send(id, answer)
    case .replied(let id, let reply): return replied(id, reply)
    case .read(let id, let read): return wasRead(id, read)
    case .known(let result, let listed): return sessionsAreKnown(result, listed)
    }
  }

  /// Requests the credential for the next request, which is sent when the credential is available.
  func begin(_ abort: AbortRun) -> End? {
    if let failure = without[abort.work.batch] { return .over(abort.work, Self.withoutCredential(failure), nil) }
    do throws(TransferError) {
      let destination = try around.batches.destination(of: abort.work.batch)
      let id = around.numbers.next()
      running[id] = abort.unsent
      let report = around.report
      around.credentials.get(from: destination.resolved.credentials) { report(.request(.credential(id, $0))) }
      return nil
    } catch {
      return .over(abort.work, AttemptResult(outcome: .fatal, code: .engineBug, message: "\(error)"), nil)
    }
  }

  /// The server still has the session: it is aborted when there are credentials.
  private static func withoutCredential(_ failure: Failure) -> AttemptResult {
    AttemptResult(outcome: .fatal, code: failure.code, message: failure.message)
  }

  private func send(_ id: RequestNumbers.Number, _ answer: FreshCredentials.Answer) -> End? {
    guard var abort = running.removeValue(forKey: id), let step = abort.step else { return nil }
    if around.stop.isStopping {
      return .over(abort.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
    }
    do throws(Failure) {
      abort.credential = try answer.get()
    } catch {
      if error.code != .engineInterrupted { without[abort.work.batch] = error }
      return .over(abort.work, Self.withoutCredential(error), nil)
    }
    return send(id, abort, step)
  }

  private func send(_ id: RequestNumbers.Number, _ abort: AbortRun, _ step: StepRequest) -> End? {
    do {
      let destination = try around.batches.destination(of: abort.work.batch)
      let context = RequestContext(
        wallMs: around.engine.clock.civilMs, credential: abort.credential, learned: destination.learned)
      var facts = abort.facts
      facts.learned = destination.learned
      var request = try destination.resolved.transferProtocol.request(step, facts, context)
      request.credentialLabel = destination.resolved.credentials.label
      running[id] = abort
      running[id]?.isSent = true
      let report = around.report
      destination.resolved.transport.start(ExchangeID(rawValue: id), request) { report(.request(.replied(id, $0))) }
      return nil
    } catch {
      let failure = error as? Failure
      let result = AttemptResult(
        outcome: .fatal, code: failure?.code ?? .engineBug, message: failure?.message ?? "\(error)")
      // A request that cannot be made now cannot be made later either.
      return .over(abort.work, result, failure == nil ? nil : .gone)
    }
  }

  private func replied(_ id: RequestNumbers.Number, _ reply: TransferReply) -> End? {
    guard let abort = running[id], let step = abort.step,
      let destination = try? around.batches.destination(of: abort.work.batch)
    else { return nil }
    if abort.endsBySleep, !reply.isAnswered || reply.curlCode != 0 { return slept(id, abort) }
    if reply.isCancelled && !reply.isAnswered {
      running[id] = nil
      return .over(abort.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
    }
    let mask = SecretMask(
      abort.credential, [destination.learned], capabilities: abort.facts.capabilities(nil) + abort.remaining)
    let context = RequestContext(
      wallMs: around.engine.clock.civilMs, credential: nil, learned: destination.learned)
    let reading = ReplyReading(
      reply: reply, mask: mask, bringsSecrets: false, transferProtocol: destination.resolved.transferProtocol,
      step: step,
      facts: abort.facts, context: context)
    guard reply.body.count > ReplyReading.shortBody else { return wasRead(id, reading.read()) }
    let report = around.report
    around.pool.read({ reading.read() }, then: { report(.request(.read(id, $0))) })
    return nil
  }

  /// Whichever came first, our end or the error of a connection that had died: the server did not refuse anything.
  private func slept(_ id: RequestNumbers.Number, _ abort: AbortRun) -> End {
    running[id] = nil
    let result = AttemptResult(outcome: .interrupted, code: .engineSlept)
    return around.stop.isStopping ? .over(abort.work, result, nil) : .next(abort.unsent, after: result)
  }

  private func wasRead(_ id: RequestNumbers.Number, _ read: ReplyReading.Result) -> End? {
    guard let abort = running[id], let destination = try? around.batches.destination(of: abort.work.batch) else {
      return nil
    }
    destination.learn(from: read.meaning)
    guard let listed = ListedSessions(id, read.meaning, read.reply) else {
      return conclude(id, read.meaning, read.reply)
    }
    let report = around.report
    listed.askWhichAreKnown(around.engine.ledger) { report(.request(.known($0, listed))) }
    return nil
  }

  private func sessionsAreKnown(_ result: Result<Set<String>, TransferError>, _ listed: ListedSessions) -> End? {
    if case .failure(let error) = result { around.stop.fail(error) }
    return conclude(listed.request, listed.meaning(without: result), listed.reply)
  }

  /// Continues according to the meaning of the answer.
  private func conclude(_ id: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply) -> End? {
    guard var abort = running.removeValue(forKey: id) else { return nil }
    switch meaning.outcome {
    case .settled: abort.remaining.removeLast()
    case .unlistedUploads(let ids, let next):
      abort.remaining += ids
      abort.marker = next
      abort.isListed = next == nil
    default:
      let wallMs = around.engine.clock.wallMs
      let retry = RetryDecision(notBeforeMs: wallMs, isExhausted: false)
      let state: SessionState? = meaning.isRefusalForGood ? .gone : nil
      return .over(abort.work, AttemptResult(meaning, reply, retry, wallMs: wallMs), state)
    }
    var result = AttemptResult(outcome: .ok)
    result.fill(from: reply)
    return abort.step == nil ? .over(abort.work, result, .aborted) : .next(abort, after: result)
  }
}

extension Interpretation {
  /// The server will never do it, and other credentials would not help.
  fileprivate var isRefusalForGood: Bool {
    guard case .failed(let failure, .permanent) = outcome else { return false }
    return failure.code.category != .auth
  }
}
