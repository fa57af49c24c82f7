import TransferLedger
import TransferModel
import TransferProtocols

extension EngineLoop {
  /// A request ended; its connection is free before anything is committed.
  func replied(_ id: JobID, _ reply: TransferReply) {
    guard let job = jobs[id], let work = files[job.file] else {
      preconditionFailure("a reply to request \(id), which is unknown")
    }
    if work.refusal != nil {
      requestEnded(job, .interrupted)
      return drop(id)
    }
    if waitsForQuestion(job, reply) { return }
    var reply = job.lostAnswer(reply)
    reply.bytesSent = max(0, reply.bytesSent - Int64(job.prefixLength))
    // Behind the body may stand the end of a form.
    if let length = job.range?.length { reply.bytesSent = min(reply.bytesSent, length) }
    if job.range != nil {
      tally.moved(bytes: reply.bytesMoved)
      if reply.isAnswered { job.destination.host.pauses.note(reply.longestPauseMs) }
    }
    let isEmptyHanded = job.prepared?.region != nil && reply.bytesReceived == 0
    if reply.isCancelled && (!reply.isAnswered || isEmptyHanded) {
      requestEnded(job, .interrupted, bytes: reply.bytesMoved)
      return interrupt(id, reply)
    }
    let (facts, chunk) = (work.machine.facts, job.step.step.chunk)
    let mask = SecretMask(
      job.prepared?.credential, [job.learnedWhenSent, job.destination.learned].compactMap { $0 },
      capabilities: facts.capabilities(chunk))
    let reading = reading(job, work, reply, mask)
    let mailbox = mailbox
    if reply.bytesReceived > 0 {
      job.phase = .answered
      return pool.wait({ reading.read() }, then: { mailbox.put(.read(id, $0)) })
    }
    guard reply.body.count > ReplyReading.shortBody else { return wasRead(id, reading.read()) }
    job.phase = .answered
    pool.read({ reading.read() }, then: { mailbox.put(.read(id, $0)) })
  }

  /// Goes on with what an answer says.
  func wasRead(_ id: JobID, _ read: ReplyReading.Result) {
    guard let job = jobs[id], let work = files[job.file] else { return }
    guard work.refusal == nil else {
      requestEnded(job, .interrupted)
      return drop(id)
    }
    var reply = read.reply
    job.destination.learn(from: read.meaning)
    let meaning = weighed(read.meaning, job, reply)
    if read.bringsSecrets { reply.body = [] }
    let isOurEnd = job.inquiry?.isFound == true && !reply.isAnswered
    requestEnded(
      job, isOurEnd ? .interrupted : hostOutcome(reply, meaning), bytes: reply.bytesMoved,
      tookMs: reply.timing.totalMs)
    if let listed = ListedSessions(id, meaning, reply) {
      job.phase = .answered
      let mailbox = mailbox
      return listed.askWhichAreKnown(engine.ledger) { mailbox.put(.knownSessions($0, listed)) }
    }
    conclude(id, meaning, reply: reply, identityNow: job.identityNow)
  }

  func sessionsAreKnown(_ result: Result<Set<String>, TransferError>, _ listed: ListedSessions) {
    if case .failure(let error) = result { fail(error) }
    conclude(
      listed.request, listed.meaning(without: result), reply: listed.reply,
      identityNow: jobs[listed.request]?.identityNow)
  }

  /// An interim answer to a request that goes on: the name of its session is durable as soon as it is known.
  func heard(_ id: JobID, _ reply: InterimReply) {
    guard let job = jobs[id], let work = files[job.file], work.refusal == nil else { return }
    let proto = job.destination.resolved.transferProtocol
    guard let session = proto.interpretInterim(reply, to: job.step.step, work.machine.facts, context(job)) else {
      return
    }
    let changes = work.machine.heard(job.step, session, proto)
    if !changes.isEmpty { files.advance(job.file, changes: changes) }
  }

  /// What is needed to read the answer, whoever does it.
  private func reading(_ job: Job, _ work: FileWork, _ reply: TransferReply, _ mask: SecretMask) -> ReplyReading {
    var reading = ReplyReading(
      reply: reply, mask: mask, bringsSecrets: job.step.step == .discover,
      transferProtocol: job.destination.resolved.transferProtocol, step: job.step.step, facts: work.machine.facts,
      context: context(job))
    if let failure = reply.bodyFailure {
      reading.meaning = .failed(failure, .permanent)
    } else if reply.status == 417, !job.destination.learned.refusesExpect, !reply.isCancelled {
      reading.meaning = expectationFailed(job)
    } else if case .chunk(var chunk) = job.requestStep, let body = job.prepared?.body {
      let sent = body.sentDigest()
      // Whatever the transport says: what was not read to its end did not go out whole.
      reading.isBodyIncomplete = sent == nil && body.length > 0
      if let sent {
        if let ahead = body.ahead[sent.algorithm], ahead != sent {
          reading.meaning = .failed(
            Failure(.sourceChanged, "the source was written to while it was sent: its digest changed"), .permanent)
        }
        chunk.digests[sent.algorithm] = body.digestFromStart()
      }
      reading.step = .chunk(chunk)
    } else {
      reading.region = job.prepared?.region
    }
    return reading
  }

  /// The server does not know `Expect: 100-continue` (RFC 9110 section 10.1.1): the same again without, there and from
  /// now on.
  private func expectationFailed(_ job: Job) -> Interpretation {
    var learned = job.destination.learned
    learned.refusesExpect = true
    let failure = Failure(.http4xx, "the server answered 417: it does not know Expect; it is left out from now on")
    return .failed(failure, .repair).with(learned: learned)
  }

  /// A connection is free.
  func requestEnded(_ job: Job, _ outcome: HostGate.Outcome, bytes: Int64 = 0, tookMs: Int64 = 0) {
    if job.range != nil, let work = files[job.file] {
      switch outcome {
      case .success: work.concurrency.succeeded(bytes: bytes, nowMs: bootMs)
      case .lost: work.concurrency.halve(sending: work.machine.openCount, nowMs: bootMs)
      case .throttled, .noConnection, .failure, .interrupted: break
      }
    }
    hosts.ended(job, outcome, bytes: bytes, tookMs: tookMs)
  }

  private func hostOutcome(_ reply: TransferReply, _ meaning: Interpretation) -> HostGate.Outcome {
    if reply.bodyFailure != nil { return .interrupted }
    if !reply.isAnswered && !reply.requestMayHaveArrived { return .noConnection }
    if reply.bytesReceived > 0, let failure = reply.answerFailure, !reply.isCancelled {
      return failure.code.blame == .network ? .lost : .failure
    }
    guard case .failed(let failure, let remedy) = meaning.outcome else { return .success }
    if case .retry(isThrottled: true) = remedy { return .throttled(retryAfterMs: failure.retryAfterMs) }
    if !reply.isAnswered { return failure.code.blame == .network ? .lost : .failure }
    return reply.status >= 500 ? .failure : .success
  }

  /// Ends an attempt with what it meant, and goes on with the file. `reply` is nil when nothing was sent.
  func conclude(
    _ id: JobID, _ meaning: Interpretation, reply: TransferReply?, identityNow: SourceIdentity?
  ) {
    if let job = jobs[id], files[job.file]?.refusal != nil { return drop(id) }
    if let job = jobs[id], job.beside != nil { return questionEnded(id, job, meaning, reply) }
    guard let job = jobs.removeValue(forKey: id), let work = files[job.file] else { return }
    work.jobs.remove(id)
    work.destination.requests -= 1
    let loss = reply.flatMap { hostOutcome($0, meaning) == .lost ? $0 : nil }
    var retry = decide(job, meaning, loss, identityNow, work.machine)
    if loss?.isBodyIncomplete == true { retry.shorterLayout = shorterLayout(job, work.machine) }
    var result = AttemptResult(meaning, reply, retry, wallMs: wallMs)
    if case .failed(let failure, let remedy) = meaning.outcome {
      applyRemedy(remedy, work)
      if remedy != .hold { noteFailure(job, failure, result.outcome, retry, work.machine) }
    }
    let before = work.machine.bytesStored
    let changes = work.machine.concluded(job.step, meaning, retry)
    let acked = work.machine.bytesStored - before
    tally.stored(bytes: acked)
    // What a question found counts for those who sent it, as the ledger says.
    if acked < 0 { tally.acknowledged(bytes: acked) }
    if let range = job.range {
      result.bytesAcked = max(0, acked)
      if job.step.isFound {
        (result.bytesAcked, result.message) = (0, "not sent: the server's list of parts has it")
      }
      if case .offset = meaning.outcome { result.bytesAcked = min(result.bytesAcked, result.bytesTransferred) }
      tally.acknowledged(bytes: result.bytesAcked)
      // The server took less than it was given, or gave less than was asked for: what is left comes again.
      if case .advanced(let through) = meaning.outcome, acked < range.length {
        result.outcome = reply?.isCancelled == true ? .interrupted : .retry
        if let failure = reply?.answerFailure { (result.code, result.message) = (failure.code, failure.message) }
        if let failure = FileMachine.tinyProgress(job.step, to: through) {
          (result.code, result.message) = (failure.code, failure.message)
        }
      }
    } else {
      result.bytesTransferred = 0
    }
    if reply != nil, !changes.contains(where: \.storesChunk) { result.sent = job.sentPiece }
    let undecided = job.destination.takeUndecided(after: job.step.step)
    files.advance(job.file, ended: EndedAttempt(attempt: job.step.attempt, result: result), changes: changes)
    // After its own: the last of the others to end lets the file go, and no attempt of it may be open then.
    if work.machine.ending != nil { endOthers(of: job.file) }
    for file in undecided { files.advance(file) }
  }

  /// We stopped a request, or never sent it.
  func interrupt(_ id: JobID, _ reply: TransferReply?) {
    if let job = jobs[id], files[job.file]?.refusal != nil { return drop(id) }
    guard let job = jobs[id], let work = files[job.file] else { return }
    let mayHaveArrived = reply?.requestMayHaveArrived ?? false
    var result = AttemptResult(outcome: .interrupted, code: .engineInterrupted, message: nil)
    if let reply {
      result.fill(from: reply)
      result.sent = job.sentPiece
    }
    if job.beside != nil { return endQuestion(id, job, result) }
    jobs[id] = nil
    work.jobs.remove(id)
    work.destination.requests -= 1
    let changes = work.machine.interrupted(job.step, mayHaveArrived: mayHaveArrived)
    if changes.contains(where: { if case .chunkUnknown = $0 { true } else { false } }) { result.outcome = .unknown }
    let undecided = job.destination.takeUndecided(after: job.step.step)
    files.advance(job.file, ended: EndedAttempt(attempt: job.step.attempt, result: result), changes: changes)
    for file in undecided { files.advance(file) }
  }

  /// The file is to end: its other requests are called off; those that run are left to their ends when it only is let
  /// go.
  private func endOthers(of file: FileID) {
    guard let work = files[file] else { return }
    let transport = work.destination.resolved.transport
    for id in hosts.takeReady(where: work.jobs.contains) { interrupt(id, nil) }
    guard work.machine.othersAreInVain else { return }
    for id in work.jobs where jobs[id]?.phase == .sending { transport.cancel(ExchangeID(rawValue: id)) }
  }
}

extension Job {
  var identityNow: SourceIdentity? {
    // Which version a server has now, the next generation asks for itself.
    if prepared?.region != nil { return SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0) }
    guard case .slice(let slice)? = prepared?.body?.content else { return nil }
    return slice.identityNow
  }

  /// What its request read of the file.
  fileprivate var sentPiece: SentContent.Piece? {
    range.flatMap { range in prepared?.body.flatMap { $0.sentPiece(of: range) } }
  }
}
