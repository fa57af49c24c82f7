import TransferLedger
import TransferModel
import TransferProtocols

/// Handles the replies of servers: their meaning for the protocol, the host and the destination. Used by the engine's
/// thread.
final class ReplyHandler {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let tally: RunTally
  private let batches: Batches
  private let files: FilesInWork
  private let requests: Requests
  private let outcomes: RequestOutcomes
  let uploads: UploadLookups
  private let pool: PreparingPool
  private let shortBodies: GroupedOrders<(id: PendingRequest.ID, reading: ReplyReading)>
  /// The chunks that got a success in this run that cannot be used.
  private var unusable: [FileID: Set<Int>] = [:]

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, tally: RunTally, batches: Batches,
    files: FilesInWork, requests: Requests, outcomes: RequestOutcomes, pool: PreparingPool
  ) {
    (self.engine, self.mailbox, self.stop, self.tally, self.batches) = (engine, mailbox, stop, tally, batches)
    (self.files, self.requests, self.outcomes, self.pool) = (files, requests, outcomes, pool)
    uploads = UploadLookups(
      engine, mailbox, stop: stop, files: files, requests: requests, outcomes: outcomes)
    shortBodies = GroupedOrders(pool, most: LocalFiles.mostTogether) { group in
      if group.count > 1 { for (_, reading) in group { reading.region?.beginSettling() } }
      mailbox.put(contentsOf: group.map { .read($0.id, $0.reading.read()) })
    }
  }

  /// A request ended; its connection is freed before anything is committed.
  func replied(_ id: PendingRequest.ID, _ reply: TransferReply) {
    guard let pending = requests[id], let work = files[pending.file] else {
      preconditionFailure("a reply to request \(id), which is unknown")
    }
    if work.refusal != nil {
      outcomes.connectionIsFree(pending, .interrupted)
      return outcomes.drop(id)
    }
    if pending.isNaming {
      pending.heldReply = reply
      return
    }
    if pending.inquiry?.holds(reply) == true { return cancelQuestion(of: pending) }
    let reply = pending.settled(reply)
    if let chunk = pending.step.step.chunk, let end = pending.sentEnd {
      work.machine.facts.sent(chunk.seq, through: end)
    }
    if pending.range != nil {
      tally.moved(bytes: reply.bytesMoved)
      batches.quotas.moved(reply.bytesMoved, of: pending.file, in: pending.destination.batch)
      if reply.isAnswered { pending.destination.host.pauses.note(reply.longestPauseMs) }
    }
    let isEmptyHanded = pending.prepared?.region != nil && reply.bytesReceived == 0
    if reply.isCancelled && (!reply.isAnswered || isEmptyHanded) {
      outcomes.connectionIsFree(pending, .interrupted, bytes: reply.bytesMoved)
      return outcomes.interrupt(id, reply)
    }
    read(reading(pending, work, reply), of: pending)
  }

  /// Cancels the query about a request that has its answer.
  private func cancelQuestion(of pending: PendingRequest) {
    guard let question = pending.inquiry?.question, let asking = requests[question] else { return }
    outcomes.cancel(asking)
  }

  private func read(_ reading: ReplyReading, of pending: PendingRequest) {
    let (id, mailbox) = (pending.id, mailbox)
    if reading.reply.bytesReceived > 0 {
      pending.phase = .answered
      if reading.reply.bytesReceived <= LocalFiles.longestTogether { return shortBodies.add((id, reading)) }
      return pool.wait({ reading.read() }, then: { mailbox.put(.read(id, $0)) })
    }
    guard reading.reply.body.count > ReplyReading.shortBody else { return wasRead(id, reading.read()) }
    pending.phase = .answered
    pool.read({ reading.read() }, then: { mailbox.put(.read(id, $0)) })
  }

  /// Continues with an interpreted answer.
  func wasRead(_ id: PendingRequest.ID, _ read: ReplyReading.Result) {
    guard let pending = requests[id], let work = files[pending.file] else { return }
    guard work.refusal == nil else {
      outcomes.connectionIsFree(pending, .interrupted)
      return outcomes.drop(id)
    }
    var reply = read.reply
    files.notePartial(pending.prepared?.region, work)
    pending.destination.learn(from: read.meaning)
    let meaning = weighed(withoutRepeatedSuccess(read.meaning, pending), pending, reply)
    if read.bringsSecrets { reply.body = [] }
    // We ended it, and it cannot be continued: not a failure of the file.
    if reply.isCancelled, case .failed(let failure, _) = meaning.outcome, failure.code == .engineInterrupted {
      outcomes.connectionIsFree(pending, .interrupted, bytes: reply.bytesMoved)
      return outcomes.interrupt(id, reply)
    }
    let isOurEnd = pending.inquiry?.isFound == true && !reply.isAnswered
    outcomes.connectionIsFree(
      pending, isOurEnd ? .interrupted : HostGate.Outcome(reply, meaning, wallMs: engine.civilMs),
      bytes: reply.bytesMoved,
      tookMs: reply.timing.totalMs)
    if let listed = ListedSessions(id, meaning, reply) {
      pending.phase = .answered
      let mailbox = mailbox
      return listed.askWhichAreKnown(engine.ledger) { mailbox.put(.knownSessions($0, listed)) }
    }
    if uploads.take(meaning, reply, of: pending, work) { return }
    if let listed = ListedPages(
      id, meaning, reply, work, ignoresCase: engine.configuration.ignoresCase)
    {
      pending.phase = .answered
      let (mailbox, ledger) = (mailbox, engine.ledger)
      return pool.wait({ listed.examined(ledger) }, then: { mailbox.put(.examined($0, listed)) })
    }
    outcomes.conclude(id, meaning, reply: reply, identityNow: pending.identityNow)
  }

  /// A page of a listing was examined: the files to fetch are known.
  func pageIsExamined(_ result: Result<Interpretation, TransferError>, _ listed: ListedPages) {
    switch result {
    case .success(let meaning): outcomes.conclude(listed.request, meaning, reply: listed.reply, identityNow: nil)
    case .failure(let error):
      stop.fail(error)
      outcomes.interrupt(listed.request, listed.reply)
    }
  }

  func sessionsAreKnown(_ result: Result<Set<String>, TransferError>, _ listed: ListedSessions) {
    if case .failure(let error) = result { stop.fail(error) }
    outcomes.conclude(
      listed.request, listed.meaning(without: result), reply: listed.reply,
      identityNow: requests[listed.request]?.identityNow)
  }

  /// An interim answer to a running request.
  func heard(_ id: PendingRequest.ID, _ reply: InterimReply) {
    guard let pending = requests[id], let work = files[pending.file], work.refusal == nil else { return }
    let proto = pending.destination.resolved.transferProtocol
    let context = pending.context(work, civilMs: engine.civilMs)
    guard let session = proto.interpretInterim(reply, to: pending.step.step, work.machine.facts, context) else {
      return
    }
    uploads.hear(session, pending, work)
  }

  /// A chunk is sent again after its first success that cannot be used, and no more after the second.
  private func withoutRepeatedSuccess(_ meaning: Interpretation, _ pending: PendingRequest) -> Interpretation {
    guard meaning.isUnusableSuccess, case .failed(let failure, .retry) = meaning.outcome,
      let chunk = pending.step.step.chunk
    else { return meaning }
    if unusable[pending.file, default: []].insert(chunk.seq).inserted { return meaning }
    unusable[pending.file] = nil
    return meaning.with(.failed(failure, .permanent))
  }

  /// The meaning for the file if the destination may refuse all files. If it does, the files of all batches for it wait
  /// for another run, unless a running request succeeds after all.
  private func weighed(_ meaning: Interpretation, _ pending: PendingRequest, _ reply: TransferReply) -> Interpretation {
    let refusals = pending.destination.refusals
    let before = refusals.error
    let weighed = refusals.weighed(meaning, of: pending, reply)
    switch (before, refusals.error) {
    case (nil, let error?):
      for destination in batches.all where destination.refusals === refusals {
        outcomes.block(destination.batch, error)
      }
    case (let error?, nil): batches.unblock(error)
    default: break
    }
    return weighed
  }

  /// Everything needed to interpret the answer, on any thread.
  private func reading(_ pending: PendingRequest, _ work: FileWork, _ reply: TransferReply) -> ReplyReading {
    let (facts, chunk) = (pending.facts(work), pending.step.step.chunk)
    let mask = SecretMask(
      pending.prepared?.credential, [pending.learnedWhenSent, pending.destination.learned].compactMap { $0 },
      capabilities: facts.capabilities(chunk))
    var reading = ReplyReading(
      reply: reply, mask: mask, bringsSecrets: pending.step.step == .discover,
      transferProtocol: pending.destination.resolved.transferProtocol, step: pending.step.step, facts: facts,
      context: pending.context(work, civilMs: engine.civilMs))
    if let failure = reply.bodyFailure {
      reading.meaning = pending.prepared?.region?.refusal ?? .failed(failure, failure.remedyOfTarget)
    } else if reply.status == 417, !pending.destination.learned.refusesExpect, !reply.isCancelled {
      reading.meaning = expectationFailed(pending)
    } else if case .chunk(let chunk) = pending.requestStep, let body = pending.prepared?.body {
      note(body, of: chunk, in: &reading)
      if let sha256 = body.sentSHA256() { work.sha256 = sha256 }
    } else {
      reading.region = pending.prepared?.region
    }
    return reading
  }

  private func note(_ body: PreparedBody, of chunk: ChunkFacts, in reading: inout ReplyReading) {
    var chunk = chunk
    let sent = body.sentDigest()
    // Regardless of the transport: a body that was not read completely was not sent completely.
    reading.isBodyIncomplete = sent == nil && body.length > 0
    if let sent {
      if let ahead = body.ahead[sent.algorithm], ahead != sent {
        reading.meaning = .failed(
          Failure(.sourceChanged, "the source was modified while it was sent: its digest changed"), .permanent)
      }
      chunk.digests[sent.algorithm] = body.digestFromStart()
    }
    reading.step = .chunk(chunk)
  }

  /// The server does not support `Expect: 100-continue` (RFC 9110 section 10.1.1): the request is repeated without it,
  /// and it is no longer sent there.
  private func expectationFailed(_ pending: PendingRequest) -> Interpretation {
    var learned = pending.destination.learned
    learned.refusesExpect = true
    let failure = Failure(.http4xx, "the server answered 417: it does not support Expect, which is omitted from now on")
    return .failed(failure, .repair).with(learned: learned)
  }
}
