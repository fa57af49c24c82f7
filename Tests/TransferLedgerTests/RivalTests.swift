import TransferModel
import Testing

@testable import TransferLedger

/// An object has other names: its URL is written in another way, or another account is used.
@Suite struct RivalTests {
  private let f: LedgerFixture
  private let run: RunID
  private static let plain = ObjectPlace("http://h/")
  private static let suffixed = ObjectPlace("http://h/", before: NameBytes("up/"), behind: NameBytes(".bin"))

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  private struct Source {
    var key: String
    var path: String
    var version: Int64 = 1
  }

  private static let first = Source(key: "x", path: "/one/x")
  private static let second = Source(key: "up/x.bin", path: "/two/x.bin", version: 2)

  /// Adds a file to a destination of these objects.
  private func add(
    _ source: Source, to place: String, _ objects: ObjectPlace, deletes: Bool = false
  ) throws -> PageAdmission {
    var settings = BatchSettings(destination: place)
    if deletes { settings.after = SourceRemoval(.delete, base: "/") }
    var batch = NewBatch(settings: settings, protocolName: "put", destination: place)
    batch.objects = objects
    let mark = try f.ledger.read { try $0.addedMark() }
    let target = AdmissionTarget(batch, since: mark, wallMs: f.clock.wallMs)
    var file = LedgerFixture.source(source.key, version: source.version)
    file.path = NameBytes(source.path)
    file.identity.inode = UInt64(source.version)
    return try f.ledger.write { [file] tx in
      var page = AdmissionPage()
      page.append(file)
      return try tx.admit(page, to: target)
    }
  }

  private func claim() throws -> ClaimedFile { try f.ledger.write { [run] in try $0.claimAndPlan(run) } }

  private func finish(_ file: ClaimedFile) throws {
    try f.ledger.write { [run] tx in
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
  }

  private func due() throws -> [DueRemoval] { try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) } }

  private func delete(_ file: FileID) throws {
    try f.ledger.write { tx in
      #expect(try tx.beginRemovals([file]) == [file])
      try tx.endRemovals([(file, .done)], verb: LedgerTransaction.deletionVerb)
    }
  }

  private func isReplaced(_ file: FileID) throws -> Bool {
    try f.ledger.read { try $0.doneUploadCounts(.files([file])) }.replaced == 1
  }

  private static let names: [(String, ObjectPlace, String, ObjectPlace)] = [
    ("http://h/up/{path}.bin", suffixed, "http://h/", plain),
    ("http://h/", plain, "http://h/up/{path}.bin", suffixed),
    ("http://h/", plain, "http://h/ with auth=bearer:env:T", plain),
  ]

  /// The key of the second file where the first one is `up/x.bin` or `x`.
  private static func sources(_ one: ObjectPlace, _ two: ObjectPlace) -> (Source, Source) {
    let keys = [one, two].map { $0.behind.isEmpty ? "up/x.bin" : "x" }
    return (Source(key: keys[0], path: "/one/x"), Source(key: keys[1], path: "/two/x", version: 2))
  }

  @Test(arguments: names)
  func theOnlyCopyIsNotReplacedByAnotherName(
    _ one: String, _ its: ObjectPlace, _ two: String, _ others: ObjectPlace
  ) throws {
    let (first, second) = Self.sources(its, others)
    _ = try add(first, to: one, its, deletes: true)
    let file = try claim()
    try finish(file)
    try delete(file.id)
    let refused = try add(second, to: two, others)
    #expect(refused.onlyCopies.map(\.file) == [file.id] && refused.added == 0, "\(refused)")
    let planned = try f.ledger.read {
      try $0.onlyCopy(place: two, others, path: NameBytes(second.path), key: NameBytes(second.key))
    }
    #expect(planned?.file == file.id)
    // A newer version of the same source, and another object.
    #expect(try add(Source(key: second.key, path: first.path, version: 3), to: two, others).added == 1)
    #expect(try add(Source(key: second.key + "y", path: "/two/y", version: 4), to: two, others).added == 1)
    #expect(try f.ledger.control(.remove, .files([file.id])).changed == [file.id])
    #expect(try add(second, to: two, others).added == 1)
    #expect(try f.findings() == [])
  }

  /// Both were recorded before one of them was sent.
  @Test func whatWasAddedBeforeIsRefusedWhenItIsClaimed() throws {
    _ = try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed, deletes: true)
    _ = try add(Self.second, to: "http://h/", Self.plain)
    let one = try claim()
    #expect(one.onlyCopy == nil)
    try finish(one)
    try delete(one.id)
    #expect(try claim().onlyCopy?.file == one.id)
    #expect(try f.findings() == [])
  }

  @Test func noSourceIsRemovedWhileAnotherFileIsStoredInItsPlace() throws {
    _ = try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed, deletes: true)
    _ = try add(Self.second, to: "http://h/", Self.plain)
    let (one, two) = (try claim(), try claim())
    try finish(one)
    #expect(try due().isEmpty)
    try finish(two)
    #expect(try due().map(\.isLost) == [true])
    #expect(try f.ledger.write { try $0.beginRemovals([one.id]) }.isEmpty)
    #expect(try isReplaced(one.id) && !isReplaced(two.id))
    #expect(try f.findings() == [])
  }

  /// Nobody knows which of two requests that overlap the server stored last: neither source is removed.
  @Test func ofRequestsThatOverlapNoneStands() throws {
    _ = try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed, deletes: true)
    _ = try add(Self.second, to: "http://h/", Self.plain, deletes: true)
    let (one, two) = (try claim(), try claim())
    let early = try f.ledger.write { [run] tx in
      try tx.beginChunks(one.id, run, limit: .max, isRepeatable: true)
    }
    f.clock.advance(ms: 5)
    try finish(two)
    f.clock.advance(ms: 5)
    try f.ledger.write { [run] tx in
      for chunk in early {
        _ = try tx.closeAttempt(chunk.attempt, run, acked(chunk.facts.range.length))
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      }
      #expect(try tx.completeFile(one.id, run, proof).isApplied)
    }
    #expect(try due().map(\.isLost) == [true, true])
    #expect(try isReplaced(one.id) && isReplaced(two.id))
    #expect(try add(Self.second, to: "http://h/", Self.plain).resentLost == 1)
    #expect(try f.findings() == [])
  }

  @Test func whatAnotherNameHasOverwrittenIsSentAgain() throws {
    _ = try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed)
    try finish(try claim())
    #expect(try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed).unchanged == 1)
    let replacing = try add(Self.second, to: "http://h/", Self.plain)
    #expect(replacing.added == 1 && replacing.replacedOthers == 1)
    try finish(try claim())
    let again = try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed)
    #expect(again.added == 1 && again.resentLost == 1 && again.unchanged == 0, "\(again)")
    try finish(try claim())
    // The order of the requests counts, not that of the rows.
    #expect(try add(Self.first, to: "http://h/up/{path}.bin", Self.suffixed).unchanged == 1)
    #expect(try add(Self.second, to: "http://h/", Self.plain).added == 1)
  }

  /// The same source is sent to each account: that overwrites nothing.
  @Test func theSameContentOverwritesNothing() throws {
    for place in ["http://h/ with auth=a", "http://h/ with auth=b"] {
      #expect(try add(Self.second, to: place, Self.plain, deletes: true).added == 1)
      try finish(try claim())
    }
    for place in ["http://h/ with auth=a", "http://h/ with auth=b"] {
      #expect(try add(Self.second, to: place, Self.plain).unchanged == 1)
    }
    #expect(try due().map(\.isLost) == [false, false])
  }

  @Test func aNameIsThatOfAKeyOnlyIfItHasTheSameEnds() {
    let name = Self.suffixed.name(of: NameBytes("a"))
    #expect(name == NameBytes("up/a.bin") && Self.suffixed.key(of: name) == NameBytes("a"))
    for other in ["up/.bin", "up/a.bi", "ip/a.bin", "up.bin", ""] {
      #expect(Self.suffixed.key(of: NameBytes(other)) == nil, "\(other)")
    }
  }
}
