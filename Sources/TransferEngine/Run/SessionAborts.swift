import TransferLedger
import TransferModel
import TransferProtocols

/// Ends sessions at their servers whose files were given up: before the first claim, when no file is left, and when
/// people call files off meanwhile. Each request has an attempt of its own, which is durable before it is sent. Used by
/// the engine's thread; what happens elsewhere comes back as an ``Event``.
final class SessionAborts {
  enum Event: Sendable {
    case claimed(Result<[AbortWork], TransferError>)
    case request(AbortRequests.Event)
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
  private let requests: AbortRequests
  private var isClaiming = false
  /// Writes that the ledger has not answered.
  private var writes = 0
  private var passesLeft = 5

  init(_ around: Surroundings) {
    self.around = around
    requests = AbortRequests(around)
  }

  /// A few passes a run, so that a server that refuses does not keep it alive.
  var hasPassesLeft: Bool { passesLeft > 0 }
  /// Nothing runs that could still report.
  var isQuiet: Bool { requests.count == 0 && !isClaiming && writes == 0 }
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
    case .request(let event): advance(requests.handle(event))
    case .begun(let result, let abort): begun(result, abort)
    case .ended(let result): ended(result)
    case .removed(let work, let result): removed(work, result)
    }
  }

  /// Sends what waits, a few at a time; when the run stops, what was not sent is given back.
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
        // An auditor must not read that something was ended.
        let text = "nothing was sent: the server has no upload to abort"
        end(next.work, AttemptResult(outcome: .interrupted, message: text), .gone)
      }
    }
  }

  /// Cancels the requests that were sent.
  func cancel() { requests.cancel() }

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
