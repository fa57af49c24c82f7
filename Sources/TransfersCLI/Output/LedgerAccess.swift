import Transfers
import TransferModel
import TransferReports

/// Access of commands to the ledger.
enum LedgerAccess {
  /// Opens it for reading; works while an engine writes.
  static func open(_ path: String, _ context: Context) throws(CommandFailure) -> OpenStore {
    try failing { () throws(TransferError) in try OpenStore(at: path, .readOnly, on: context.machine) }
  }

  /// Opens an existing ledger for writing.
  static func openForWriting(_ path: String, _ context: Context) throws(CommandFailure) -> OpenStore {
    try failing { () throws(TransferError) in try OpenStore(at: path, .existing, on: context.machine) }
  }

  /// Refuses a ledger that cannot be opened, before an engine is built; upgrades one of an older program.
  static func check(_ path: String, _ context: Context) throws(CommandFailure) {
    try openForWriting(path, context).close()
  }

  /// Reads one consistent snapshot.
  static func read<Value>(
    _ ledger: OpenStore, _ body: (StoreReader) throws -> Value
  ) throws(CommandFailure) -> Value {
    try failing { () throws(TransferError) in try ledger.read(body) }
  }
}

extension StoreIdentity {
  init(_ ledger: OpenStore) throws(CommandFailure) {
    let facts = try LedgerAccess.read(ledger) { try $0.storeFacts() }
    self.init(path: ledger.path)
    uid = .text(facts.uid)
    schemaVersion = .integer(facts.schemaVersion)
  }

  /// The identity of the ledger at `path`; only the path if none can be opened there.
  static func ofAny(_ path: String, _ context: Context) -> StoreIdentity {
    (try? read(path, context)) ?? StoreIdentity(path: path)
  }

  /// The identity of the ledger at `path`.
  static func read(_ path: String, _ context: Context) throws(CommandFailure) -> StoreIdentity {
    let ledger = try LedgerAccess.open(path, context)
    defer { ledger.close() }
    return try StoreIdentity(ledger)
  }
}
