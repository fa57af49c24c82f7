import CSQLite
import Testing
import TransferModel

@testable import TransferLedger

/// After a sleep of the machine, files that wait for the network are due.
@Suite struct SleepWaitsTests {
  /// In each of two batches, 40 files wait for something else, and one for the network.
  private func waiting() throws -> (LedgerFixture, RunID) {
    let f = try LedgerFixture()
    let run = try f.startRun()
    for place in ["put:one", "put:two"] {
      let batch = try f.makeBatch(place, priority: 0)
      let files = try (0...40).map { try f.add("\(place)\($0)", size: 20, to: batch) }
      let dueMs = f.clock.wallMs + 20_000
      try f.ledger.write { tx in
        for _ in files { _ = try tx.claimAndPlan(run) }
        for file in files {
          if file == files[30] {
            let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
            var failed = result(.retry)
            failed.code = .netReset
            _ = try tx.closeAttempt(chunk.attempt, run, failed)
            _ = try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: dueMs)
          }
          _ = try tx.releaseFile(file, run, notBeforeMs: dueMs, code: nil, isFailure: true)
        }
      }
    }
    return (f, run)
  }

  /// The number of pages, and the steps of SQLite that reading them took.
  private func read(limit: Int) throws -> (pages: Int, steps: Int) {
    let (f, run) = try waiting()
    var (pages, last): (Int, WaitingFile?) = (0, nil)
    repeat {
      last = try f.ledger.write { [last] tx in try tx.endNetworkWaits(run, after: last, limit: limit) }
      pages += 1
    } while last != nil && pages < 100
    #expect(try f.texts("SELECT count(*) FROM file WHERE state = 'pending' AND not_before IS NULL") == ["2"])
    return (pages, try f.ledger.write { tx in Self.steps(tx.db) })
  }

  private static func steps(_ db: Connection) -> Int {
    var (sum, next) = (0, sqlite3_next_stmt(db.db, nil))
    while let statement = next {
      if String(cString: sqlite3_sql(statement)).contains("file_backing_off") {
        sum += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
      }
      next = sqlite3_next_stmt(db.db, statement)
    }
    return sum
  }

  /// A page begins behind the last one, also in the middle of a batch: many small pages cost hardly more than one.
  @Test func eachWaitingFileIsExaminedOnce() throws {
    let (one, many) = (try read(limit: 1_000), try read(limit: 10))
    #expect(one.pages == 1 && many.pages == 9)
    #expect(one.steps > 82 && many.steps < 2 * one.steps, "\(one.steps) steps became \(many.steps)")
  }
}
