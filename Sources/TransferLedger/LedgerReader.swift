public import TransferModel

/// A consistent snapshot of the ledger; only valid inside the body that it was given to.
public struct LedgerReader {
  let db: Connection

  public func batchSettings(_ batch: BatchID) throws -> BatchSettings? { fatalError("unfinished") }
  public func nextDueMs() throws -> Int64? { fatalError("unfinished") }
  public func workLeft() throws -> WorkLeft { fatalError("unfinished") }
  public func check() throws -> [Finding] { fatalError("unfinished") }
  public static var invariants: [(name: String, sql: String)] { fatalError("unfinished") }
}
