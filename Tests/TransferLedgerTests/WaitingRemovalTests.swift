import CSQLite
import TransferModel
import Testing

@testable import TransferLedger

/// Removals that wait for a destination start no engine, and cost a run with nothing to do nothing. An engine looks at
/// one again when something has changed about its source or the destinations of a job.
@Suite struct WaitingRemovalTests {
  private let f: LedgerFixture
  private let run: RunID
  private let first, second: BatchID

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
    (first, second) = (try Self.batch(f, "put:one", "nightly"), try Self.batch(f, "put:two", "nightly"))
    try Self.list(f, "put:one", "put:two")
  }

  private static func batch(_ f: LedgerFixture, _ place: String, _ job: String?) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    settings.after = SourceRemoval(.delete, base: "/src")
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place, job: job))
    }
  }

  private static func list(_ f: LedgerFixture, _ places: String...) throws {
    let all = Set(places.map { JobDestination(place: $0, prefix: NameBytes(""), destination: $0) })
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
  }

  /// Each file has an inode of its own.
  private func add(_ key: String, to batch: BatchID) throws -> FileID {
    var file = LedgerFixture.source(key)
    file.identity.inode = key.utf8.reduce(7) { $0 &* 131 &+ UInt64($1) }
    switch try f.ledger.write({ [file] in try $0.admit(file, to: batch) }) {
    case .added(let id, _), .requeued(let id): return id
    case let other: throw Surprise("\(other)")
    }
  }

  private func sent(_ key: String, to batch: BatchID) throws -> FileID {
    let id = try add(key, to: batch)
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try file.id == id && tx.completeFile(id, run, proof).isApplied)
    }
    return id
  }

  private func putOff(_ files: [FileID]) throws {
    try f.ledger.write { tx in
      try tx.endRemovals(files.map { ($0, .putOff(.policyDestination, "not yet")) }, verb: "source-deleted")
    }
  }

  private func waiting(_ files: [FileID]) throws -> [Bool] {
    try files.map { try f.texts("SELECT waits_for IS NOT NULL FROM removal WHERE file_id = \($0.rawValue)") == ["1"] }
  }

  enum Change: CaseIterable {
    case received, revoked, hidden, failed, sighted, sightedAgain, unlisted, kept, pruned, elsewhere
  }

  @Test(arguments: Change.allCases) func whatHasChangedIsLookedAtAgain(_ change: Change) throws {
    let given = try add("a", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    let files = [try sent("a", to: first), try sent("b", to: first)]
    var missing = given
    if change == .sightedAgain { try sight(files[0], 1) }
    try putOff(files)
    #expect(try waiting(files) == [true, true])
    #expect(try !f.ledger.read { try $0.hasDueRemoval() })
    switch change {
    case .received: _ = try sent("a", to: Self.batch(f, "put:two", nil))
    case .revoked:
      let other = try sent("a", to: Self.batch(f, "put:three", nil))
      try putOff([files[0]])
      _ = try f.ledger.control(.cancel, RowFilter.files([other]))
    case .hidden: _ = try f.ledger.control(.clean(failed: false), RowFilter.files([given]))
    case .failed:
      missing = try add("a", to: second)
      try fail(missing)
    case .sighted, .sightedAgain: try sight(files[0], 2)
    case .unlisted: try Self.list(f, "put:one", "put:three")
    case .kept:
      var (change, filter) = (BatchChange(), RowFilter())
      change.keepsSources = true
      filter.batches = [second.rawValue...second.rawValue]
      #expect(try f.ledger.changeBatches(filter, change).changed == [second])
    case .pruned:
      try f.shell("PRAGMA foreign_keys = OFF; DROP TRIGGER file_stays; DELETE FROM file WHERE id = \(given.rawValue)")
    case .elsewhere: try putOff([try sent("c", to: second)])
    }
    let isOfAll = change == .unlisted || change == .kept
    #expect(try waiting(files) == [change == .elsewhere, !isOfAll])
    if change == .failed { _ = try f.ledger.control(.clean(failed: true), RowFilter.files([missing])) }
    #expect(try f.ledger.read { try $0.hasDueRemoval(ofJob: "nightly") } == (change != .elsewhere))
  }

  /// Its source is missing.
  private func fail(_ file: FileID) throws {
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(file, run, code: .sourceMissing, message: "gone", keepsSession: false)
    }
  }

  private func sight(_ file: FileID, _ ctime: Int) throws {
    let isKnown = try f.texts("SELECT count(*) FROM sighting WHERE file_id = \(file.rawValue)") == ["1"]
    try f.shell(
      isKnown
        ? "UPDATE sighting SET ctime_ns = \(ctime) WHERE file_id = \(file.rawValue)"
        : "INSERT INTO sighting (file_id, ctime_ns, device, boot, seen_at) VALUES (\(file.rawValue), \(ctime), 3, 0, 0)"
    )
  }

  /// The steps of SQLite's virtual machine for what a run with nothing to do asks.
  @Test func howManyWaitCostsNothing() throws {
    func steps() throws -> Int {
      try f.ledger.read { reader in
        _ = Self.counted(reader.db)
        #expect(try !reader.hasDueRemoval(ofJob: "nightly") && !reader.hasDueRemoval())
        #expect(try reader.nextFolderWait(after: nil, nowMs: 0) == nil)
        let files = try #require(try reader.filesAwaitingDestination())
        _ = try reader.sourcesAwaitingDestination(after: 0, through: files.upperBound, limit: 5)
        return Self.counted(reader.db)
      }
    }
    try putOff(try (0..<10).map { try sent("a\($0)", to: first) })
    let few = try steps()
    try putOff(try (0..<200).map { try sent("b\($0)", to: first) })
    #expect(try steps() <= few + few / 10, "\(few)")
    #expect(try f.findings() == [])
  }

  private static func counted(_ db: Connection) -> Int {
    var (sum, next) = (0, sqlite3_next_stmt(db.db, nil))
    while let statement = next {
      sum += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
      next = sqlite3_next_stmt(db.db, statement)
    }
    return sum
  }
}
