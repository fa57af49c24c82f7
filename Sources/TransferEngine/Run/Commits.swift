import TransferLedger
import TransferModel

/// Writes changes of files to the ledger, many units in one transaction: owner of the ``CommitQueue``. Used by the
/// engine's thread.
final class Commits {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let pool: PreparingPool
  private var queue = CommitQueue()
  /// Units whose local work has not ended.
  private var postponed = 0

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>, pool: PreparingPool) {
    (self.engine, self.mailbox, self.pool) = (engine, mailbox, pool)
  }

  var isEmpty: Bool { queue.isEmpty && postponed == 0 }
  /// Some write is not yet confirmed by the ledger, or waits for local work.
  var isWriting: Bool { queue.running > 0 || postponed > 0 }
  /// Nothing waits to be written, and nothing is being written.
  var isIdle: Bool { queue.isIdle && postponed == 0 }
  /// Waiting longer would not help.
  var isDue: Bool { queue.isDue(nowMs: engine.bootMs) }
  /// When the oldest unit has waited long enough, by the boot clock; nil if none waits.
  var dueMs: Int64? { queue.dueMs }

  /// Adds the unit to the next commit.
  func append(_ unit: FileUnit) { queue.append(unit, nowMs: engine.bootMs) }

  /// The same after `work` has been done on a preparing thread: until then nobody else can claim the file.
  func append(_ unit: FileUnit, after work: @escaping @Sendable () -> Void) {
    postponed += 1
    let mailbox = mailbox
    pool.wait(work, then: { mailbox.put(.localWorkEnded(unit)) })
  }

  /// The work before the unit has been done.
  func localWorkEnded(_ unit: FileUnit) {
    postponed -= 1
    append(unit)
  }

  /// Passes the gathered units to the ledger as one piece of work.
  func writeGathered() {
    guard !queue.isEmpty else { return }
    write(queue.takeAll(), isRepeat: false)
  }

  func write(_ units: [FileUnit], isRepeat: Bool) {
    let run = engine.run
    write(
      { tx in try units.map { try $0.apply(tx, run: run) } }, then: { .committed($0, units, isRepeat: isRepeat) })
  }

  /// Writes rows other than those of units; call ``ended()`` with its event.
  func write<T: Sendable>(
    _ change: @escaping @Sendable (LedgerTransaction) throws -> T,
    then event: @escaping @Sendable (Result<T, TransferError>) -> EngineEvent
  ) {
    queue.writeBegan()
    let mailbox = mailbox
    engine.ledger.write(change, then: { mailbox.put(event($0)) })
  }

  /// The ledger has confirmed a write.
  func ended() { queue.writeEnded() }
}
