import TransferEngine
import TransferLedger
package import TransferModel

/// Operations on the files of a store, not on its rows.
extension TransferStore {
  /// Suffixes of the path of a store; the files with these names belong to it.
  package static var fileSuffixes: [String] { Ledger.fileSuffixes }

  /// The SQLite database, of this or another program, that a path names or that the file with this name would belong
  /// to; nil for any other path. Blocking.
  package static func database(owning path: NameBytes) -> NameBytes? { Ledger.database(owning: path) }

  /// The state of its files according to the file system and the kernel, without opening it as a database.
  package var condition: StoreCondition { StoreCondition(at: path) }

  /// The process that keeps all writers waiting, if it has done so for a second.
  package func gateHolder() -> StoreCondition.GateHolder? { StoreCondition(at: path).gateHolder() }

  /// Copies it into the new file `target`, durable on return; if it fails, `target` is unchanged. `isCancelled` is
  /// called from time to time on this thread. Returns the size of the copy in bytes.
  /// - Throws: `.usage` for a target that must not be written, errors of the store and of the target's disk,
  ///   `.interrupted`.
  package func copy(
    as kind: LedgerCopy, to target: String, replacing: Bool, isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> Int64 {
    try Ledger.copy(path, as: kind, to: target, replacing: replacing, isCancelled: isCancelled)
  }

  /// Updates this merged store, which is created if it is missing, to the state of these shards; see
  /// ``TransferClient/merge(_:into:)``. `isCancelled` is called from time to time on this thread.
  package func merge(
    _ shards: [String], isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> [ShardMerge] {
    try Ledger.merge(shards, into: path, clock: SystemClock(), isCancelled: isCancelled)
  }
}

/// A place in the queue of processes that want to become the engine of a store; it ends with the process. When its turn
/// has come, a run that is started with it takes over the lock.
package final class EngineTurn: Sendable {
  let place: TransferLedger.EngineTurn

  /// Starts waiting for the store at `path`, which must exist.
  package init(at path: String) throws(TransferError) { place = try TransferLedger.EngineTurn(at: path) }

  /// Whether waiting is over: this process holds the lock, or cannot get it by waiting.
  package var hasCome: Bool { place.hasCome }
}
