import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// A ledger whose file no longer has its path while a process has it open: a cleaner of temporary files, a restored
/// backup, an `rsync --delete`.
@Suite struct LostPathTests {
  /// Whoever still writes to it writes to nothing: the next process that opens the path finds no trace of it.
  @Test(arguments: ["delete", "move", "replace"]) func aLedgerThatLostItsPathIsWrittenNoMore(_ how: String) throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    let away = f.folder + "/away.db"
    switch how {
    case "delete": #expect(unlink(f.path) == 0)
    case "move": #expect(rename(f.path, away) == 0)
    default:
      try writeBytes(try fileBytes(f.path), to: away)
      #expect(rename(away, f.path) == 0)
    }
    for _ in 0..<2 {
      let error = #expect(throws: TransferError.self) { _ = try f.ledger.write { try $0.heartbeat(run) } }
      #expect(error?.kind == .storeIO && error?.cause.contains("deleted, moved or replaced") == true)
    }
    guard how == "move" else { return }
    // Not even after it is back: another process may have begun a ledger there meanwhile.
    #expect(rename(away, f.path) == 0)
    #expect(throws: TransferError.self) { _ = try f.ledger.write { try $0.heartbeat(run) } }
    try f.restart()
    #expect(try f.ledger.write { try $0.heartbeat(run) } == .applied)
  }

  /// A ledger at the path meanwhile has its own log, which is not that of the open file.
  @Test func theLogOfAnotherLedgerIsLeftAlone() throws {
    let f = try LedgerFixture()
    _ = try f.startRun()
    for name in try fileNames(in: f.folder) { unlink(f.folder + "/" + name) }
    let other = try Ledger.open(at: f.path, mode: .create, clock: f.clock)
    let run = try other.startRun(NewRun(argv: ["test"], version: "0.1", host: "here", bootID: "b", pid: 8))
    #expect(kind { _ = try f.ledger.write { try $0.heartbeat(run) } } == .storeIO)
    f.ledger.close()
    #expect(try other.write { try $0.heartbeat(run) } == .applied)
    other.close()
    #expect(try f.texts("SELECT pid FROM engine_run") == ["8"])
  }
}
