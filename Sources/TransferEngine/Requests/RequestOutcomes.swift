import TransferLedger
import TransferModel
import TransferProtocols

/// Handles the end of a request: its attempt is closed, and its file continues, waits or is released. Owner of the
/// ``RequestRetries``. Used by the engine's thread.
final class RequestOutcomes {
  private let engine: Engine
  private let tally: RunTally
  private let hosts: Hosts
  private let batches: Batches
  private let files: FilesInWork
  private let requests: Requests
  private let inquiries: Inquiries
  private let urls: FreshURLs
  private let credentials: FreshCredentials
  private var retries: RequestRetries
  /// A file waits for the next run, because its body was longer than the bytes that were left of the limit.
  private(set) var holdsForLimit = false

  init(
    _ engine: Engine, tally: RunTally, hosts: Hosts, batches: Batches, files: FilesInWork, requests: Requests,
    inquiries: Inquiries, urls: FreshURLs, credentials: FreshCredentials
  ) {
    (self.engine, self.tally, self.hosts, self.batches) = (engine, tally, hosts, batches)
    (self.files, self.requests, self.inquiries) = (files, requests, inquiries)
    (self.urls, self.credentials) = (urls, credentials)
    retries = RequestRetries(engine, hosts)
  }

  /// A connection is free.
  func connectionIsFree(_ pending: PendingRequest, _ outcome: HostGate.Outcome, bytes: Int64 = 0, tookMs: Int64 = 0) {
    if pending.range != nil, let work = files[pending.file] {
      switch outcome {
      case .success: work.concurrency.succeeded(bytes: bytes, nowMs: engine.bootMs)
      case .lost: work.concurrency.halve(sending: work.machine.openCount, nowMs: engine.bootMs)
      case .throttled, .noConnection, .failure, .interrupted: break
      }
    }
    hosts.ended(pending, outcome, bytes: bytes, tookMs: tookMs)
  }

  // MARK: - Ends

  /// Ends an attempt with its meaning, and continues the file. `reply` is nil if nothing was sent.
  func conclude(_ id: PendingRequest.ID, _ meaning: Interpretation, reply: TransferReply?, identityNow: SourceIdentity?)
  {
    if let pending = requests[id], files[pending.file]?.refusal != nil { return drop(id) }
    if let pending = requests[id], pending.beside != nil { return questionEnded(id, meaning, reply) }
    guard let (pending, work) = requests.end(id) else { return }
    let meaning = pending.withoutHint(meaning, reply, work)
    let loss = reply.flatMap { HostGate.Outcome($0, meaning, wallMs: engine.civilMs) == .lost ? $0 : nil }
    var retry = retries.decide(pending, meaning, loss, identityNow, work.machine)
    retry.mayBeStored = reply?.isEarlySuccess == true && work.machine.hasOneUnaskedBody && pending.step.chunk != nil
    if loss?.isBodyIncomplete == true { retry.shorterLayout = retries.shorterLayout(pending, work.machine) }
    var result = AttemptResult(meaning, reply, retry, wallMs: engine.wallMs)
    result.mirror = pending.otherHost(work)
    if pending.prepared?.twin != nil { result.message = "not sent: a local file has all of it" }
    noteFailure(pending, meaning, result.outcome, retry, work)
    let before = work.machine.bytesStored
    let changes = work.machine.concluded(pending.step, meaning, retry)
    pending.noteCollections(meaning, reply, work, nowMs: engine.bootMs)
    let acked = work.machine.bytesStored - before
    if let remark = meaning.remark {
      result.message = remark
      tally.noted(work.machine, remark)
    }
    if case .stored(let part, _) = meaning.outcome, let reused = part.reused {
      tally.reused(bytes: reused, isStored: true)
    }
    tally.stored(bytes: acked)
    // Bytes that a query found count for the attempts that sent them, as returned by the ledger.
    if acked < 0 { tally.acknowledged(bytes: acked) }
    result.count(acked, of: pending.step, pending.range, meaning, reply)
    if pending.range != nil { tally.acknowledged(bytes: result.bytesAcked) }
    if pending.endsBySleep, result.code == .engineInterrupted { result.code = .engineSlept }
    if reply != nil, !changes.contains(where: \.storesChunk) { result.sent = pending.sentPiece }
    ended(pending, result, changes)
    // After its own attempt: the last of the others to end releases the file, and no attempt of it may be open then.
    if work.machine.ending != nil { endOthers(of: pending.file) }
    noteRoom(pending, meaning)
  }

  /// We stopped a request, or never sent it.
  func interrupt(_ id: PendingRequest.ID, _ reply: TransferReply?, _ message: String? = nil) {
    guard let pending = requests[id], let work = files[pending.file] else { return }
    if work.refusal != nil { return drop(id) }
    let mayHaveArrived = reply?.requestMayHaveArrived ?? false
    let code = pending.endsBySleep ? ErrorCode.engineSlept : .engineInterrupted
    var result = AttemptResult(outcome: .interrupted, code: code, message: message)
    result.mirror = pending.otherHost(work)
    if let reply {
      result.fill(from: reply)
      result.sent = pending.sentPiece
    }
    if pending.beside != nil { return inquiries.ended(id, result) }
    _ = requests.end(id)
    let changes = work.machine.interrupted(pending.step, mayHaveArrived: mayHaveArrived)
    if changes.contains(where: { if case .chunkUnknown = $0 { true } else { false } }) { result.outcome = .unknown }
    ended(pending, result, changes)
  }

  /// A request of a refused file has ended; its answer is not interpreted.
  func drop(_ id: PendingRequest.ID) {
    guard let (pending, work) = requests.end(id) else { return }
    let undecided = takeUndecided(pending)
    files.endRefused(work)
    for file in undecided { files.advance(file) }
  }

  /// The files that waited for the answer to the request, to be advanced after its own file.
  private func takeUndecided(_ pending: PendingRequest) -> [FileID] {
    pending.step.step == .discover ? pending.destination.discovery.end() : []
  }

  /// Cancels a request that is no longer needed.
  func cancel(_ pending: PendingRequest) {
    switch pending.phase {
    case .sending: pending.cancel()
    case .ready: for id in hosts.takeReady(where: { $0 == pending.id }) { interrupt(id, nil) }
    case .preparing, .answered: break
    }
  }

  private func ended(_ pending: PendingRequest, _ result: AttemptResult, _ changes: [FileChange]) {
    let undecided = takeUndecided(pending)
    files.advance(pending.file, ended: EndedAttempt(attempt: pending.step.attempt, result: result), changes: changes)
    for file in undecided { files.advance(file) }
  }

  private func questionEnded(_ id: PendingRequest.ID, _ meaning: Interpretation, _ reply: TransferReply?) {
    let now = RetryDecision(notBeforeMs: engine.wallMs, isExhausted: false)
    var result = AttemptResult(meaning, reply, now, wallMs: engine.wallMs)
    // Its result fails nothing.
    if result.outcome == .fatal || result.outcome == .unknown { result.outcome = .retry }
    let isFound = if case .finished = meaning.outcome { true } else { false }
    inquiries.ended(id, result, isFound: isFound)
  }

  /// The file ends: its other requests are cancelled; if the file is only released, running ones may end.
  private func endOthers(of file: FileID) {
    guard let work = files[file] else { return }
    for id in hosts.takeReady(where: work.requests.contains) { interrupt(id, nil) }
    guard work.machine.othersAreInVain else { return }
    for id in work.requests { if let pending = requests[id], pending.phase == .sending { pending.cancel() } }
  }

  /// The source of a file changed, and a new generation superseded it.
  func superseded(_ file: FileID, by successor: FileID) { retries.superseded(file, by: successor) }

  private func noteFailure(
    _ pending: PendingRequest, _ meaning: Interpretation, _ outcome: AttemptOutcome, _ retry: RetryDecision,
    _ work: FileWork
  ) {
    guard case .failed(let failure, let action) = meaning.outcome else { return }
    if action == .refreshCredential { work.destination.resolved.credentials.refresh() }
    if failure.awaitsNextRun(action) { tally.waits(work.machine, failure) }
    guard action != .hold, action != .elsewhere, outcome == .retry else { return }
    tally.retried(work.machine, failure, failures: pending.step.failures + 1, dueMs: retry.notBeforeMs)
  }

  /// When the disk of a batch is full, its files that have nothing on it yet wait for the next run; space for the
  /// others is allocated.
  private func noteRoom(_ pending: PendingRequest, _ meaning: Interpretation) {
    let batch = pending.destination.batch
    switch meaning.outcome {
    case .begun: batches.quotas.fullDisks.fits(batch)
    case .failed(let failure, .hold) where failure.code == .policyLimit: holdsForLimit = true
    case .failed(let failure, .hold) where failure.isOfFullDisk:
      guard batches.quotas.fullDisks.refused(pending.file, of: batch) else { return }
      for (file, work) in files.all where work.destination.batch == batch {
        guard work.machine.ending == nil, !work.machine.facts.holdsBytes else { continue }
        release(file, notBeforeMs: nil, .localDiskFull)
      }
    default: break
    }
  }

  // MARK: - Releasing

  /// Releases the file without recording a failure, as soon as none of its requests is running.
  func release(_ file: FileID, notBeforeMs: Int64?, _ code: ErrorCode? = nil) {
    guard let work = files[file] else { return }
    work.machine.end(.release(notBeforeMs: notBeforeMs, code, isFailure: false))
    _ = hosts.takeReady(where: work.requests.contains)
    for id in work.requests where requests[id]?.phase == .ready { interrupt(id, nil) }
    urls.giveUp(file)
    credentials.giveUp(file)
    files.advance(file)
  }

  /// The machine slept: ends the running requests, whose connections are probably dead, and releases their files and
  /// those in backoff, to be claimed again at once. A request that must not be repeated, or that finishes a file, is
  /// awaited, because its answer may still arrive.
  func endBySleep(ms: Int64) {
    for (file, work) in files.all {
      let running = work.requests.compactMap { requests[$0] }.filter { pending in
        pending.phase == .sending && pending.mayEnd(bySleepOf: ms, work.machine.abilities)
      }
      guard !running.isEmpty || !work.machine.backoffs.isEmpty else { continue }
      release(file, notBeforeMs: nil)
      for pending in running {
        pending.endsBySleep = true
        pending.cancel()
      }
    }
  }

  /// Releases all files of a batch.
  func release(_ batch: BatchID, _ code: ErrorCode? = nil) {
    for (file, work) in files.all where work.destination.batch == batch { release(file, notBeforeMs: nil, code) }
  }

  /// Blocks a batch that cannot be sent in this run: no credentials, or unusable settings. Its files wait for the next
  /// run; the others continue, and the run ends with the error.
  func block(_ batch: BatchID, _ error: TransferError) {
    if batches.block(batch, error) { release(batch) }
  }
}
