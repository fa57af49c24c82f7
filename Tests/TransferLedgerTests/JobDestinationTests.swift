import TransferModel
import Testing

@testable import TransferLedger

/// A job with several destinations: its sources are removed when each of them has a receipt, and not before.
@Suite struct JobDestinationTests {
  private let f: LedgerFixture
  private let run: RunID
  private let first, second: BatchID

  init() throws {
    let f = try LedgerFixture()
    self.f = f
    run = try f.startRun()
    func batch(_ place: String) throws -> BatchID {
      var settings = BatchSettings(destination: place)
      settings.after = SourceRemoval(.delete, base: "/src")
      return try f.ledger.write { [settings] in
        try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place, job: "nightly"))
      }
    }
    (first, second) = (try batch("put:one"), try batch("put:two"))
    try setDestinations("put:one", "put:two")
  }

  private func setDestinations(_ places: String...) throws {
    let all = Set(places.map { JobDestination(place: $0, prefix: NameBytes(""), destination: $0) })
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
    #expect(try f.ledger.read { try $0.destinations(ofJob: "nightly") } == (all.count > 1 ? all : []))
  }

  private func finish(proves: Bool = true) throws {
    let receipt = proves ? proof : FileReceipt(FileProof(confirmation: .none), location: "put:x")
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, receipt).isApplied)
    }
  }

  private func pending() throws -> [DueRemoval] { try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) } }
  private func due() throws -> [DueRemoval] { try pending().filter { $0.lacking == nil } }
  private func wanted() throws -> [FileID] { try due().filter(\.isWanted).map(\.file) }

  /// Also if the process was killed before it had recorded the file for the second destination.
  @Test func aDestinationThatLacksTheFileHoldsItsSource() throws {
    let a = try f.add("a", to: first)
    try finish()
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    let b = try f.add("a", to: second)
    #expect(try due().isEmpty)
    try finish()
    #expect(try wanted() == [a, b])
    #expect(try f.ledger.write { try $0.beginRemovals([a, b]) } == [a, b])
    #expect(try f.findings() == [])
  }

  @Test(arguments: [ControlVerb.cancel, .remove]) func aFileThatIsGivenUpHoldsItsSource(_ verb: ControlVerb) throws {
    _ = try f.add("a", to: first)
    try finish()
    let b = try f.add("a", to: second)
    _ = try f.ledger.control(verb, RowFilter.files([b]))
    #expect(try due().isEmpty)
  }

  @Test func aFailedFileThatIsHiddenHoldsItsSource() throws {
    _ = try f.add("a", to: first)
    try finish()
    let b = try f.add("a", to: second)
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(b, run, code: .http403, message: "no", keepsSession: false)
    }
    _ = try f.ledger.control(.clean(failed: true), RowFilter.files([b]))
    #expect(try due().isEmpty)
  }

  /// A file that was renamed before its turn fails, and is sent under its new name. For another job, its path may be
  /// another link or another mount.
  @Test(arguments: ["nightly", "weekly"]) func theFormerNameOfASourceHoldsItForOthersOnly(_ job: String) throws {
    try setDestinations("put:one")
    let old = try f.add("old", to: batch("put:one", ofJob: job))
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(old, run, code: .sourceMissing, message: "gone", keepsSession: false)
    }
    let new = try f.add("new", to: first)
    try finish()
    #expect(try wanted() == (job == "nightly" ? [new] : []))
  }

  @Test func aDestinationThatTheJobNoLongerHasDoesNotCount() throws {
    let a = try f.add("a", to: first)
    try finish()
    #expect(try due().isEmpty)
    try setDestinations("put:one", "put:three")
    #expect(try due().isEmpty)
    try setDestinations("put:one")
    #expect(try wanted() == [a])
  }

  /// Another job, and a batch without one, have no list.
  @Test func othersAreNotConcerned() throws {
    var settings = BatchSettings(destination: "put:one")
    settings.after = SourceRemoval(.delete, base: "/src")
    let manual = try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: "put:one"))
    }
    let a = try f.add("a", to: manual)
    try finish()
    #expect(try wanted() == [a])
  }

  /// The same place with another prefix is another destination.
  @Test func aPlaceAloneIsNoDestination() throws {
    let all: Set = [
      JobDestination(place: "put:one", prefix: NameBytes(""), destination: "put:one"),
      JobDestination(place: "put:one", prefix: NameBytes("x/"), destination: "put:one"),
    ]
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
    _ = try f.add("a", to: first)
    try finish()
    #expect(try due().isEmpty)
  }

  @Test func theSpellingOfADestinationDoesNotMatter() throws {
    let all = Set(
      ["put:one", "put:two"].map { JobDestination(place: $0, prefix: NameBytes(""), destination: $0 + "/?secret") })
    #expect(all.map(\.destination).sorted() == ["put:one/", "put:two/"])
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
    let files = [try f.add("a", to: first), try f.add("a", to: second)]
    for _ in files { try finish() }
    #expect(try wanted() == files)
  }

  /// The same source below another folder of the same place.
  @Test func anotherKeyDoesNotCount() throws {
    var other = LedgerFixture.source("a")
    other.key = NameBytes("old/a")
    _ = try f.ledger.write { [other, second] in try $0.admit(other, to: second) }
    try finish()
    _ = try f.add("a", to: first)
    try finish()
    #expect(try due().isEmpty)
  }

  /// A prefix that ends in the middle of a name of the path is that of another destination.
  @Test func theEndOfANameDoesNotCount() throws {
    let all: Set = [
      JobDestination(place: "put:one", prefix: NameBytes("in/"), destination: "put:one/in"),
      JobDestination(place: "put:two", prefix: NameBytes(""), destination: "put:two"),
    ]
    try f.ledger.write { tx in try tx.setDestinations(ofJob: "nightly", all) }
    var other = LedgerFixture.source("ax")
    other.key = NameBytes("in/x")
    _ = try f.ledger.write { [other, first] in try $0.admit(other, to: first) }
    try finish()
    _ = try f.add("ax", to: second)
    try finish()
    #expect(try due().isEmpty)
  }

  private func batch(_ place: String, ofJob job: String?) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    settings.after = SourceRemoval(.delete, base: "/src")
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place, job: job))
    }
  }

  /// They would remove what a destination of the job never got; until a person gives up the removal by the job.
  @Test(arguments: ["weekly", nil]) func removersOfOthersWaitToo(_ job: String?) throws {
    let a = try f.add("a", to: first)
    let other = try f.add("a", to: batch("put:three", ofJob: job))
    try finish()
    try finish()
    #expect(try pending().map(\.lacking) == ["put:two (job nightly)", "put:two (job nightly)"])
    #expect(try begin([a, other]).isEmpty)
    _ = try f.ledger.control(.cancel, RowFilter.files([a]))
    #expect(try wanted() == [other])
  }

  /// What the job does not accept as proof does not suffice for the removals of others either.
  @Test(arguments: ["weekly", nil]) func aReceiptThatProvesTooLittleHoldsItForAll(_ job: String?) throws {
    _ = try f.add("a", to: second)
    try finish(proves: false)
    let a = try f.add("a", to: first)
    try finish()
    let other = try f.add("a", to: batch("put:three", ofJob: job))
    try finish()
    #expect(try begin([a, other]).isEmpty)
  }

  /// The job had another name, or somebody pushed the file.
  @Test(arguments: ["weekly", nil]) func receiptsOfOthersCount(_ job: String?) throws {
    let files = [try f.add("a", to: first), try f.add("a", to: batch("put:two", ofJob: job))]
    for _ in files { try finish() }
    #expect(try wanted() == files)
  }

  /// It may have removed the source, which no new destination can get then.
  @Test func aRemovalThatWasBegunIsStillLookedAt() throws {
    let files = [try f.add("a", to: first), try f.add("a", to: second)]
    for _ in files { try finish() }
    #expect(try begin(files) == Set(files))
    try setDestinations("put:one", "put:three")
    #expect(try pending().map(\.isBegun) == [true, true])
    #expect(try pending().map(\.lacking) == ["put:three (job nightly)", "put:three (job nightly)"])
    #expect(try begin(files).isEmpty)
  }

  private func begin(_ files: [FileID]) throws -> Set<FileID> { try f.ledger.write { try $0.beginRemovals(files) } }

  /// Whether a run with nothing to send starts an engine: of the job, and at all.
  private func starts(_ job: String = "nightly") throws -> [Bool] {
    try f.ledger.read { [try $0.hasDueRemoval(ofJob: job), try $0.hasDueRemoval()] }
  }

  private func putOff(_ file: FileID, _ code: ErrorCode) throws {
    try f.ledger.write { tx in try tx.endRemovals([(file, .putOff(code, "not yet"))], verb: "source-deleted") }
  }

  @Test func whatWasPutOffForADestinationStartsNoEngine() throws {
    #expect(try starts() == [false, false])
    let a = try f.add("a", to: first)
    try finish()
    #expect(try starts() == [true, true])
    #expect(try starts("weekly") == [false, true])
    try putOff(a, .policyDestination)
    #expect(try starts() == [false, false])
    try setDestinations("put:one")
    #expect(try starts() == [true, true])
    for code in [ErrorCode.sourceMissing, .localIO] {
      try putOff(a, code)
      #expect(try starts() == [false, false], "\(code)")
    }
    try putOff(a, .engineInterrupted)
    #expect(try starts() == [true, true], "nothing but a stop held it up")
  }

  /// A crash may have removed its source, which is on a file system that is not mounted now.
  @Test func whatWasBegunAndPutOffStartsNoEngine() throws {
    try setDestinations("put:one")
    let a = try f.add("a", to: first)
    try finish()
    try putOff(a, .sourceMissing)
    #expect(try begin([a]) == [a])
    #expect(try starts() == [true, true], "it crashed")
    try f.ledger.write { tx in
      try tx.endRemovals([(a, .putOff(.sourceMissing, "not mounted"))], verb: "source-deleted", uncertain: [a])
    }
    #expect(try pending().map(\.isBegun) == [true])
    #expect(try starts() == [false, false])
    #expect(try f.ledger.read { try $0.removals(RowFilter()).reasons.map(\.code) } == ["source.missing"])
  }

  /// One removal stands for all that wait for a folder, unless a file that is not done needs its source.
  @Test func foldersThatRemovalsWaitForAreListed() throws {
    try setDestinations("put:one")
    func add(_ name: String, to batch: BatchID) throws -> FileID {
      var file = LedgerFixture.source(name)
      file.identity.inode = UInt64(name.utf8.last ?? 0)
      guard case .added(let id, _) = try f.ledger.write({ [file] in try $0.admit(file, to: batch) }) else {
        throw Surprise("not added")
      }
      return id
    }
    let files = try ["x/a", "x/b", "y/c"].map { try add($0, to: first) }
    for _ in files { try finish() }
    func waits() throws -> [FolderWait] {
      try f.ledger.read { reader in
        var all: [FolderWait] = []
        while let next = try reader.nextFolderWait(after: all.last?.folder, nowMs: 0) { all.append(next) }
        return all
      }
    }
    func check(_ folders: [String], _ due: [FileID?]) throws {
      let found = try waits()
      #expect(found.map(\.folder) == folders.map { NameBytes("/src/" + $0) } && found.map(\.due?.file) == due)
    }
    try check([], [])
    for file in files { try putOff(file, .sourceMissing) }
    try check(["x", "y"], [files[0], files[2]])
    _ = try (add("x/a", to: second), add("y/c", to: second))
    try check(["x", "y"], [files[1], nil])
    #expect(try begin([files[1]]) == [files[1]])
    try f.ledger.write { try $0.endRemovals([(files[1], .done)], verb: "source-deleted") }
    for file in [files[0], files[2]] { try putOff(file, .policyDestination) }
    try check([], [])
    #expect(try f.findings() == [])
  }

  /// They are looked at one after the other: those that are gone have nothing to wait for.
  @Test func theSourcesThatAwaitADestinationAreListed() throws {
    let files = [try f.add("a", to: first), try f.add("b", to: first), try f.add("c", to: first)]
    #expect(try f.ledger.read { try $0.filesAwaitingDestination() } == nil)
    for _ in files { try finish() }
    for file in files.prefix(2) { try putOff(file, .policyDestination) }
    func awaiting(after: FileID? = nil, through last: FileID, limit: Int = 9) throws -> [FileID] {
      try f.ledger.read { reader in
        try reader.sourcesAwaitingDestination(after: after?.rawValue ?? 0, through: last.rawValue, limit: limit)
      }.map(\.file)
    }
    #expect(try f.ledger.read { try $0.filesAwaitingDestination() } == files[0].rawValue...files[1].rawValue)
    #expect(try awaiting(through: files[2]) == [files[0], files[1]])
    #expect(try awaiting(after: files[0], through: files[2]) == [files[1]])
    #expect(try awaiting(through: files[0]) == [files[0]] && awaiting(through: files[2], limit: 1) == [files[0]])
  }

  /// The other destination has another version of the file.
  @Test(arguments: ["size", "mtime", "ctime", "inode"]) func anotherVersionDoesNotCount(_ difference: String) throws {
    var other = LedgerFixture.source("a")
    switch difference {
    case "size": other.identity.size = 11
    case "mtime": other.identity.mtimeNs = 7
    case "ctime": other.identity.ctimeNs = 7
    default: other.identity.inode = 7
    }
    guard case .added = try f.ledger.write({ [other, second] in try $0.admit(other, to: second) }) else {
      throw Surprise("not added")
    }
    try finish()
    _ = try f.add("a", to: first)
    try finish()
    #expect(try due().isEmpty)
  }

  /// What one destination has proved does not suffice, so all keep the source.
  @Test func theWeakestProofCounts() throws {
    let b = try f.add("a", to: second)
    try finish(proves: false)
    let a = try f.add("a", to: first)
    try finish()
    let found = try due()
    #expect(found.map(\.file) == [b, a])
    #expect(found.map(\.keptElsewhere) == [nil, .policyProof])
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    try f.ledger.write { tx in
      try tx.endRemovals([(b, .kept(.policyProof, "too little"))], verb: "source-deleted")
    }
    #expect(try due().map(\.keptElsewhere) == [.policyProof])
  }

  /// What a destination has of another version proves and keeps nothing: it lacks this one. Here the size and the times
  /// of the content are the same, and only ctime differs.
  @Test(arguments: [true, false]) func anotherVersionKeepsNothing(_ isRevoked: Bool) throws {
    var other = LedgerFixture.source("a")
    other.identity.ctimeNs = 7
    guard case .added(let b, _) = try f.ledger.write({ [other, second] in try $0.admit(other, to: second) }) else {
      throw Surprise("not added")
    }
    try finish(proves: isRevoked)
    if isRevoked { _ = try f.ledger.control(.cancel, RowFilter.files([b])) }
    let a = try f.add("a", to: first)
    try finish()
    func found() throws -> DueRemoval { try #require(try pending().first { $0.file == a }) }
    #expect(try found().keptElsewhere == nil && found().lacking == "put:two (job nightly)")
    // A scan has found that it is the same content: only its permissions had changed.
    try f.shell(
      "INSERT INTO sighting (file_id, ctime_ns, device, boot, seen_at) VALUES (\(b.rawValue), 1, 3, 0, 0)")
    #expect(try found().keptElsewhere == (isRevoked ? .policyCancelled : .policyProof))
  }

  @Test func whatAPersonKeepsAtOneIsKeptAtAll() throws {
    let b = try f.add("a", to: second)
    try finish()
    let a = try f.add("a", to: first)
    try finish()
    _ = try f.ledger.control(.cancel, RowFilter.files([b]))
    #expect(try due().map(\.keptElsewhere) == [.policyCancelled])
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
  }
}
