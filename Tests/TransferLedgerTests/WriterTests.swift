import Glibc
import Testing
import TransferModel

@testable import TransferLedger

@Suite struct WriterTests {
  /// Results of queued jobs, in the order in which the jobs ended.
  final class Results: Sendable {
    let box = Mailbox<Result<Int, TransferError>>()
    func take(_ count: Int) -> [Result<Int, TransferError>] {
      var all: [Result<Int, TransferError>] = []
      while all.count < count { all += box.take() ?? [] }
      return all
    }
  }

  /// Blocks the writer inside a job while `jobs` are queued, so that they have to share a transaction.
  private func queueBehindABlockedJob(
    _ f: LedgerFixture, _ jobs: [@Sendable (LedgerTransaction) throws -> Int]
  ) -> [Result<Int, TransferError>] {
    let results = Results()
    let started = Mailbox<Int>()
    let release = Mailbox<Int>()
    f.ledger.write { _ in
      started.put(1)
      _ = release.take()
      return -1
    } then: {
      results.box.put($0)
    }
    _ = started.take()
    for job in jobs { f.ledger.write(job) { results.box.put($0) } }
    release.put(1)
    return results.take(jobs.count + 1)
  }

  @Test func jobsThatArriveDuringACommitShareTheNext() throws {
    let f = try LedgerFixture()
    let transactions = Lock<Set<Int64>>([])
    let clock = f.clock
    let jobs = (0..<100).map { i -> @Sendable (LedgerTransaction) throws -> Int in
      { tx in
        clock.advance(ms: 1)
        transactions.withLock { _ = $0.insert(tx.wallMs) }
        try tx.recordEvent("joined", batch: nil, file: nil, detail: "\(i)")
        return i
      }
    }
    let results = queueBehindABlockedJob(f, jobs)
    #expect(try results.map { try $0.get() } == [-1] + Array(0..<100))
    // Every job advances the clock, and each transaction reads it once.
    #expect(transactions.withLock { $0.count } == 1)
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'joined'") == ["100"])
  }

  @Test func aJobThatFailsTakesNoOtherWithIt() throws {
    let f = try LedgerFixture()
    let jobs = (0..<10).map { i -> @Sendable (LedgerTransaction) throws -> Int in
      { tx in
        try tx.recordEvent("kept", batch: nil, file: nil, detail: "\(i)")
        if i == 4 { try tx.recordEvent("", batch: nil, file: nil, detail: "refused by a CHECK") }
        if i == 7 { throw Surprise("own error") }
        return i
      }
    }
    let results = queueBehindABlockedJob(f, jobs)
    #expect(results.count { if case .success = $0 { true } else { false } } == 9)
    let kinds = results.compactMap(failureKind)
    #expect(kinds == [.bug, .bug])
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'kept' ORDER BY id") == [
        "0", "1", "2", "3", "5", "6", "8", "9",
      ])
  }

  /// Foreign keys are checked at the commit, which all jobs of a transaction share.
  @Test func aReferenceToNothingTakesNoOtherJobWithIt() throws {
    let f = try LedgerFixture()
    let jobs = (0..<4).map { i -> @Sendable (LedgerTransaction) throws -> Int in
      { tx in
        let batch = i == 2 ? BatchID(rawValue: 99) : nil
        try tx.recordEvent("joined", batch: batch, file: nil, detail: "\(i)")
        return i
      }
    }
    let results = queueBehindABlockedJob(f, jobs)
    #expect(results.compactMap { try? $0.get() } == [-1, 0, 1, 3])
    #expect(try f.texts("SELECT detail FROM event WHERE verb = 'joined' ORDER BY id") == ["0", "1", "3"])
  }

  @Test func aFullDiskRefusesEverybodyAndLaterWorksAgain() throws {
    let f = try LedgerFixture()
    try f.ledger.write { try $0.db.execute("PRAGMA max_page_count = 1") }
    let big: @Sendable (LedgerTransaction) throws -> Int = { tx in
      try tx.recordEvent("big", batch: nil, file: nil, detail: String(repeating: "x", count: 200_000))
      return 1
    }
    let results = queueBehindABlockedJob(f, [big, big])
    let kinds = results.dropFirst().map(failureKind)
    #expect(kinds == [.storeFull, .storeFull])
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'big'") == ["0"])
    try f.ledger.write { try $0.db.execute("PRAGMA max_page_count = 1000000") }
    #expect(try f.ledger.write(big) == 1)
  }

  @Test func aFailingDiskLeavesTheOutcomeUnknownAndTheSecondTimeStopsTheWriter() throws {
    let f = try LedgerFixture()
    let failing: @Sendable (LedgerTransaction) throws -> Int = { tx in
      try tx.recordEvent("lost", batch: nil, file: nil, detail: "")
      throw SQLiteError(code: 10 | 4 << 8, message: "disk I/O error")
    }
    let first = queueBehindABlockedJob(f, [failing, { _ in 2 }]).dropFirst()
    #expect(first.map(failureKind) == [.storeIO, .storeIO])
    #expect(first.allSatisfy { if case .failure(let error) = $0 { error.cause.contains("unknown") } else { false } })
    try f.ledger.write { try $0.recordEvent("after", batch: nil, file: nil, detail: "") }
    #expect(kind { try f.ledger.write(failing) } == .storeIO)
    #expect(kind { try f.ledger.write { try $0.recordEvent("no", batch: nil, file: nil, detail: "") } } == .storeIO)
    #expect(try f.texts("SELECT verb FROM event") == ["after"])
  }

  @Test func aLockedLedgerIsBusyAndThenWorks() throws {
    let f = try LedgerFixture()
    try f.ledger.write { try $0.db.setBusyTimeout(ms: 0) }
    let other = try Connection(path: f.path, access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    #expect(kind { try f.ledger.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") } } == .storeBusy)
    try other.execute("ROLLBACK")
    try f.ledger.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") }
  }

  @Test func whoHoldsTheGateSharedKeepsTheCheckpointAway() throws {
    let f = try LedgerFixture()
    _ = try f.makeBatch()
    let file = try StoreFile(at: f.path, makesFolder: false)
    let gate = try Gate(file)
    let connection = try Store(path: f.path).openWriter()
    let another = try SidecarLock(path: f.path + ".gate")
    try another.lockShared(withinMs: 0)
    #expect(file.walSize > 0)
    #expect(try gate.checkpoint(connection) == false)
    another.unlock()
    #expect(try gate.checkpoint(connection))
    #expect(file.walSize == 0)
  }

  @Test func aReaderInTheWayOfTheCheckpointIsNotWaitedFor() throws {
    let f = try LedgerFixture()
    let reader = try Connection(path: f.path, access: .readOnly)
    try reader.execute("BEGIN; SELECT * FROM file")
    _ = try f.makeBatch()
    let gate = try Gate(StoreFile(at: f.path, makesFolder: false))
    let connection = try Store(path: f.path).openWriter()
    #expect(try gate.checkpoint(connection) == false)
    try reader.execute("COMMIT")
    #expect(try gate.checkpoint(connection))
  }

  @Test func theLogIsEmptiedWhenItIsLongAndAtTheEnd() throws {
    let f = try LedgerFixture()
    let file = try StoreFile(at: f.path, makesFolder: false)
    try f.ledger.write { tx in
      for _ in 0..<20 {
        try tx.recordEvent("big", batch: nil, file: nil, detail: String(repeating: "x", count: 1 << 20))
      }
    }
    // The checkpoint follows the result; the next result comes after the checkpoint.
    try f.ledger.write { try $0.recordEvent("small", batch: nil, file: nil, detail: "") }
    #expect(file.walSize < 1 << 20)
    f.ledger.close()
    #expect(file.walSize == 0)
  }

  @Test func afterTheEndJobsAreRefused() throws {
    let f = try LedgerFixture()
    f.ledger.close()
    f.ledger.close()
    #expect(kind { try f.ledger.write { try $0.recordEvent("x", batch: nil, file: nil, detail: "") } } == .bug)
  }

  @Test func twoLedgersOnOneFileTakeTurns() throws {
    let f = try LedgerFixture()
    let other = try Ledger.open(at: f.path, mode: .create, clock: f.clock)
    defer { other.close() }
    let results = Results()
    for i in 0..<200 {
      (i % 2 == 0 ? f.ledger : other).write { tx in
        try tx.recordEvent("turn", batch: nil, file: nil, detail: "\(i)")
        return i
      } then: {
        results.box.put($0)
      }
    }
    #expect(try Set(results.take(200).map { try $0.get() }) == Set(0..<200))
    #expect(try f.texts("SELECT count(DISTINCT detail) FROM event WHERE verb = 'turn'") == ["200"])
  }

  @Test func manyMayMakeTheSameLedgerAtOnce() throws {
    let f = try LedgerFixture()
    let path = f.folder + "/race.db"
    let clock = f.clock
    let outcomes = Mailbox<TransferError?>()
    let threads = (0..<8).map { _ in
      WorkerThread {
        do throws(TransferError) {
          try Ledger.open(at: path, mode: .create, clock: clock).close()
          outcomes.put(nil)
        } catch { outcomes.put(error) }
      }
    }
    for thread in threads { thread.join() }
    #expect(outcomes.take() == [TransferError?](repeating: nil, count: 8))
  }

  /// A writer that runs one transaction after another lets others in after each, measured by how many of its
  /// transactions the other writer had to wait for.
  @Test func aBusyWriterTakesTurnsWithOthers() throws {
    let f = try LedgerFixture()
    let other = try Ledger.open(at: f.path, mode: .existing, clock: f.clock)
    defer { other.close() }
    let written = Lock(0)
    let isOver = Lock(false)
    let ended = Mailbox<Void>()
    let busy = WorkerThread {
      while !isOver.withLock({ $0 }) {
        _ = try? other.write { tx in
          try tx.recordEvent("busy", batch: nil, file: nil, detail: "")
          written.withLock { $0 += 1 }
          // Takes some milliseconds.
          _ = try tx.db.first(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT max(i) FROM n"
          ) { $0.int(0) }
        }
      }
      ended.put(())
    }
    var waited: [Int] = []
    while written.withLock({ $0 }) < 3 { sched_yield() }
    for i in 0..<60 {
      let before = written.withLock { $0 }
      let during = try f.ledger.write { tx in
        try tx.recordEvent("seldom", batch: nil, file: nil, detail: "\(i)")
        return written.withLock { $0 }
      }
      waited.append(during - before)
    }
    isOver.withLock { $0 = true }
    _ = ended.take()
    busy.join()
    #expect(waited.allSatisfy { $0 <= 3 }, "\(waited)")
  }
}

private func failureKind(_ result: Result<Int, TransferError>) -> TransferError.Kind? {
  if case .failure(let error) = result { error.kind } else { nil }
}
