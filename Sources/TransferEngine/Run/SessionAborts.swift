import TransferLedger
import TransferModel
import TransferProtocols

/// Aborts sessions of given-up files on their servers: before the first claim, when no file is left, and when people
/// cancel files in between. Each request has its own attempt, which is durable before it is sent. Used by the engine's
/// thread; results from other threads are posted as ``Event``s.
final class SessionAborts {
  enum Event: Sendable {
    case claimed(Result<[AbortWork], TransferError>)
    case request(AbortRequests.Event)
    case begun(Result<AbortWork, TransferError>, AbortRun)
    case ended(Result<Void, TransferError>)
    /// The partial file of a download was removed, or could not be removed for this reason.
    case removed(AbortWork, Result<Void, Failure>)
  }

  /// The services it uses from the loop.
  struct Surroundings {
    let engine: Engine
    let numbers: RequestNumbers
    let pool: PreparingPool
    let credentials: FreshCredentials
    let batches: Batches
    /// Posts an event to the mailbox of the loop; callable from any thread.
    let report: @Sendable (Event) -> Void
    let stop: RunStop
  }

  /// Sessions per pass; the next run handles the rest.
  private static let sessionsPerPass = 1_000
  private static let requestsAtOnce = 4

  private let around: Surroundings
  private var waiting: [AbortRun] = []
  private let requests: AbortRequests
  private var isClaiming = false
  /// Writes that the ledger has not confirmed.
  private var writes = 0
  private var passesLeft = 5

  init(_ around: Surroundings) {
    self.around = around
    requests = AbortRequests(around)
  }

  /// The number of passes per run is limited, so that a server that refuses does not keep the run alive.
  var hasPassesLeft: Bool { passesLeft > 0 }
  /// Nothing is running that could still post events.
  var isQuiet: Bool { requests.count == 0 && !isClaiming && writes == 0 }
  var isIdle: Bool { waiting.isEmpty && isQuiet }

  /// Claims the sessions of given-up files. If `counts`, this is one of the limited passes of a run.
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
    case .request(let event): advance(requests.handle(event))
    case .begun(let result, let abort): begun(result, abort)
    case .ended(let result): ended(result)
    case .removed(let work, let result): removed(work, result)
    }
  }

  /// Sends waiting requests, a few at a time; when the run stops, unsent ones are released.
  func send(isStopping: Bool) {
    while var next = waiting.last, isStopping || requests.count < Self.requestsAtOnce {
      waiting.removeLast()
      if !isStopping, let known = try? around.batches.destination(of: next.work.batch) {
        next.begin(known.resolved.transferProtocol)
      }
      if isStopping {
        end(next.work, AttemptResult(outcome: .interrupted, code: .engineInterrupted), nil)
      } else if next.work.direction == .download {
        remove(next.work)
      } else if next.step != nil {
        advance(requests.begin(next))
      } else {
        // An auditor must not conclude that something was aborted.
        let text = "nothing was sent: the server has no upload to abort"
        end(next.work, AttemptResult(outcome: .interrupted, message: text), .gone)
      }
    }
  }

  /// Cancels the requests that were sent.
  func cancel() { requests.cancel() }

  /// The machine slept: the requests that were sent are repeated over new connections. To repeat them does no harm.
  func endBySleep() { requests.endBySleep() }

  private func advance(_ ending: AbortRequests.End?) {
    switch ending {
    case nil: break
    case .next(let abort, let result): beginNext(abort, after: result)
    case .over(let work, let result, let state): end(work, result, state)
    }
  }

  private func claimed(_ result: Result<[AbortWork], TransferError>) {
    isClaiming = false
    switch result {
    case .failure(let error): around.stop.fail(error)
    case .success(let works): waiting += works.map(AbortRun.init)
    }
  }

  /// A download has nothing on its server. Its partial file is removed, unless the download was retried and needs it.
  private func remove(_ work: AbortWork) {
    if work.isLive { return end(work, AttemptResult(outcome: .interrupted), .gone) }
    guard let download = download(of: work) else { return }
    writes += 1
    let report = around.report
    let names = TargetNames(
      work.path, below: download.folder, work.uid, of: work.partialOf, isNamedLater: download.usesRemoteNames)
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
      // Nothing can be removed from a folder that cannot be reached, and no run waits until it is available again.
      end(work, AttemptResult(outcome: .fatal, code: failure.code, message: failure.message), .gone)
    }
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
    // If the ledger refuses the attempt, the session stays open until the next run.
    case .failure(let error): if error.kind != .bug { around.stop.fail(error) }
    }
  }

  private func end(_ work: AbortWork, _ result: AttemptResult, _ state: SessionState?) {
    writes += 1
    let (run, report) = (around.engine.run, around.report)
    around.engine.ledger.write(
      { tx in try tx.endAbort(work, run, result, state) }, then: { report(.ended($0)) })
  }

  /// If the ledger refuses the change, the attempt stays open until the next run.
  private func ended(_ result: Result<Void, TransferError>) {
    writes -= 1
    if case .failure(let error) = result, error.kind != .bug { around.stop.fail(error) }
  }
}
