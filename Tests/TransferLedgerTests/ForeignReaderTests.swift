import Testing
import TransferModel

@testable import TransferLedger

/// Another program that reads the ledger prevents its WAL from being emptied, and is named.
@Suite struct ForeignReaderTests {
  /// Names even a reader that began when the WAL was empty: nothing is copied into the database while it reads.
  @Test(arguments: [false, true]) func whoeverReadsIsNamed(emptiesLogBefore: Bool) throws {
    let f = try LedgerFixture()
    _ = try f.makeBatch()
    if emptiesLogBefore { try f.restart() }
    #expect(StoreCondition(at: f.path).walReaders == [])
    let reader = try ForeignReader(of: f.path)
    #expect(StoreCondition(at: f.path).walReaders == [reader.pid])
    reader.end()
    #expect(StoreCondition(at: f.path).walReaders == [])
  }
}
