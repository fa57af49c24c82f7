import TransferModel
import Testing

@testable import TransferLedger

/// A job with several destinations holds the removals of its sources by others: of files that it gave up, under keys
/// that changed, and by other paths of the same inode.
@Suite struct JobClaimTests {
  private let f: LedgerFixture
  private let run: RunID
  private let first, second: BatchID
  private static let lacksSecond = "put:two (job nightly)"

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
    (first, second) = (try Self.batch(f, "put:one", "nightly"), try Self.batch(f, "put:two", "nightly"))
    try list("put:one", "put:two")
  }

  private static func batch(_ f: LedgerFixture, _ place: String, _ job: String?) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    settings.after = SourceRemoval(.delete, base: "/src")
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place, job: job))
    }
  }

  /// A batch without a job.
  private func pushed(_ place: String) throws -> BatchID { try Self.batch(f, place, nil) }

  private func list(_ places: String...) throws {
    let all = Set(places.map { JobDestination(place: $0, prefix: NameBytes(""), destination: $0) })
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
  }

  /// - Parameter path: below `/src`; nil for the path of the key.
  private func add(_ key: String, path: String? = nil, to batch: BatchID) throws -> FileID {
    var file = LedgerFixture.source(path ?? key)
    file.key = NameBytes(key)
    switch try f.ledger.write({ [file] in try $0.admit(file, to: batch) }) {
    case .added(let id, _), .requeued(let id): return id
    case let other: throw Surprise("\(other)")
    }
  }

  private func sent(_ key: String, path: String? = nil, to batch: BatchID) throws -> FileID {
    let id = try add(key, path: path, to: batch)
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try file.id == id && tx.completeFile(id, run, proof).isApplied)
    }
    return id
  }

  private func lacking() throws -> [String?] {
    try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.map(\.lacking)
  }
  private func wanted() throws -> [FileID] {
    try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.filter(\.isWanted).map(\.file)
  }

  enum End: CaseIterable { case cancelled, removed, cleaned, unlisted, kept }

  /// A push delivered the file to one destination, so that the job has nothing but the file that it gave up.
  @Test(arguments: End.allCases) func aFileThatTheJobGaveUpHoldsItsSource(_ end: End) throws {
    let a = try sent("a", to: pushed("put:one"))
    let b = try add("a", to: second)
    switch end {
    case .removed: _ = try f.ledger.control(.remove, RowFilter.files([b]))
    case .cleaned:
      try f.ledger.write { [run] tx in
        _ = try tx.claimAndPlan(run)
        _ = try tx.failFile(b, run, code: .http403, message: "no", keepsSession: false)
      }
      _ = try f.ledger.control(.clean(failed: true), RowFilter.files([b]))
    default: _ = try f.ledger.control(.cancel, RowFilter.files([b]))
    }
    #expect(try lacking() == [Self.lacksSecond])
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    switch end {
    case .unlisted: try list("put:one", "put:three")
    case .kept: try keepSources(of: second)
    default:
      let again = try sent("a", to: second)
      return #expect(try wanted() == [a, again])
    }
    #expect(try lacking() == (end == .kept ? [nil] : ["put:three (job nightly)"]))
    try list("put:one")
    #expect(try wanted() == [a])
    #expect(try f.findings() == [])
  }

  private func keepSources(of batch: BatchID) throws {
    var change = BatchChange()
    change.keepsSources = true
    var filter = RowFilter()
    filter.batches = [batch.rawValue...batch.rawValue]
    #expect(try f.ledger.changeBatches(filter, change).changed == [batch])
  }

  /// The job reads a folder above the one that it read before, and the file under the new key was given up.
  @Test func anOlderFileUnderAnotherKeyIsNoDelivery() throws {
    let old = [try sent("a", path: "sub/a", to: first), try sent("a", path: "sub/a", to: second)]
    #expect(try wanted() == old)
    let new = try sent("sub/a", to: first)
    let last = try add("sub/a", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([last]))
    #expect(try lacking() == [Self.lacksSecond, Self.lacksSecond, Self.lacksSecond])
    #expect(try f.ledger.write { try $0.beginRemovals(old + [new]) }.isEmpty)
  }

  /// A file that was given up under its former key does not count once it has arrived under the new one.
  @Test func aNewerFileUnderAnotherKeyIsOne() throws {
    let old = try sent("a", path: "sub/a", to: first)
    let given = try add("a", path: "sub/a", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    #expect(try lacking() == [Self.lacksSecond])
    let new = [try sent("sub/a", to: first), try sent("sub/a", to: second)]
    #expect(try wanted() == [old] + new)
  }

  /// A symbolic link, another mount or another hard link of the source.
  @Test(arguments: ["weekly", nil]) func anotherPathIsHeldToo(_ job: String?) throws {
    let a = try sent("a", to: first)
    let other = try sent("a", path: "link/a", to: Self.batch(f, "put:three", job))
    #expect(try lacking() == [Self.lacksSecond, Self.lacksSecond])
    #expect(try f.ledger.write { try $0.beginRemovals([a, other]) }.isEmpty)
    let b = try sent("a", to: second)
    #expect(try wanted() == [a, other, b])
    #expect(try f.findings() == [])
  }

  /// It has the content of the source, under the key that the job gives it.
  @Test func aReceiptForAnotherPathCounts() throws {
    let pushed = try sent("a", path: "link/a", to: pushed("put:two"))
    let a = try sent("a", to: first)
    #expect(try wanted() == [pushed, a])
  }

  /// Two hard links among the sources of a job are two sources.
  @Test func aHardLinkOfTheSameJobIsAnotherSource() throws {
    let files = [try sent("a", to: first), try sent("a", to: second)]
    _ = try sent("b", to: first)
    #expect(try lacking() == [nil, nil, Self.lacksSecond])
    #expect(try wanted() == files)
  }

  /// It was renamed: the removal of the former name has ended, and holds nothing up.
  @Test func theFormerNameOfASourceHoldsNothing() throws {
    let old = try sent("old", to: first)
    let other = try sent("new", to: Self.batch(f, "put:three", "weekly"))
    #expect(try lacking() == [Self.lacksSecond, Self.lacksSecond])
    try f.ledger.write { tx in
      try tx.endRemovals([(old, .kept(.sourceMissing, "it was gone before"))], verb: "source-deleted")
    }
    #expect(try wanted() == [other])
  }

  /// Its permissions were changed after the job had lost a destination, whose file no scan looks at any more.
  @Test func aFormerDestinationDoesNotSeeChangesOfTheSource() throws {
    let former = try sent("a", to: Self.batch(f, "put:three", "nightly"))
    let files = [try sent("a", to: first), try sent("a", to: second)]
    for file in files {
      try f.shell(
        "INSERT INTO sighting (file_id, ctime_ns, device, boot, seen_at) VALUES (\(file.rawValue), 7, 3, 0, 0)")
    }
    #expect(try wanted() == files)
    #expect(try f.ledger.write { try $0.beginRemovals([files[0]]) } == [files[0]])
    try f.ledger.write { try $0.endRemovals([(files[0], .done)], verb: "source-deleted") }
    #expect(try f.texts("SELECT count(*) FROM removal WHERE state = 'done'") == ["3"], "\(former)")
    #expect(try f.findings() == [])
  }

  /// The destinations of a job with `{date}` are others on each day: what one of yesterday's lacks waits for today's.
  @Test func theDestinationsOfTodayCount() throws {
    let yesterday = try sent("d1/a", path: "a", to: first)
    let given = try add("d1/a", path: "a", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    func day(_ prefix: String) throws {
      let all = ["put:one", "put:two"].map {
        JobDestination(place: $0, prefix: NameBytes(prefix), destination: "\($0)/\(prefix)")
      }
      try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", Set(all)) }
    }
    try day("d1/")
    #expect(try lacking() == ["put:two/d1/ (job nightly)"])
    try day("d2/")
    #expect(try lacking().allSatisfy { $0 != nil })
    let one = try sent("d2/a", path: "a", to: first)
    #expect(try lacking() == ["put:two/d2/ (job nightly)", "put:two/d2/ (job nightly)"])
    let two = try sent("d2/a", path: "a", to: second)
    #expect(try wanted() == [yesterday, one, two])
  }

  /// The process was killed after the files for one destination were recorded, and before those for the other. Another
  /// engine sends the former; the next run of the job records the rest.
  @Test func aKillBetweenTheAdmissionsHoldsTheSource() throws {
    let page = f.page(["a"])
    func admit(_ place: String) throws {
      var settings = BatchSettings(destination: place)
      settings.after = SourceRemoval(.delete, base: "/src")
      let batch = NewBatch(settings: settings, protocolName: "put", destination: place, job: "nightly")
      let target = AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
      _ = try f.ledger.write { try $0.admit(page, to: target) }
    }
    func send(_ run: RunID) throws {
      try f.ledger.write { tx in
        let file = try tx.claimAndPlan(run)
        try tx.sendAll(file.id, run)
        #expect(try tx.completeFile(file.id, run, proof).isApplied)
      }
    }
    try admit("put:one")
    try f.restart()
    let next = try f.startRun()
    _ = try f.ledger.write { try $0.recover(next) }
    try send(next)
    #expect(try lacking() == [Self.lacksSecond])
    #expect(try f.ledger.write { try $0.beginRemovals([FileID(rawValue: 1)]) }.isEmpty)
    for place in ["put:one", "put:two"] { try admit(place) }
    #expect(try f.texts("SELECT count(*) FROM file") == ["2"])
    try send(next)
    #expect(try wanted().count == 2)
    #expect(try f.findings() == [])
  }

  /// Delivering one hard link does not count as delivering the other.
  @Test func anotherPathOfTheJobIsAnotherSource() throws {
    let given = try add("sub/a", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    _ = try sent("a", to: second)
    for key in ["sub/a", "a"] { _ = try sent(key, to: first) }
    #expect(try lacking() == [nil, Self.lacksSecond, nil])
  }

  /// The same if nothing was recorded for it, because the run was killed.
  @Test func anotherPathDoesNotStandForAFileThatWasNotRecorded() throws {
    _ = try sent("a", to: second)
    for key in ["sub/a", "a"] { _ = try sent(key, to: first) }
    #expect(try lacking() == [nil, Self.lacksSecond, nil])
  }

  /// Until it is given up once more, whatever the clock has done meanwhile: then its path was there again.
  @Test(arguments: [1, 0, -60_000] as [Int64]) func aFileThatIsNowhereHoldsNoOtherPath(_ stepMs: Int64) throws {
    let given = try add("old", to: second)
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    let a = try sent("new", to: pushed("put:three"))
    #expect(try lacking() != [nil])
    #expect(try f.ledger.read { try $0.givenUpFiles(holding: a).map(\.file) } == [given])
    for _ in 0..<2 { try f.ledger.write { try $0.noteAbsent([given, a]) } }
    #expect(try wanted() == [a] && f.ledger.read { try $0.givenUpFiles(holding: a).isEmpty })
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'source-gone'") == ["1"])
    f.clock.advance(ms: stepMs)
    _ = try f.ledger.control(.retry(startsOver: false), RowFilter.files([given]))
    #expect(try f.texts("SELECT count(*) FROM absent_source") == ["0"])
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    #expect(try f.texts("SELECT state FROM file WHERE id = \(given.rawValue)") == ["cancelled"])
    #expect(try lacking() != [nil])
    #expect(try f.findings() == [])
  }

  @Test func aLaterTryOfAnotherDoesNotEndWhatTheJobGaveUp() throws {
    for batch in [second, try pushed("put:two")] {
      let given = try add("a", to: batch)
      _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    }
    _ = try sent("a", to: pushed("put:one"))
    #expect(try lacking() == [Self.lacksSecond])
  }

  /// A source that has changed is sent again by its job, or is gone by then. Nobody repeats a push.
  @Test func aChangedSourceOfAJobIsNotReported() throws {
    try list("put:one")
    for batch in [first, try pushed("put:three")] {
      let file = try sent("a", to: batch)
      try f.ledger.write { tx in
        try tx.endRemovals([(file, .kept(.sourceChanged, "it has changed"))], verb: "source-deleted")
      }
    }
    let totals = try f.ledger.read { try $0.removals(RowFilter()) }
    #expect(totals.kept == 1 && totals.reasons.map(\.sources) == [1])
    #expect(try f.texts("SELECT batch_id, state FROM v_removals") == ["1 kept", "3 kept"])
  }
}
