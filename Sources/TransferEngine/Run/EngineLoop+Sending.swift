import TransferLedger
import TransferModel
import TransferProtocols

extension EngineLoop {
  /// Waiting longer would not help, or would leave connections idle.
  var isCommitDue: Bool { isStopping || hosts.scheduler.readyCount < hosts.reach || commits.isDue }

  /// What was begun is durable: prepare it.
  func committed(_ result: Result<[Begun], TransferError>, _ batch: [FileUnit], isRepeat: Bool) {
    commits.ended()
    if case .failure(let error) = result, refusesUnits(error, batch, isRepeat: isRepeat) { return }
    switch result {
    case .failure(let error): fail(error)
    case .success(let all):
      for (begun, unit) in zip(all, batch) { self.begun(begun, asked: unit.requestCount) }
    }
  }

  private func begun(_ begun: Begun, asked: Int) {
    if let successor = begun.successor { changes[successor] = (changes.removeValue(forKey: begun.file) ?? 0) + 1 }
    tally.acknowledged(bytes: begun.creditedBytes - begun.uselessBytes)
    if let staged = begun.unstaged { engine.configuration.copies?.remove(staged) }
    guard let work = files.begun(begun, asked: asked) else { return }
    if let proof = begun.placing { place(work, proof) }
    for chunk in begun.chunks { addJob(work, chunk) }
    if let control = begun.control {
      addJob(
        work, range: nil,
        JobStep(target: .control(control.attempt), step: control.step, failures: work.machine.failures),
        beside: begun.beside)
    }
  }

  private func addJob(_ work: FileWork, _ claimed: ClaimedChunk) {
    let proto = work.destination.resolved.transferProtocol
    // Where chunks do not wait for themselves, it is the file that fails.
    let isOfFile = work.machine.isWhole || !work.machine.abilities.parallelChunks
    let failures = isOfFile ? work.machine.failures : claimed.facts.failures
    var chunk = claimed.facts
    chunk.failures = failures
    let host = work.destination.host
    let isLossy = hosts.gate(host)?.isLossy ?? false
    chunk.mostAtOnce = host.bodyLength.limit
    chunk.mostBody = [BodyProgress.longestBody(afterFailures: failures), isLossy ? chunk.mostAtOnce : nil]
      .compactMap(\.self).min()
    chunk.body = proto.bodyRange(of: chunk, work.machine.facts)
    let step: StepRequest =
      switch claimed.operation {
      case .prepare: .prepareChunk(chunk)
      case .probe: .probeChunk(chunk)
      default: .chunk(chunk)
      }
    addJob(
      work, range: claimed.operation == .part ? chunk.body : nil,
      JobStep(target: .chunk(claimed.id, claimed.attempt), step: step, failures: failures))
  }

  private func addJob(_ work: FileWork, range: ByteRange?, _ step: JobStep, beside: JobID? = nil) {
    let id = numbers.next()
    let destination = work.destination
    let job = Job(id, file: work.machine.claimed.id, step: step, range: range, destination: destination)
    jobs[id] = job
    work.jobs.insert(id)
    job.beside = beside
    if let beside { jobs[beside]?.inquiry?.question = id }
    if range != nil { work.concurrency.started(sending: work.machine.openCount, nowMs: bootMs) }
    // What was asked of the ledger before the file's end was known is given back unsent.
    if work.refusal != nil { return drop(id) }
    if isStopping || work.machine.ending != nil || isMoot(job) { return interrupt(id, nil) }
    prepare(id, job, work)
  }

  private func prepare(_ id: JobID, _ job: Job, _ work: FileWork) {
    let (step, range, destination) = (job.step, job.range, job.destination)
    job.phase = .preparing
    job.credentialGeneration = destination.refusals.watch.generation
    let proto = destination.resolved.transferProtocol
    if let target = work.target, let range, let receiving = proto.bodiesInAnswers {
      return prepareTarget(id, job, work, target, range, receiving)
    }
    var ahead = range == nil ? [] : proto.digestsAhead(destination.learned, work.machine.facts.layout)
    if listing(of: job, work) != nil { ahead.formUnion(proto.digestsOfListing) }
    let order = PreparationOrder(
      path: path(of: work.machine.claimed), version: work.version,
      isStaged: work.machine.claimed.staged != nil, range: range,
      head: range == nil ? nil : step.step.chunk?.head, checksIdentity: step.step == .finish,
      digestsAhead: ahead,
      digestsOfFile: proto.fileDigests(for: step.step, work.machine.facts).subtracting(work.fileDigests.keys),
      sentAlgorithm: proto.sentDigest, journal: journal?.entry(step.attempt), file: work.source,
      credentials: destination.resolved.credentials, stop: readStop)
    let mailbox = mailbox
    pool.perform(order) { mailbox.put(.prepared(id, $0)) }
  }

  /// Where the bytes of a file are read.
  private func path(of file: ClaimedFile) -> NameBytes {
    guard let staged = file.staged, let copies = engine.configuration.copies else { return file.path }
    return copies.path(staged)
  }

  func prepared(_ id: JobID, _ result: Result<Prepared, PreparationFailure>) {
    guard let job = jobs[id], let work = files[job.file] else { return }
    if work.refusal != nil { return drop(id) }
    if isStopping || work.machine.ending != nil || isMoot(job) { return interrupt(id, nil) }
    switch result {
    case .failure(let failed) where failed.failure.code == .authMissing:
      // Nothing can be sent there at all; the file is not at fault.
      job.phase = .ready
      block(
        work.machine.claimed.batch,
        TransferError(
          .auth, "read the credentials", cause: failed.failure.message, remedy: "set them and run \"transfers run\""))
    case .failure(let failed):
      conclude(
        id, .failed(failed.failure, failed.remedy), reply: nil, identityNow: failed.identityNow)
    case .success(let prepared):
      if case .slice(let slice)? = prepared.body?.content, !work.machine.isWhole { work.source = slice.file }
      job.prepared = prepared
      if let region = prepared.region { notePartial(region.file, work) }
      work.fileDigests.merge(prepared.fileDigests) { $1 }
      if let found = found(job, work) {
        job.step.isFound = true
        return conclude(id, .stored(found, proof: nil), reply: nil, identityNow: nil)
      }
      job.phase = .ready
      recordSighting(work)
      if !isStopping { hosts.isReady(job) }
    }
  }

  /// The source has another ctime or device by now, and the content that was sent of it. Recorded when no other body is
  /// under way, whose beginning nobody has compared.
  private func recordSighting(_ work: FileWork) {
    let now = work.version.identity
    guard work.recorded.relation(to: now) == .moved, work.machine.claimed.staged == nil, !work.version.needsProof,
      !work.jobs.contains(where: { jobs[$0]?.isSendingBody ?? false })
    else { return }
    work.recorded = now
    files.advance(work.machine.claimed.id, changes: [.sight(now)])
  }

  /// What the server showed for the chunk that a request is to bring.
  private func listing(of job: Job, _ work: FileWork) -> ListedPart? {
    guard case .chunk(let chunk) = job.step.step, job.range == chunk.range else { return nil }
    return work.machine.facts.listed[chunk.seq]
  }

  /// The receipt of a chunk that need not be sent: its answer was lost with the engine that had sent it.
  private func found(_ job: Job, _ work: FileWork) -> PartReceipt? {
    guard let listing = listing(of: job, work), case .chunk(let chunk) = job.requestStep else { return nil }
    return job.destination.resolved.transferProtocol.receipt(of: chunk, in: listing)
  }

  /// Sends what the scheduler allows.
  func startSending() {
    guard !isStopping else { return }
    while let id = hosts.takeNext() { send(id) }
  }

  private func send(_ id: JobID) {
    guard let job = jobs[id], let work = files[job.file] else {
      preconditionFailure("request \(id) was scheduled and is unknown")
    }
    let destination = job.destination
    if job.credentialGeneration < destination.refusals.watch.generation {
      // It has credentials that were refused, and others were to be read since.
      requestEnded(job, .interrupted)
      return prepare(id, job, work)
    }
    do throws(Failure) {
      let proto = destination.resolved.transferProtocol
      job.learnedWhenSent = destination.learned
      var request = try proto.request(job.requestStep, work.machine.facts, context(job))
      if let body = job.prepared?.body { request.body = body.requestBody(in: request.envelope) }
      request.sink = job.prepared?.region
      job.prefixLength = request.envelope?.prefix.count ?? 0
      request.credentialLabel = destination.resolved.credentials.label
      if destination.learned.refusesExpect { request.omitExpect() }
      if job.range != nil, work.machine.abilities.repeatable {
        request.limits.stallMs = destination.host.pauses.limitMs(request.limits.stallMs, failures: job.step.failures)
      }
      request.rateGroup = RateGroup(rawValue: work.machine.claimed.batch.rawValue)
      job.phase = .sending
      job.sentMs = bootMs
      let mailbox = mailbox
      if proto.hearsInterim { request.onInterim = { mailbox.put(.heard(id, $0)) } }
      awaitEnd(id, job)
      destination.resolved.transport.start(ExchangeID(rawValue: id), request) { mailbox.put(.replied(id, $0)) }
    } catch {
      requestEnded(job, .interrupted)
      conclude(id, .failed(error, .permanent), reply: nil, identityNow: nil)
    }
  }

  func context(_ job: Job) -> RequestContext {
    RequestContext(
      wallMs: civilMs, credential: job.prepared?.credential, learned: job.destination.learned,
      failures: job.step.failures, fileDigests: files[job.file]?.fileDigests ?? [:],
      learnedWhenSent: job.learnedWhenSent)
  }
}

extension ChunkFacts {
  /// What is stored of it, when the request brings all the rest; nil for none.
  var head: ByteRange? {
    guard body.offset > range.offset, body.end == range.end else { return nil }
    return ByteRange(offset: range.offset, length: body.offset - range.offset)
  }
}

extension Job {
  fileprivate var isSendingBody: Bool { range != nil && (phase == .sending || phase == .answered) }

  /// The step with the digests that go ahead of the body.
  var requestStep: StepRequest {
    guard case .chunk(var chunk) = step.step, let body = prepared?.body else { return step.step }
    chunk.digests = body.ahead
    return .chunk(chunk)
  }
}
