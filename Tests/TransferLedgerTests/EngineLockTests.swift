import Testing
import TransferModel

@testable import TransferLedger

/// The lock of the only engine, of which each instance stands for a process.
@Suite struct EngineLockTests {
  private let f: LedgerFixture
  private let one, other: EngineLock

  init() throws {
    f = try LedgerFixture()
    (one, other) = (EngineLock(ofLedger: f.path), EngineLock(ofLedger: f.path))
  }

  private func run(_ pid: Int32) -> NewRun { NewRun(argv: ["run"], version: "1", host: "here", bootID: "b", pid: pid) }

  @Test func itNamesItsHolderUntilItIsReleased() throws {
    try one.take(for: run(7), nil)
    // The same engine begins another run.
    try one.take(for: run(7), nil)
    let error = #expect(throws: TransferError.self) { try other.take(for: run(8), nil) }
    #expect(error?.kind == .locked && error?.cause == "another engine is running: pid 7 on here")
    one.release()
    try other.take(for: run(8), nil)
  }

  @Test func whatNeedsNoEngineKeepsEnginesOut() throws {
    let held = try one.whileIdle(for: run(7)) { () throws(TransferError) -> String? in
      let error = #expect(throws: TransferError.self) { try other.take(for: run(8), nil) }
      return error?.cause
    }
    #expect(held == "another engine is running: pid 7 on here")
    try other.take(for: run(8), nil)
  }

  @Test func nothingIsDoneWhileAnEngineRuns() throws {
    try one.take(for: run(7), nil)
    for lock in [one, other] {
      let done = try lock.whileIdle(for: run(8)) { () throws(TransferError) -> Bool? in true }
      #expect(done == nil)
    }
  }
}
