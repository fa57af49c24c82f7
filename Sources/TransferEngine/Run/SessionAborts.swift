import TransferLedger
import TransferModel
import TransferProtocols

/// Ends sessions at their servers whose files were given up: before the first claim, when no file is left, and when
/// people call files off meanwhile. Each request has an attempt of its own, which is durable before it is sent. Used by
/// the engine's thread; what happens elsewhere comes back as an ``Event``.
final class SessionAborts {
  enum Event: Sendable {
    case claimed(Result<[AbortWork], TransferError>)
    case credential(RequestNumbers.Number, FreshCredentials.Answer)
    case replied(RequestNumbers.Number, TransferReply)
    case read(RequestNumbers.Number, ReplyReading.Result)
    case known(Result<Set<String>, TransferError>, ListedSessions)
    case begun(Result<AbortWork, TransferError>, AbortRun)
    case ended(Result<Void, TransferError>)
    /// The partial file of a download was removed, or why it was not.
    case removed(AbortWork, Result<Void, Failure>)
  }

  /// What it takes from the loop.
  struct Surroundings {
    let engine: Engine
    let numbers: RequestNumbers
    let pool: PreparingPool
    let credentials: FreshCredentials
    let batches: Batches
    /// Puts an event into the mailbox of the loop; from any thread.
    let report: @Sendable (Event) -> Void
    let stop: RunStop
  }

  /// Sessions of one pass; what is left is seen by the next run.
  private static let sessionsPerPass = 1_000
  private static let requestsAtOnce = 4

  private let around: Surroundings
  private var waiting: [AbortRun] = []
  private var running: [RequestNumbers.Number: AbortRun] = [:]
  private var isClaiming = false
  /// Writes that the ledger has not answered.
  private var writes = 0
  private var passesLeft = 5
  /// Batches without a credential: they are not asked for another one in this run.
  private var without: [BatchID: Failure] = [:]

  init(_ around: Surroundings) { self.around = around }

  /// A few passes a run, so that a server that refuses does not keep it alive.
  var hasPassesLeft: Bool { passesLeft > 0 }
  /// Nothing runs that could still report.
  var isQuiet: Bool { running.isEmpty && !isClaiming && writes == 0 }
  var isIdle: Bool { waiting.isEmpty && isQuiet }

  /// Takes the sessions whose files were given up. One of the few passes of a run, where `counts`.
  func beginPass(counts: Bool) {
    if counts { passesLeft -= 1 }
    isClaiming = true
    let (run, report) = (around.engine.run, around.report)
    around.engine.ledger.write(
      { tx in try tx.claimAborts(run, limit: Self.sessionsPerPass) }, then: { report(.claimed($0)) })
  }

  func handle(_ event: Event) {
    switch event {
    case .claimed(let result): claimed(result)
    case .credential(let id, let answer): send(id, answer)
    case .replied(let id, let reply): replied(id, reply)
    case .read(let id, let read): wasRead(id, read)
    case .known(let result, let listed): sessionsAreKnown(result, listed)
    case .begun(let result, let abort): begun(result, abort)
    case .ended(let result): ended(result)
    case .removed(let work, let result): removed(work, result)
    }
  }

  /// Sends what waits, a few at a time; when the run stops, what was not sent is given back.
  func send(isStopping: Bool) {
    while var next = waiting.last, isStopping || running.count < Self.requestsAtOnce {
      waiting.removeLast()
      if !isStopping, let known = try? around.batches.destination(of: next.work.batch) {
        next.begin(known.resolved.transferProtocol)
      }
      if isStopping {
        end(next.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
      } else if next.work.direction == .download {
        remove(next.work)
      } else if next.step != nil {
        begin(next)
      } else {
        // An auditor must not read that something was ended.
        let text = "nothing was sent: the server has no upload to abort"
        end(next.work, AttemptResult(outcome: .interrupted, message: text), .gone)
      }
    }
  }

  /// Calls off what runs.
  func cancel() {
    for (id, abort) in running {
      try? around.batches.destination(of: abort.work.batch).resolved.transport.cancel(ExchangeID(rawValue: id))
    }
  }

  private func claimed(_ result: Result<[AbortWork], TransferError>) {
    isClaiming = false
    switch result {
    case .failure(let error): around.stop.fail(error)
    case .success(let works): waiting += works.map(AbortRun.init)
    }
  }

  /// A download has nothing at its server: its partial file goes, unless it was retried and needs that.
  private func remove(_ work: AbortWork) {
    if work.isLive {
      let text = "nothing was removed: the file is fetched again"
      return end(work, AttemptResult(outcome: .interrupted, message: text), .gone)
    }
    guard let download = download(of: work) else { return }
    writes += 1
    let report = around.report
    let names = TargetNames(
      work.path, below: download.folder, work.uid, isNamedLater: download.usesRemoteNames)
    around.pool.wait(
      { Result { () throws(Failure) in try TargetFile.remove(names) } }, then: { report(.removed(work, $0)) })
  }

  private func download(of work: AbortWork) -> DownloadSettings? {
    do throws(TransferError) {
      let settings = try around.engine.ledger.read { try $0.batchSettings(work.batch) }
      if let download = settings?.download { return download }
      throw TransferError(.bug, "read the settings of batch", NameBytes(work.batch.description), cause: "no download")
    } catch {
      around.stop.fail(error)
      return nil
    }
  }

  private func removed(_ work: AbortWork, _ result: Result<Void, Failure>) {
    writes -= 1
    switch result {
    case .success: end(work, AttemptResult(outcome: .ok), .aborted)
    case .failure(let failure):
      // A folder that cannot be reached holds nothing that could be removed; and no run waits for one that may come
      // back.
      end(work, AttemptResult(outcome: .fatal, code: failure.code, message: failure.message), .gone)
    }
  }

  /// The server still has the session: it is ended when there are credentials.
  private static func withoutCredential(_ failure: Failure) -> AttemptResult {
    AttemptResult(outcome: .fatal, code: failure.code, message: failure.message)
  }

  private func begin(_ abort: AbortRun) {
    if let failure = without[abort.work.batch] { return end(abort.work, Self.withoutCredential(failure), nil) }
    do throws(TransferError) {
      let destination = try around.batches.destination(of: abort.work.batch)
      let id = around.numbers.next()
      running[id] = abort
      let report = around.report
      around.credentials.get(from: destination.resolved.credentials) { report(.credential(id, $0)) }
    } catch {
      end(abort.work, AttemptResult(outcome: .fatal, code: .engineBug, message: "\(error)"), nil)
    }
  }

  private func send(_ id: RequestNumbers.Number, _ answer: FreshCredentials.Answer) {
    guard var abort = running.removeValue(forKey: id), let step = abort.step else { return }
    if around.stop.isStopping {
      return end(abort.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
    }
    do throws(Failure) {
      abort.credential = try answer.get()
    } catch {
      if error.code != .engineInterrupted { without[abort.work.batch] = error }
      return end(abort.work, Self.withoutCredential(error), nil)
    }
    send(id, abort, step)
  }

  private func send(_ id: RequestNumbers.Number, _ abort: AbortRun, _ step: StepRequest) {
    do {
      let destination = try around.batches.destination(of: abort.work.batch)
      let context = RequestContext(
        wallMs: around.engine.clock.civilMs, credential: abort.credential, learned: destination.learned)
      var facts = abort.facts
      facts.learned = destination.learned
      var request = try destination.resolved.transferProtocol.request(step, facts, context)
      request.credentialLabel = destination.resolved.credentials.label
      running[id] = abort
      let report = around.report
      destination.resolved.transport.start(ExchangeID(rawValue: id), request) { report(.replied(id, $0)) }
    } catch {
      let failure = error as? Failure
      let result = AttemptResult(
        outcome: .fatal, code: failure?.code ?? .engineBug, message: failure?.message ?? "\(error)")
      // A request that cannot be made today cannot be made tomorrow.
      end(abort.work, result, failure == nil ? nil : .gone)
    }
  }

  private func replied(_ id: RequestNumbers.Number, _ reply: TransferReply) {
    guard let abort = running[id], let step = abort.step,
      let destination = try? around.batches.destination(of: abort.work.batch)
    else { return }
    if reply.isCancelled && !reply.isAnswered {
      running[id] = nil
      return end(abort.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
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
    around.pool.read({ reading.read() }, then: { report(.read(id, $0)) })
  }

  private func wasRead(_ id: RequestNumbers.Number, _ read: ReplyReading.Result) {
    guard let abort = running[id], let destination = try? around.batches.destination(of: abort.work.batch) else {
      return
    }
    destination.learn(from: read.meaning)
    guard let listed = ListedSessions(id, read.meaning, read.reply) else {
      return conclude(id, read.meaning, read.reply)
    }
    let report = around.report
    listed.askWhichAreKnown(around.engine.ledger) { report(.known($0, listed)) }
  }

  private func sessionsAreKnown(_ result: Result<Set<String>, TransferError>, _ listed: ListedSessions) {
    if case .failure(let error) = result { around.stop.fail(error) }
    conclude(listed.request, listed.meaning(without: result), listed.reply)
  }

  /// Goes on with what the answer meant.
  private func conclude(_ id: RequestNumbers.Number, _ meaning: Interpretation, _ reply: TransferReply) {
    guard var abort = running.removeValue(forKey: id) else { return }
    switch meaning.outcome {
    case .settled: abort.remaining.removeLast()
    case .orphansListed(let ids, let next):
      abort.remaining += ids
      abort.marker = next
      abort.isListed = next == nil
    default:
      let wallMs = around.engine.clock.wallMs
      let retry = RetryDecision(notBeforeMs: wallMs, isExhausted: false)
      let state: SessionState? = meaning.isRefusalForGood ? .gone : nil
      return end(abort.work, AttemptResult(meaning, reply, retry, wallMs: wallMs), state)
    }
    var result = AttemptResult(outcome: .ok)
    result.fill(from: reply)
    if abort.step == nil { end(abort.work, result, .aborted) } else { beginNext(abort, after: result) }
  }

  private func beginNext(_ abort: AbortRun, after result: AttemptResult) {
    writes += 1
    let (run, report) = (around.engine.run, around.report)
    around.engine.ledger.write(
      { tx in try tx.nextAbort(abort.work, run, after: result) }, then: { report(.begun($0, abort)) })
  }

  private func begun(_ result: Result<AbortWork, TransferError>, _ abort: AbortRun) {
    writes -= 1
    switch result {
    case .success(let work):
      var next = abort
      next.work = work
      waiting.append(next)
    // One that the ledger refuses stays open until the next run.
    case .failure(let error): if error.kind != .bug { around.stop.fail(error) }
    }
  }

  private func end(_ work: AbortWork, _ result: AttemptResult, _ state: SessionState?) {
    writes += 1
    let (run, report) = (around.engine.run, around.report)
    around.engine.ledger.write(
      { tx in
        _ = try tx.closeAttempt(work.attempt, run, result)
        if let state { _ = try tx.endSession(work.session, state) }
      }, then: { report(.ended($0)) })
  }

  /// One that the ledger refuses stays open until the next run.
  private func ended(_ result: Result<Void, TransferError>) {
    writes -= 1
    if case .failure(let error) = result, error.kind != .bug { around.stop.fail(error) }
  }
}

extension Interpretation {
  /// The server never will do it; other credentials would not help.
  fileprivate var isRefusalForGood: Bool {
    guard case .failed(let failure, .permanent) = outcome else { return false }
    return failure.code.blame != .auth
  }
}
