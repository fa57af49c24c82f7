import TransferLedger
import TransferModel
import TransferProtocols

/// Prepares durable requests, and sends them as the scheduler allows. Used by the engine's thread.
final class RequestSender {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let tally: RunTally
  private let hosts: Hosts
  private let files: FilesInWork
  private let requests: Requests
  private let inquiries: Inquiries
  private let outcomes: RequestOutcomes
  private let local: LocalFiles

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, tally: RunTally, hosts: Hosts,
    files: FilesInWork, requests: Requests, inquiries: Inquiries, outcomes: RequestOutcomes, local: LocalFiles
  ) {
    (self.engine, self.mailbox, self.stop, self.tally, self.hosts) = (engine, mailbox, stop, tally, hosts)
    (self.files, self.requests, self.inquiries) = (files, requests, inquiries)
    (self.outcomes, self.local) = (outcomes, local)
  }

  // MARK: - Preparing

  /// The begun requests are durable: prepares them. `asked` requests had been requested.
  func begun(_ begun: Begun, asked: Int) {
    if let successor = begun.successor { outcomes.superseded(begun.file, by: successor) }
    tally.acknowledged(bytes: begun.creditedBytes - begun.uselessBytes)
    if let staged = begun.unstaged { engine.configuration.copies?.remove(staged) }
    guard let work = files.begun(begun, asked: asked) else { return }
    if let proof = begun.placing { place(work, proof, begun) }
    if let proof = begun.reusing { local.reuse.begin(work, proof) }
    for chunk in begun.chunks { begin(chunk, work) }
    if let control = begun.control {
      let step = BegunRequest(
        target: .control(control.attempt), step: control.step, failures: work.machine.failures)
      begin(step, work, range: work.beginning(control.step), beside: begun.beside)
    }
  }

  private func place(_ work: FileWork, _ proof: FileProof, _ begun: Begun) {
    guard let other = begun.nameTakenBy else { return local.place(work, proof, at: begun.placedAt) }
    let failure = Failure(.policyExists, "its server gives it the same name as file \(other)")
    mailbox.put(.placed(begun.file, proof, .failure(failure)))
  }

  private func begin(_ claimed: ClaimedChunk, _ work: FileWork) {
    let proto = work.destination.resolved.transferProtocol
    // If chunks do not back off individually, the failure counts against the file.
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
    begin(
      BegunRequest(target: .chunk(claimed.id, claimed.attempt), step: step, failures: failures), work,
      range: claimed.operation == .part ? chunk.body : nil)
  }

  private func begin(_ step: BegunRequest, _ work: FileWork, range: ByteRange?, beside: PendingRequest.ID? = nil) {
    let pending = requests.begin(step, of: work, range: range, beside: beside)
    if let beside { requests[beside]?.inquiry?.begin(pending.id) }
    if range != nil {
      work.concurrency.started(sending: work.machine.openCount, nowMs: engine.bootMs)
    }
    // Requests made before the end of the file was known are released unsent.
    if endsUnsent(pending, work) { return }
    prepare(pending, work)
  }

  /// Ends the request unsent if nothing more is sent for the file.
  private func endsUnsent(_ pending: PendingRequest, _ work: FileWork) -> Bool {
    if work.refusal != nil {
      outcomes.drop(pending.id)
      return true
    }
    guard stop.isStopping || work.machine.ending != nil || inquiries.isMoot(pending) else { return false }
    outcomes.interrupt(pending.id, nil)
    return true
  }

  private func prepare(_ pending: PendingRequest, _ work: FileWork) {
    pending.phase = .preparing
    pending.credentialGeneration = pending.destination.refusals.generation
    local.prepare(pending, work)
  }

  func prepared(_ id: PendingRequest.ID, _ result: Result<Prepared, PreparationFailure>) {
    guard let pending = requests[id], let work = files[pending.file], !endsUnsent(pending, work) else { return }
    switch result {
    case .failure(let failed) where failed.failure.code == .authMissing:
      // The destination cannot be used at all; the file is not at fault.
      pending.phase = .ready
      outcomes.block(
        work.machine.claimed.batch,
        TransferError(
          .auth, "read the credentials", cause: failed.failure.message,
          remedy: "correct that, and run \"transfers run\""))
    case .failure(let failed):
      outcomes.conclude(id, .failed(failed.failure, failed.action), reply: nil, identityNow: failed.identityNow)
    case .success(let prepared): isPrepared(pending, prepared, work)
    }
  }

  private func isPrepared(_ pending: PendingRequest, _ prepared: Prepared, _ work: FileWork) {
    if case .slice(let slice)? = prepared.body?.content, !work.machine.isWhole { work.source = slice.file }
    pending.prepared = prepared
    files.notePartial(prepared.region, work)
    if let start = prepared.start { work.machine.facts.route.begin(at: start) }
    work.fileDigests.merge(prepared.fileDigests) { $1 }
    if let sha256 = prepared.sha256 { work.sha256 = sha256 }
    if let twin = prepared.twin, let receiving = pending.destination.resolved.transferProtocol.bodiesInAnswers {
      files.noteCopy(twin.partial, work)
      tally.reused(bytes: twin.size, isStored: true)
      let meaning = receiving.begun(withLocal: twin.size, twin.digest, work.machine.facts)
      return outcomes.conclude(pending.id, meaning, reply: nil, identityNow: nil)
    }
    if let original = prepared.original {
      work.machine.isDuplicate(of: original)
      let reason = Failure(.policyDuplicate, original.reason)
      return outcomes.conclude(pending.id, .failed(reason, .permanent), reply: nil, identityNow: nil)
    }
    if let found = pending.found(work) {
      pending.step.isFound = true
      return outcomes.conclude(pending.id, .stored(found, proof: nil), reply: nil, identityNow: nil)
    }
    pending.phase = .ready
    recordSighting(work)
    if !stop.isStopping { hosts.isReady(pending) }
  }

  /// The source has a new ctime or device, but the content that was sent. This is recorded when no other body is
  /// running whose beginning was not compared.
  private func recordSighting(_ work: FileWork) {
    let now = work.version.identity
    guard work.recorded.relation(to: now) == .moved, work.machine.claimed.staged == nil, !work.version.needsProof,
      !work.requests.contains(where: { requests[$0]?.isSendingBody ?? false })
    else { return }
    work.recorded = now
    files.advance(work.machine.claimed.id, changes: [.sight(now)])
  }

  // MARK: - Sending

  /// Sends what the scheduler allows.
  func sendReady() {
    guard !stop.isStopping else { return }
    while let id = hosts.takeNext(holding: waitsForCollection) { send(id) }
  }

  private func waitsForCollection(_ id: PendingRequest.ID) -> Bool {
    guard let pending = requests[id], let work = files[pending.file] else { return false }
    return pending.waitsForCollection(work)
  }

  private func send(_ id: PendingRequest.ID) {
    guard let pending = requests[id], let work = files[pending.file] else {
      preconditionFailure("request \(id) was scheduled and is unknown")
    }
    if pending.makesCollectionsFirst(work) {
      outcomes.connectionIsFree(pending, .interrupted)
      return outcomes.interrupt(id, nil, "not sent: its collection is created first")
    }
    // Its credentials were refused and have been reloaded since, or its URL expired while it waited.
    if pending.credentialGeneration < pending.destination.refusals.generation || needsURL(pending, work) {
      outcomes.connectionIsFree(pending, .interrupted)
      return prepare(pending, work)
    }
    do throws(Failure) {
      var request = try request(pending, work)
      let uncoded = request.removeCodings()
      pending.phase = .sending
      pending.sentMs = engine.bootMs
      inquiries.sent(pending)
      let mailbox = mailbox
      pending.destination.resolved.transport.start(ExchangeID(rawValue: id), request) {
        mailbox.put(.replied(id, uncoded?.judged($0) ?? $0))
      }
    } catch {
      outcomes.connectionIsFree(pending, .interrupted)
      outcomes.conclude(id, .failed(error, .permanent), reply: nil, identityNow: nil)
    }
  }

  /// The URL from a command was refused since the request was prepared, or has expired. A URL obtained for this request
  /// is used regardless of its expiry time.
  private func needsURL(_ pending: PendingRequest, _ work: FileWork) -> Bool {
    let route = work.machine.facts.route
    guard pending.destination.resolved.urls != nil, pending.range != nil, work.target != nil,
      route.needsStart(wallMs: engine.civilMs)
    else { return false }
    return route.start == nil || pending.prepared?.start != route.start
  }

  private func request(_ pending: PendingRequest, _ work: FileWork) throws(Failure) -> TransferRequest {
    let destination = pending.destination
    let proto = destination.resolved.transferProtocol
    let facts = pending.facts(work)
    (pending.learnedWhenSent, pending.routeWhenSent) = (destination.learned, facts.route)
    let context = pending.context(work, civilMs: engine.civilMs)
    var request = try proto.request(pending.requestStep, facts, context)
    if let body = pending.prepared?.body { request.body = body.requestBody(in: request.envelope) }
    pending.prepared?.region?.allowance = hosts.allowance
    request.sink = pending.prepared?.region
    pending.prefixLength = request.envelope?.prefix.count ?? 0
    request.credentialLabel = destination.resolved.credentials.label
    if destination.learned.refusesExpect { request.omitExpect() }
    if pending.range != nil, work.machine.abilities.repeatable {
      request.limits.stallMs = destination.host.pauses.limitMs(request.limits.stallMs, failures: pending.step.failures)
    }
    request.rateGroup = RateGroup(rawValue: work.machine.claimed.batch.rawValue)
    let (id, mailbox) = (pending.id, mailbox)
    if proto.hearsInterim { request.onInterim = { mailbox.put(.heard(id, $0)) } }
    return request
  }
}

extension PendingRequest {
  /// The server's listing entry for the chunk of the request.
  func listing(_ work: FileWork) -> ListedPart? {
    guard case .chunk(let chunk) = step.step, range == chunk.range else { return nil }
    return work.machine.facts.listed[chunk.seq]
  }

  /// The receipt of a chunk that need not be sent: only its answer was lost in a crash of the engine.
  fileprivate func found(_ work: FileWork) -> PartReceipt? {
    guard let listing = listing(work), case .chunk(let chunk) = requestStep else { return nil }
    return destination.resolved.transferProtocol.receipt(of: chunk, in: listing)
  }
}
