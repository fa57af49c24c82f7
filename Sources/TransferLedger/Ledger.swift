public import TransferModel

/// The ledger of one machine: an SQLite file that knows every batch, file, chunk and attempt.
public final class Ledger: Sendable {
  public enum OpenMode: Sendable {
    /// Read and write; made when it is missing (directory 0700, file 0600).
    case create
    /// Read and write; `.storeMissing` when it is not there.
    case existing
    /// Read only; works while another process writes.
    case readOnly
  }

  public let path: String

  init(path: String) { self.path = path }

  public static func open(at path: String, mode: OpenMode, clock: any TransferClock) throws(TransferError) -> Ledger {
    fatalError("unfinished")
  }

  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T,
    then: @escaping @Sendable (Result<T, TransferError>) -> Void
  ) { fatalError("unfinished") }

  public func write<T: Sendable>(
    _ body: @escaping @Sendable (LedgerTransaction) throws -> T
  ) throws(TransferError) -> T { fatalError("unfinished") }

  public func read<T>(_ body: (LedgerReader) throws -> T) throws(TransferError) -> T { fatalError("unfinished") }

  public func close() { fatalError("unfinished") }

  public func startRun(_ run: NewRun) throws(TransferError) -> RunID { fatalError("unfinished") }
}
