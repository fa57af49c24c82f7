import TransferLedger
import TransferModel

/// Work on sources other than sending: the second check of sources that may still be written, and the removal of
/// sources of done files. Both run on a preparing thread, one after the other. Used by the engine's thread.
final class SourceUpkeep {
  private static let everyMs: Int64 = 1_000
  private static let removalsEveryMs: Int64 = 5_000

  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let stop: RunStop
  private let tally: RunTally
  private let claims: Claims
  private let pool: PreparingPool
  private let readStop: ReadStop
  private let startedMs: Int64
  /// The removals that failed or were postponed in this run.
  private let left = Lock(SourceRemovals.Left())
  private var nextMs: Int64 = 0
  private var nextRemovalsMs: Int64 = 0
  private var doneAtRemovals = -1
  private var isWorking = false
  private var doneAtRest = -1

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, stop: RunStop, tally: RunTally, claims: Claims,
    pool: PreparingPool, readStop: ReadStop
  ) {
    (self.engine, self.mailbox, self.stop, self.tally) = (engine, mailbox, stop, tally)
    (self.claims, self.pool, self.readStop) = (claims, pool, readStop)
    startedMs = engine.bootMs
  }

  /// None of its work is running.
  var isQuiet: Bool { !isWorking }

  func workIfDue() {
    let nowMs = engine.bootMs
    guard !isWorking, !stop.isStopping, nowMs >= nextMs, engine.configuration.claimsFiles else { return }
    do throws(TransferError) {
      let next = try nextLookMs(awaited: false)
      nextMs = min(nowMs + Self.everyMs, max(nowMs + 1, next ?? .max))
      if let next, next <= nowMs { return look() }
    } catch {
      return stop.fail(error)
    }
    guard nowMs >= nextRemovalsMs, tally.done != doneAtRemovals else { return }
    (nextRemovalsMs, doneAtRemovals) = (nowMs + Self.removalsEveryMs, tally.done)
    remove()
  }

  /// When the next source for which this run waits may have settled, by the boot clock; nil for none.
  func awaitedMs() throws(TransferError) -> Int64? {
    engine.configuration.waitsForSettling ? try nextLookMs(awaited: true) : nil
  }

  /// Time until the next work is due, in milliseconds.
  func waitMs(nowMs: Int64) -> Int64 { isWorking || stop.isStopping ? .max : max(1, nextMs - nowMs) }

  private func nextLookMs(awaited: Bool) throws(TransferError) -> Int64? {
    try engine.ledger.read { reader in try reader.nextLookMs(boot: BootID.current, awaited: awaited) }
  }

  private func look() {
    isWorking = true
    let looks = SourceLooks(ledger: engine.ledger, clock: engine.clock, startedMs: startedMs, stop: readStop)
    let (copies, ledger, notice, mailbox) = (
      engine.configuration.copies, engine.ledger, engine.observer.notice, mailbox
    )
    let isStopped = readStop.isAsked
    pool.wait(
      { () -> Result<SourceLooks.Result, TransferError> in
        Result { () throws(TransferError) in
          let seen = try looks.pass()
          if seen.settled > 0 { try copies?.settleLeft(ledger, isStopped: isStopped, notice: notice) }
          return seen
        }
      }, then: { mailbox.put(.looked($0)) })
  }

  /// A pass over the settling sources has ended.
  func looked(_ result: Result<SourceLooks.Result, TransferError>) {
    isWorking = false
    switch result {
    // A failed copy does not delay other files.
    case .failure(let error) where error.kind == .storeIO: engine.observer.notice(.remark("\(error)"))
    case .failure(let error): stop.fail(error)
    case .success(let seen):
      nextMs = engine.bootMs
      if seen.settled > 0 {
        claims.wake()
        tally.needsCount()
      }
    }
  }

  private func remove() {
    isWorking = true
    let removals = SourceRemovals(ledger: engine.ledger, notice: engine.observer.notice, stop: readStop)
    let (left, mailbox) = (left, mailbox)
    pool.wait(
      { () -> Result<Int, TransferError> in
        var known = left.withLock { $0 }
        let result = Result { () throws(TransferError) in try removals.pass(&known) }
        left.withLock { [known] in $0 = known }
        return result
      }, then: { mailbox.put(.removed($0)) })
  }

  /// A pass over the removals has ended.
  func removed(_ result: Result<Int, TransferError>) {
    isWorking = false
    if case .failure(let error) = result { stop.fail(error) }
  }

  /// At the end of a run: begins a last removal pass, unless the previous one handled everything or a signal ends the
  /// run. Meanwhile the loop continues with heartbeats and handles signals, which end the pass.
  /// - Returns: whether a pass was begun.
  func beginsRest() -> Bool {
    guard engine.configuration.claimsFiles, tally.done != doneAtRest, !readStop.isAsked(),
      stop.sequence.fatal == nil, stop.sequence.diskTrouble == nil
    else { return false }
    doneAtRest = tally.done
    left.withLock { $0.putOff = [] }
    remove()
    return true
  }
}
