import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Connections that a ledger leaves for the next one at its path.
@Suite struct KeptConnectionsTests {
  private let f: LedgerFixture
  private let kept = KeptConnections()

  init() throws {
    f = try LedgerFixture()
    f.ledger.close()
  }

  private func open(_ mode: Ledger.OpenMode = .existing) throws -> Ledger {
    try Ledger.open(at: f.path, mode: mode, clock: f.clock, keeping: kept)
  }

  /// Opens a ledger, writes and reads with it, and closes it.
  private func use() throws {
    let ledger = try open()
    let run = try ledger.startRun(NewRun(argv: ["test"], version: "0.1", host: "here", bootID: "b", pid: 8))
    _ = try ledger.write { try $0.endRun(run, how: "done") }
    #expect(try ledger.read { try $0.newestRun()?.id } == run)
    ledger.close()
  }

  @Test func aLedgerLeavesItsConnectionsAndTheNextOneUsesThem() throws {
    try use()
    let writer = try #require(kept.take(.readWrite, of: f.path))
    let reader = try #require(kept.take(.readOnly, of: f.path))
    #expect(kept.take(.readWrite, of: f.path) == nil && kept.take(.readOnly, of: f.path) == nil)
    let left = [ObjectIdentifier(writer), ObjectIdentifier(reader)]
    kept.keep(writer, .readWrite, of: f.path)
    kept.keep(reader, .readOnly, of: f.path)
    let ledger = try open()
    let used = [try ledger.write { ObjectIdentifier($0.db) }, try ledger.read { ObjectIdentifier($0.db) }]
    #expect(used == left)
    ledger.close()
  }

  @Test func aLaterLedgerSeesWhatOthersWroteMeanwhile() throws {
    try use()
    try f.restart()
    let run = try f.startRun()
    f.ledger.close()
    let ledger = try open(.readOnly)
    #expect(try ledger.read { try $0.newestRun()?.id } == run)
    ledger.close()
  }

  @Test func theConnectionsOfAFileThatWasReplacedAreClosed() throws {
    try use()
    let copy = f.folder + "/copy.db"
    try writeBytes(try fileBytes(f.path), to: copy)
    #expect(rename(copy, f.path) == 0)
    #expect(kept.take(.readWrite, of: f.path) == nil && kept.take(.readOnly, of: f.path) == nil)
  }

  @Test func aConnectionOnWhichSomethingFailedIsClosed() throws {
    let ledger = try open()
    _ = try ledger.read { try $0.newestRun() }
    #expect(throws: TransferError.self) { try ledger.read { (_: LedgerReader) -> Void in throw Surprise("test") } }
    ledger.close()
    #expect(kept.take(.readOnly, of: f.path) == nil)
    #expect(kept.take(.readWrite, of: f.path) != nil)
  }

  @Test func aConnectionInATransactionIsClosed() throws {
    try use()
    let writer = try #require(kept.take(.readWrite, of: f.path))
    try writer.execute("BEGIN IMMEDIATE")
    kept.keep(writer, .readWrite, of: f.path)
    #expect(kept.take(.readWrite, of: f.path) == nil)
  }

  @Test func idleOnesCanBeClosed() throws {
    try use()
    kept.closeIdle()
    #expect(kept.take(.readWrite, of: f.path) == nil && kept.take(.readOnly, of: f.path) == nil)
    try use()
  }
}
