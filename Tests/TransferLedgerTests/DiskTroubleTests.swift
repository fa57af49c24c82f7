import CSQLite
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// What an engine's writer does while the disk of the ledger is full or fails.
@Suite struct DiskTroubleTests {
  private let full = SQLiteError(code: SQLITE_FULL, message: "database or disk is full")
  private let broken = SQLiteError(code: SQLITE_IOERR | 4 << 8, message: "disk I/O error")

  /// A ledger whose writer waits `forMs`; each wait advances the clock, and `troubles` collects the errors that the
  /// engine is notified of.
  private func waiting(_ forMs: Int64) throws -> (LedgerFixture, troubles: Lock<[TransferError.Kind]>) {
    let f = try LedgerFixture()
    let clock = f.clock
    let troubles = Lock<[TransferError.Kind]>([])
    var retry = CommitRetry(forMs: forMs) { error in troubles.withLock { $0.append(error.kind) } }
    retry.pause = { clock.advance(ms: $0) }
    f.ledger.retryCommits(retry)
    // When this returns, the writer has set its reserve aside.
    try f.ledger.write { _ in }
    return (f, troubles)
  }

  /// A job that fails `times` times with `error`, then succeeds.
  private func job(refused times: Int, by error: SQLiteError) -> @Sendable (LedgerTransaction) throws -> Int {
    let runs = Lock(0)
    return { tx in
      try tx.recordEvent("result", batch: nil, file: nil, detail: "")
      let run = runs.withLock { n in
        n += 1
        return n
      }
      if run <= times { throw error }
      return run
    }
  }

  private func results(_ f: LedgerFixture) throws -> [String] {
    try f.texts("SELECT count(*) FROM event WHERE verb = 'result'")
  }

  private func reserve(_ f: LedgerFixture) -> Int64? {
    var status = stat()
    return stat(f.path + ".reserve", &status) == 0 ? Int64(status.st_blocks) * 512 : nil
  }

  @Test func aResultIsCommittedWhenThereIsSpaceAgain() throws {
    let (f, troubles) = try waiting(60_000)
    #expect(try f.ledger.write(job(refused: 5, by: full)) == 6)
    #expect(try results(f) == ["1"])
    #expect(troubles.withLock { $0.count } == 5)
    #expect(troubles.withLock { Set($0) } == [.storeFull])
  }

  @Test func aFullDiskGetsTheReserveBeforeAnythingWaits() throws {
    let (f, _) = try waiting(0)
    #expect(try #require(reserve(f)) >= 64 << 10)
    #expect(try f.ledger.write(job(refused: 1, by: full)) == 2)
    #expect(reserve(f) == nil)
    #expect(kind { _ = try f.ledger.write(job(refused: 1, by: full)) } == .storeFull)
  }

  @Test func theReserveGoesWithTheEngineAndIsTakenOverFromADeadOne() throws {
    let f = try LedgerFixture()
    close(open(f.path + ".reserve", O_CREAT | O_WRONLY, 0o600))
    f.ledger.retryCommits(CommitRetry(forMs: 0) { _ in })
    try f.ledger.write { _ in }
    #expect(try #require(reserve(f)) > 0)
    f.ledger.close()
    #expect(reserve(f) == nil)
  }

  @Test func theWaitForSpaceEnds() throws {
    let (f, _) = try waiting(10_000)
    let before = f.clock.bootMs
    #expect(kind { _ = try f.ledger.write(job(refused: .max, by: full)) } == .storeFull)
    #expect(f.clock.bootMs - before == 10_000)
    #expect(try results(f) == ["0"])
    // The last transactions of an engine do not wait again, each for itself.
    #expect(kind { _ = try f.ledger.write(job(refused: .max, by: full)) } == .storeFull)
    #expect(f.clock.bootMs - before == 10_000)
    #expect(try f.ledger.write(job(refused: 0, by: full)) == 1)
    #expect(try f.ledger.write(job(refused: 3, by: full)) == 4)
  }

  @Test func oneFailureOfTheDiskIsCuredByANewConnection() throws {
    let (f, troubles) = try waiting(10_000)
    #expect(try f.ledger.write(job(refused: 1, by: broken)) == 2)
    #expect(try results(f) == ["1"])
    #expect(troubles.withLock { $0 } == [])
  }

  @Test func aDiskThatFailsAgainIsWaitedForAndTold() throws {
    let (f, troubles) = try waiting(10_000)
    #expect(try f.ledger.write(job(refused: 3, by: broken)) == 4)
    #expect(try results(f) == ["1"])
    #expect(troubles.withLock { $0 } == [.storeIO, .storeIO])
    #expect(kind { _ = try f.ledger.write(job(refused: .max, by: broken)) } == .storeIO)
  }

  /// Seen with SQLite 3.40.1: after an I/O error the WAL cannot be opened for writing, and the new connection reports
  /// "readonly".
  @Test func aNewConnectionThatOnlyReadsIsReplaced() throws {
    let (f, _) = try waiting(10_000)
    let errors = Lock([broken, SQLiteError(code: SQLITE_READONLY, message: "attempt to write a readonly database")])
    let written = try f.ledger.write { tx in
      try tx.recordEvent("result", batch: nil, file: nil, detail: "")
      if let error = errors.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
      return 1
    }
    #expect(written == 1)
    #expect(try results(f) == ["1"])
  }

  @Test func whoAsksToStopAtOnceWaitsNoLonger() throws {
    let f = try LedgerFixture()
    let ledger = f.ledger
    f.ledger.retryCommits(CommitRetry(forMs: .max) { _ in ledger.stopRetrying() })
    #expect(kind { _ = try f.ledger.write(job(refused: .max, by: full)) } == .storeFull)
  }
}
