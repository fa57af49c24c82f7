import CSQLite
import TransferModel
import Testing

@testable import TransferLedger

/// Files that are longer than what is left of a limit: which of them are claimed nevertheless, and what it costs to
/// pass over the others.
@Suite struct LeftOutFilesTests {
  private let f: LedgerFixture
  private let run: RunID
  private let batch: BatchID
  private static let sizes: ClosedRange<Int64> = 100...1_000

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
    batch = try f.makeBatch()
  }

  private func add(_ count: Int, _ name: String, size: Int64) throws -> [FileID] {
    try f.ledger.write { [batch] tx in
      try (0..<count).map { n in
        guard case .added(let id, _) = try tx.admit(LedgerFixture.source("\(name)\(n)", size: size), to: batch) else {
          throw Surprise(name)
        }
        return id
      }
    }
  }

  /// The files, and the steps of SQLite's virtual machine for the claim.
  private func claim(_ limit: Int, passed: FileID? = nil) throws -> (files: [FileID], steps: Int) {
    try f.ledger.write { [batch, run] tx in
      _ = Self.counted(tx.db)
      let files = try tx.claimFiles(
        run, limit: limit, leftOut: [batch: Self.sizes], passed: passed.map { [batch: $0] } ?? [:])
      return (files.map(\.id), Self.counted(tx.db))
    }
  }

  private func isAnyReady() throws -> Bool {
    try f.ledger.read { [batch] reader in try reader.hasReadyFiles(without: [], leftOut: [batch: Self.sizes]) }
  }

  private func isAnyReady(among batches: Set<BatchID>) throws -> Bool {
    try f.ledger.read { [batch] reader in
      try reader.hasReadyFiles(among: batches, leftOut: [batch: Self.sizes])
    }
  }

  private static func counted(_ db: Connection) -> Int {
    var (sum, next) = (0, sqlite3_next_stmt(db.db, nil))
    while let statement = next {
      sum += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
      next = sqlite3_next_stmt(db.db, statement)
    }
    return sum
  }

  /// Its only body is stored, and no byte of it is sent again.
  @Test func aFileThatOnlyNeedsItsFinishIsClaimed() throws {
    let files = try add(3, "long", size: 200)
    try f.ledger.write { [run] tx in
      let claimed = try tx.claimFiles(run, limit: 2).map(\.id)
      for id in claimed { _ = try tx.plan(id, run, ChunkLayout(whole: 200)) }
      try tx.sendAll(files[1], run)
      for id in claimed { _ = try tx.releaseFile(id, run, notBeforeMs: nil, code: nil, isFailure: false) }
    }
    let long = try f.ledger.read { [batch] in try $0.readyFiles(of: batch, sizes: Self.sizes, limit: 9).map(\.id) }
    #expect(long == [files[0], files[2]])
    #expect(try isAnyReady())
    #expect(try isAnyReady(among: [batch]))
    #expect(try !isAnyReady(among: []))
    #expect(try claim(9).files == [files[1]])
    #expect(try !isAnyReady())
    #expect(try !isAnyReady(among: [batch]))
  }

  /// The first claim passes over the long files, and the following ones begin behind it, until they are not filled.
  @Test func longFilesArePassedOverOnce() throws {
    _ = try add(1_000, "long", size: 200)
    let short = try add(40, "short", size: 10)
    let first = try claim(10)
    #expect(first.files == Array(short[0..<10]))
    try f.ledger.write { [run] tx in
      _ = try tx.releaseFile(short[0], run, notBeforeMs: nil, code: nil, isFailure: false)
    }
    let second = try claim(10, passed: first.files.last)
    #expect(second.files == Array(short[10..<20]))
    #expect(second.steps < first.steps / 3, "\(first.steps) and \(second.steps)")
    #expect(try claim(30, passed: second.files.last).files == [short[0]] + short[20..<40])
  }
}
