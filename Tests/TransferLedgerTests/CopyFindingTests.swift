import CSys
import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Copies made with `cp`, without a mark.
@Suite struct CopyFindingTests {
  let f: LedgerFixture
  private var kept: String { f.folder + "/kept.db" }

  init() throws { f = try LedgerFixture() }

  private func copy(_ source: String, _ target: String) throws {
    let bytes = try fileBytes(source)
    let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Starts a run that begins one request.
  @discardableResult private func act() throws -> RunID {
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: false)
    }
    return run
  }

  private func doubts() throws -> [String] { try f.texts("SELECT file_id FROM doubt ORDER BY 1") }

  private func uid() throws -> String { try f.ledger.read { try $0.storeFacts() }.uid }

  @Test func ordinaryUseFindsNothing() throws {
    let batch = try f.makeBatch()
    for name in ["a", "b", "c"] { _ = try f.add(name, to: batch) }
    for _ in 1...2 {
      try act()
      try f.restart()
      #expect(f.ledger.copyFinding == nil)
    }
    #expect(try doubts() == [])
  }

  /// Renamed into another folder, without its sidecar files.
  @Test func aLedgerThatWasMovedIsTheSame() throws {
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    _ = try f.add("b", to: batch)
    let run = try act()
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    let uid = try uid()
    f.ledger.close()
    #expect(rename(f.path, kept) == 0)
    let moved = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    defer { moved.close() }
    #expect(moved.copyFinding == nil)
    #expect(try moved.read { try $0.storeFacts() }.uid == uid)
  }

  /// Moved while a run had not ended, as after a kill. What the run did is in the log: if that is left behind, too, the
  /// ledger does not know it.
  @Test(arguments: [false, true]) func aLedgerThatLeftItsLogBehindIsFound(_ takesLog: Bool) throws {
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    _ = try f.add("b", to: batch)
    try act()
    // What a kill would have left: the log, and the ledger without what is in the log.
    let (before, log) = (f.path + ".before", f.path + ".log")
    try copy(f.path, before)
    try copy(f.path + "-wal", log)
    f.ledger.close()
    try copy(before, f.path)
    #expect(rename(f.path, kept) == 0)
    if takesLog { try copy(log, kept + "-wal") }
    let moved = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    #expect(moved.copyFinding == (takesLog ? nil : CopyFinding(evidence: .withoutLog, files: 2)))
    moved.close()
    let again = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    defer { again.close() }
    #expect(again.copyFinding == nil, "it is reported once")
  }

  /// A reader keeps what a whole run did in the log. It ended as it should, and the ledger alone knows nothing of it.
  @Test(arguments: [false, true]) func aLedgerWhoseLogAReaderKeptIsFound(_ takesLog: Bool) throws {
    try #require(csys_set_attribute(f.path, "user.test", "1", 1) == 0, "the file system stores no attributes")
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    _ = try f.add("b", to: batch)
    try f.restart()
    let reader = try ForeignReader(of: f.path)
    let run = try act()
    _ = try f.ledger.write { try $0.endRun(run, how: "done") }
    f.ledger.close()
    reader.end()
    #expect(rename(f.path, kept) == 0)
    if takesLog { #expect(rename(f.path + "-wal", kept + "-wal") == 0) }
    let moved = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    defer { moved.close() }
    #expect(moved.copyFinding == (takesLog ? nil : CopyFinding(evidence: .withoutLog, files: 2)))
  }

  @Test func aCopyInAnotherPlaceIsFound() throws {
    try #require(csys_birth_ns(f.path) >= 0, "the file system stores no birth times")
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    let uid = try uid()
    f.ledger.close()
    try copy(f.path, kept)
    let copied = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    #expect(copied.copyFinding == CopyFinding(evidence: .otherFile, files: 1))
    #expect(try copied.read { try $0.storeFacts() }.uid != uid)
    copied.close()
    // It is reported once.
    let again = try Ledger.open(at: kept, mode: .existing, clock: f.clock)
    #expect(again.copyFinding == nil)
    again.close()
    try f.restart()
    #expect(f.ledger.copyFinding == nil)
    #expect(try doubts() == [])
  }

  /// `cp kept ledger` writes into the existing file, whose birth time stays the same.
  @Test func aLedgerThatIsPutBackInItsPlaceIsFound() throws {
    let batch = try f.makeBatch()
    for name in ["a", "b", "c"] { _ = try f.add(name, to: batch) }
    try act()
    try f.restart { try copy(f.path, kept) }
    try act()
    try f.restart { try copy(kept, f.path) }
    #expect(f.ledger.copyFinding == CopyFinding(evidence: .olderState, files: 3))
    #expect(try doubts() == ["1", "2", "3"])
    #expect(try f.texts("SELECT verb FROM event WHERE detail LIKE '%in doubt%'") == ["recovered"])
    try f.restart()
    #expect(f.ledger.copyFinding == nil)
    #expect(try f.findings() == [])
  }

  /// Both versions of the ledger contain the run; the later one has sent more.
  @Test func aCopyOfTheMiddleOfARunIsFound() throws {
    let batch = try f.makeBatch()
    for name in ["a", "b"] { _ = try f.add(name, to: batch) }
    let run = try f.startRun()
    func begin() throws {
      try f.ledger.write { tx in
        let file = try tx.claimAndPlan(run)
        _ = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: false)
      }
    }
    try begin()
    _ = try Ledger.copy(f.path, as: .backup, to: kept, replacing: false, isCancelled: { false })
    // Makes the copy look as if an ordinary file copy had made it.
    let raw = try Connection(path: kept, access: .readWrite)
    let uid = try #require(try raw.first("SELECT origin_uid FROM store_meta") { $0.uid(0) })
    try raw.execute("DROP TRIGGER store_meta_fixed; DROP TRIGGER doubt_stays; DELETE FROM doubt")
    try raw.run("UPDATE store_meta SET uid = ?, born_ns = NULL", .uid(uid))
    #expect(try raw.checkpointTruncating())
    try begin()
    try f.restart { try copy(kept, f.path) }
    #expect(f.ledger.copyFinding?.evidence == .olderState)
  }

  /// The mark of another ledger that had the same path says nothing about this one.
  @Test func aNewLedgerInTheSamePlaceIsNoCopy() throws {
    _ = try f.add("a", to: try f.makeBatch())
    try act()
    f.ledger.close()
    #expect(unlink(f.path) == 0)
    let new = try Ledger.open(at: f.path, mode: .create, clock: f.clock)
    defer { new.close() }
    #expect(new.copyFinding == nil)
  }

  @Test func anythingElseInItsFileIsNoWatermark() throws {
    let mark = Watermark(store: UID(high: 1, low: 2), run: UID(high: 3, low: .max), attempt: 40)
    #expect(Watermark(text: mark.text) == mark)
    for text in ["", "transfers", mark.text.replacing("-1 ", with: "-2 "), String(mark.text.dropLast())] {
      #expect(Watermark(text: text) == nil, "\(text)")
    }
    #expect(mark.text.utf8.count == Watermark(store: mark.store, run: mark.run, attempt: .max).text.utf8.count)
  }
}
