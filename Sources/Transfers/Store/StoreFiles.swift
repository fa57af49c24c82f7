import TransferEngine
import TransferLedger
package import TransferModel

/// What concerns the files of a store and not its rows.
extension TransferStore {
  /// What belongs to a store: these follow its path.
  package static var fileSuffixes: [String] { Ledger.fileSuffixes }

  /// The SQLite database, of this or another program, that a path names or that the file with this name would belong
  /// to; nil for any other path. Blocking.
  package static func database(owning path: NameBytes) -> NameBytes? { Ledger.database(owning: path) }

  /// What the file system and the kernel say of it now, without opening it as a database.
  package var condition: StoreCondition { StoreCondition(at: path) }

  /// Copies it into the new file `target`, durable on return; on a failure `target` is what it was. `isCancelled` is
  /// asked now and then, from this thread. Returns the size of the copy in bytes.
  /// - Throws: `.usage` for a target that must not be written, errors of the store and of the target's disk,
  ///   `.interrupted`.
  package func copy(
    as kind: LedgerCopy, to target: String, replacing: Bool, isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> Int64 {
    try Ledger.copy(path, as: kind, to: target, replacing: replacing, isCancelled: isCancelled)
  }

  /// Brings the merged store there, made where there is none, up to the state of these shards; see
  /// ``TransferClient/merge(_:into:)``. `isCancelled` is asked now and then, from this thread.
  package func merge(
    _ shards: [String], isCancelled: @escaping () -> Bool
  ) throws(TransferError) -> [ShardMerge] {
    try Ledger.merge(shards, into: path, clock: SystemClock(), isCancelled: isCancelled)
  }
}

/// A place in the queue of those who want to be the one engine of a store; it ends with the process. When the turn has
/// come, a run that is given it takes the lock over.
package final class EngineTurn: Sendable {
  let place: TransferLedger.EngineTurn

  /// Begins to wait for the store at `path`, which exists.
  package init(at path: String) throws(TransferError) { place = try TransferLedger.EngineTurn(at: path) }

  /// Whether it is not worth waiting any longer: the lock is held, or cannot be had like this.
  package var hasCome: Bool { place.hasCome }
}
