import TransferLedger
import TransferModel
import TransferProtocols

/// One session that is being ended at its server.
struct AbortRun: Sendable {
  /// With the attempt of the request that is next, or running.
  var work: AbortWork
  /// Ids at the server that are still to be aborted; found by asking when the ledger knows none.
  var remaining: [String] = []
  var isListed: Bool
  private var isBegun = false
  var marker: String?

  init(_ work: AbortWork) {
    self.work = work
    isListed = work.remoteID != nil
  }

  /// What the protocol says that there is to be ended.
  mutating func begin(_ proto: any UploadProtocol) {
    guard !isBegun else { return }
    isBegun = true
    if isListed { remaining = proto.abortTargets(facts) }
    // Nobody can be asked what a create made whose answer never came.
    if !isListed && !proto.abilities.findsOrphans { isListed = true }
  }

  /// The next request; nil when the server knows nothing of the session any more.
  var step: StepRequest? {
    if !isListed { return .probe(marker: marker) }
    return remaining.last.map { .abort(remoteID: $0) }
  }

  /// What a protocol needs to know for the request.
  var facts: UploadFacts {
    let file = FileFacts(uid: work.uid, key: work.key, size: work.size, mtimeMs: work.mtimeNs / 1_000_000)
    var facts = UploadFacts(file: file, layout: ChunkLayout(whole: work.size))
    facts.session = SessionFacts(remoteID: work.remoteID, intendedAtMs: work.intendedAtMs, notes: work.notes)
    facts.parts = work.remotes.enumerated().map { seq, remote in
      PartReceipt(seq: seq, length: 0, etag: "", digest: nil, confirmation: .none, remote: remote)
    }
    facts.lostAnswer = work.remoteID == nil ? .create : nil
    return facts
  }
}

extension EngineLoop {
  /// Sessions of one pass; what is left is seen by the next run.
  private static let abortsPerPass = 1_000
  static let abortsAtOnce = 4

  /// Takes the sessions whose files were given up and asks their servers to forget them: before the first claim, and when
  /// no file is left. A few passes a run, so that a server that refuses does not keep it alive.
  func claimAborts() {
    isClaimingAborts = true
    let run = engine.run
    let mailbox = mailbox
    engine.ledger.write(
      { tx in try tx.claimAborts(run, limit: Self.abortsPerPass) }, then: { mailbox.put(.abortsClaimed($0)) })
  }

  func abortsClaimed(_ result: Result<[AbortWork], TransferError>) {
    isClaimingAborts = false
    switch result {
    case .failure(let error): fail(error)
    case .success(let works): aborts += works.map(AbortRun.init)
    }
  }

  /// Sends waiting aborts; those that cannot be sent any more are given back.
  func sendAborts() {
    while var next = aborts.last, isStopping || abortsRunning.count < Self.abortsAtOnce {
      aborts.removeLast()
      if !isStopping, let known = try? destination(of: next.work.batch) { next.begin(known.resolved.uploadProtocol) }
      if isStopping {
        endAbort(next.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
      } else if let step = next.step {
        send(next, step)
      } else {
        // An auditor must not read that something was ended.
        let text = "nothing was sent: there is no upload that the server could be told to end"
        endAbort(next.work, AttemptResult(outcome: .interrupted, message: text), .gone)
      }
    }
  }

  private func send(_ abort: AbortRun, _ step: StepRequest) {
    do {
      let destination = try destination(of: abort.work.batch)
      let context = RequestContext(
        wallMs: civilMs, credential: try destination.resolved.credentials.credential(), learned: destination.learned)
      var facts = abort.facts
      facts.learned = destination.learned
      var request = try destination.resolved.uploadProtocol.request(step, facts, context)
      request.credentialLabel = destination.resolved.credentials.label
      lastJobID += 1
      let id = lastJobID
      abortsRunning[id] = abort
      let mailbox = mailbox
      destination.resolved.transport.start(ExchangeID(rawValue: id), request) { mailbox.put(.abortReplied(id, $0)) }
    } catch {
      let failure = error as? Failure
      let result = AttemptResult(
        outcome: .fatal, code: failure?.code ?? .engineBug, message: failure?.message ?? "\(error)")
      // A request that cannot be made today cannot be made tomorrow.
      endAbort(abort.work, result, failure == nil ? nil : .gone)
    }
  }

  func abortReplied(_ id: JobID, _ reply: TransferReply) {
    guard let abort = abortsRunning[id], let step = abort.step,
      let destination = destinations[abort.work.batch]
    else { return }
    if reply.isCancelled && !reply.isAnswered {
      abortsRunning[id] = nil
      return endAbort(abort.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
    }
    let credential = try? destination.resolved.credentials.credential()
    let mask = SecretMask(
      credential, [destination.learned], capabilities: abort.facts.capabilities(nil) + abort.remaining)
    let reading = ReplyReading(
      reply: reply, mask: mask, bringsSecrets: false, uploadProtocol: destination.resolved.uploadProtocol, step: step,
      facts: abort.facts, context: RequestContext(wallMs: civilMs, credential: nil, learned: destination.learned))
    guard reply.body.count > Self.shortBody else { return abortWasRead(id, reading.read()) }
    let mailbox = mailbox
    pool.read({ reading.read() }, then: { mailbox.put(.abortRead(id, $0)) })
  }

  func abortWasRead(_ id: JobID, _ read: ReplyReading.Result) {
    guard let abort = abortsRunning[id], let destination = destinations[abort.work.batch] else { return }
    learn(read.meaning, destination)
    let (meaning, reply) = (read.meaning, read.reply)
    if let listed = ListedSessions(id, meaning, reply, isAbort: true) { return askForKnownSessions(listed) }
    concludeAbort(id, meaning, reply)
  }

  /// Goes on with what the answer meant.
  func concludeAbort(_ id: JobID, _ meaning: Interpretation, _ reply: TransferReply) {
    guard var abort = abortsRunning.removeValue(forKey: id) else { return }
    switch meaning.outcome {
    case .settled: abort.remaining.removeLast()
    case .orphansListed(let ids, let next):
      abort.remaining += ids
      abort.marker = next
      abort.isListed = next == nil
    default:
      let retry = RetryDecision(notBeforeMs: wallMs, isExhausted: false)
      let end: SessionState? = meaning.isRefusalForGood ? .gone : nil
      return endAbort(abort.work, AttemptResult(meaning, reply, retry, wallMs: wallMs), end)
    }
    var result = AttemptResult(outcome: .ok)
    result.fill(from: reply)
    if abort.step == nil { endAbort(abort.work, result, .aborted) } else { beginNext(abort, after: result) }
  }

  /// Each request has an attempt of its own, which is durable before it is sent.
  private func beginNext(_ abort: AbortRun, after result: AttemptResult) {
    commits.writeBegan()
    let run = engine.run
    let mailbox = mailbox
    engine.ledger.write(
      { tx in try tx.nextAbort(abort.work, run, after: result) }, then: { mailbox.put(.abortBegun($0, abort)) })
  }

  func abortBegun(_ result: Result<AbortWork, TransferError>, _ abort: AbortRun) {
    commits.writeEnded()
    switch result {
    case .success(let work):
      var next = abort
      next.work = work
      aborts.append(next)
    // One that the ledger refuses stays open until the next run.
    case .failure(let error): if error.kind != .bug { fail(error) }
    }
  }

  private func endAbort(_ work: AbortWork, _ result: AttemptResult, _ state: SessionState?) {
    commits.writeBegan()
    let run = engine.run
    let mailbox = mailbox
    engine.ledger.write(
      { tx in
        _ = try tx.endAttempt(work.attempt, run, result)
        if let state { _ = try tx.endSession(work.session, state) }
      }, then: { mailbox.put(.abortEnded($0)) })
  }

  /// One that the ledger refuses stays open until the next run.
  func abortEnded(_ result: Result<Void, TransferError>) {
    commits.writeEnded()
    if case .failure(let error) = result, error.kind != .bug { fail(error) }
  }
}

extension Interpretation {
  /// The server never will do it; other credentials would not help.
  fileprivate var isRefusalForGood: Bool {
    guard case .failed(let failure, .permanent) = outcome else { return false }
    return failure.code.blame != .auth
  }
}
