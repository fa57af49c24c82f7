import TransferLedger
import TransferModel

/// Writes changes of files to the ledger, many units in one transaction: owner of the ``CommitQueue``. Used by the
/// engine's thread.
final class Commits {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private var queue = CommitQueue()

  init(_ engine: Engine, _ mailbox: Mailbox<EngineEvent>) { (self.engine, self.mailbox) = (engine, mailbox) }

  var isEmpty: Bool { queue.isEmpty }
  /// Some write is not yet confirmed by the ledger.
  var isWriting: Bool { queue.running > 0 }
  /// Nothing waits to be written, and nothing is being written.
  var isIdle: Bool { queue.isIdle }
  /// Waiting longer would not help.
  var isDue: Bool { queue.isDue(nowMs: engine.bootMs) }
  /// When the oldest unit has waited long enough, by the boot clock; nil if none waits.
  var dueMs: Int64? { queue.dueMs }

  /// Adds the unit to the next commit.
  func append(_ unit: FileUnit) { queue.append(unit, nowMs: engine.bootMs) }

  /// Passes the gathered units to the ledger as one job.
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
