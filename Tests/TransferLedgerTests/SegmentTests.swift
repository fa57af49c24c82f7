import Testing
import TransferModel

@testable import TransferLedger

/// Series of segments of growing files: each segment begins where the previous one ended, whoever records it.
@Suite struct SegmentTests {
  private let f: LedgerFixture
  private static let a = Digest(.sha256, Array(repeating: 1, count: 32))
  private static let b = Digest(.sha256, Array(repeating: 2, count: 32))

  init() throws { f = try LedgerFixture() }

  private func identity(_ size: Int64, inode: UInt64 = 5, mtime: Int64? = nil) -> SourceIdentity {
    SourceIdentity(size: size, mtimeNs: mtime ?? size, ctimeNs: mtime ?? size, inode: inode, device: 3, boot: 7)
  }

  private func known(_ now: SourceIdentity, key: String = "app.log") throws -> KnownGrowth {
    try f.ledger.read { [target = f.target()] in try $0.growth(of: NameBytes(key), now, for: target) }
  }

  private func segment(_ start: Int64, _ copy: String) -> GrowingSource.Segment {
    GrowingSource.Segment(start: start, digest: Self.a, head: Self.b, staged: copy)
  }

  private func source(
    _ now: SourceIdentity, _ finding: GrowingSource.Finding, path: String = "/src/app.log"
  ) -> GrowingSource { GrowingSource(path: NameBytes(path), key: NameBytes("app.log"), now, finding) }

  private func admit(_ sources: GrowingSource...) throws -> PageAdmission {
    try f.ledger.write { [target = f.target()] in try $0.admit(sources, to: target) }
  }

  /// A series of one segment of ten bytes.
  private func begin() throws -> GrowingSeries {
    let done = try admit(source(identity(10), .begun(after: 0, .first, segment(0, "one"))))
    #expect((done.added, done.changed, done.bytes) == (1, 0, 10))
    return try #require(try known(identity(10)).candidates.first)
  }

  private func rows() throws -> [String] {
    // The series of the key in their order, instead of their numbers.
    try f.texts(
      """
      SELECT cast(s.key AS TEXT) || '.' || (SELECT count(*) FROM series t WHERE t.key = s.key AND t.number <= s.number)
        || substr(cast(f.key AS TEXT), -16), f.size, f.state, f.staged
      FROM file f JOIN segment g ON g.file_id = f.id JOIN series s ON s.id = g.series_id ORDER BY f.id
      """)
  }

  private func end(_ file: Int64, as state: String) throws {
    try f.shell("UPDATE file SET state = 'active', run_id = 1, started_at = 1 WHERE id = \(file)")
    try f.shell(
      """
      UPDATE file SET state = '\(state)', live = NULL, run_id = NULL, cause = 'http.403', finished_at = 2
      WHERE id = \(file)
      """)
  }

  @Test func segmentsFollowOneAnother() throws {
    let series = try begin()
    #expect((series.end, series.start, series.digest, series.head) == (10, 0, Self.a, Self.b))
    let done = try admit(source(identity(25), .grown(after: series, segment(10, "two"))))
    #expect((done.added, done.changed, done.bytes) == (1, 1, 15))
    #expect(
      try rows() == [
        "app.log.1.000000000000000 10 pending one", "app.log.1.000000000000010 15 pending two",
      ])
    #expect(try f.texts("SELECT start, size FROM series") == ["10 25"])
    #expect(try f.findings() == [])
  }

  /// Two processes saw the same end: the bytes are recorded once.
  @Test func onlyOneContinuesASeries() throws {
    let series = try begin()
    _ = try admit(source(identity(25), .grown(after: series, segment(10, "two"))))
    let late = try admit(
      source(identity(30), .grown(after: series, segment(10, "three"))),
      source(identity(30), .begun(after: 0, .first, segment(0, "four"))))
    #expect((late.added, late.busy) == (0, [0, 1]))
    #expect(try rows().count == 2)
    #expect(try f.findings() == [])
  }

  @Test func aFileThatIsTheSameOneIsRecognised() throws {
    let series = try begin()
    #expect(try known(identity(10)).candidates == [series])
    #expect(try known(identity(10), key: "app.log.1").candidates == [series], "a rotated log")
    #expect(try known(identity(10), key: "app.log.1").number == 0)
    #expect(try known(identity(10, inode: 6)).candidates == [])
    #expect(try known(identity(10, inode: 6)).number == series.number)
    var touched = identity(10, mtime: 99)
    touched.device = 4
    let seen = try admit(source(touched, .unchanged(series), path: "/src/app.log.1"))
    #expect((seen.unchanged, seen.queued, seen.batch) == (0, 1, nil), "its segment waits")
    let now = try #require(try known(touched).candidates.first)
    #expect((now.identity, now.path) == (touched, NameBytes("/src/app.log.1")))
    #expect(try f.findings() == [])
  }

  @Test func anotherSeriesBeginsWithAnEvent() throws {
    let first = try begin()
    let done = try admit(source(identity(4), .begun(after: first.number, .truncated, segment(0, "two"))))
    #expect((done.added, done.changed) == (1, 1))
    #expect(try rows().last == "app.log.2.000000000000000 4 pending two")
    #expect(
      try f.texts("SELECT detail FROM event WHERE verb = 'series'")
        == ["series \(first.number + 1) of \"app.log\" begins: the file was truncated"])
    #expect(try known(identity(4)).candidates.map(\.number) == [first.number + 1, first.number])
  }

  /// The number is the time: the ledger of another host, or one that was begun anew, uses other keys.
  @Test func aSeriesHasTheTimeAtWhichItBegan() throws {
    #expect(try begin().number == Int(f.clock.wallMs))
    #expect(GrowingSeries.number(after: 7, nowMs: 1_800_000_000_000) == 1_800_000_000_000)
    #expect(GrowingSeries.number(after: 1_800_000_000_000, nowMs: 5) == 1_800_000_000_001, "the clock went back")
    let keys = [1_800_000_000_000, 1_800_000_000_001].map { GrowingSeries.key(NameBytes("a"), number: $0, start: 9) }
    #expect(keys.map { $0?.embedded } == ["a.1800000000000.000000000000009", "a.1800000000001.000000000000009"])
  }

  @Test func aFailedSegmentIsSentAgainFromItsCopy() throws {
    let series = try begin()
    _ = try f.startRun()
    try end(1, as: "failed")
    let done = try admit(source(identity(10), .unchanged(series)))
    #expect((done.requeued, done.unchanged) == (1, 0))
    #expect(try rows() == ["app.log.1.000000000000000 10 pending one"])
  }

  /// Its series goes on. It can be brought back while its copy is there, which it keeps until it is removed.
  @Test func aCancelledSegmentIsAHole() throws {
    let series = try begin()
    let file = RowFilter.files([FileID(rawValue: 1)])
    _ = try f.ledger.control(.cancel, file)
    #expect(try !f.ledger.write { try $0.releaseStaged("one") })
    let done = try admit(source(identity(25), .grown(after: series, segment(10, "two"))))
    #expect((done.added, done.requeued) == (1, 0))
    #expect(try f.texts("SELECT bytes, bytes_missing FROM v_series") == ["25 10"])
    #expect(try f.ledger.control(.retry(startsOver: false), file).changed.count == 1)
    _ = try f.ledger.control(.cancel, file)
    _ = try f.ledger.control(.clean(failed: false), file)
    #expect(try !f.ledger.write { try $0.releaseStaged("one") })
    #expect(try f.ledger.control(.retry(startsOver: false), file).changed.count == 1)
    _ = try f.ledger.control(.cancel, file)
    _ = try f.ledger.control(.clean(failed: false), file)
    #expect(try f.ledger.control(.remove, file).changed.count == 1)
    #expect(try f.ledger.control(.remove, file).changed.isEmpty)
    #expect(try f.ledger.write { try $0.releaseStaged("one") })
    #expect(try f.ledger.control(.retry(startsOver: false), file).changed.isEmpty)
    #expect(throws: (any Error).self) {
      try f.shell("UPDATE file SET state = 'pending', live = 1, finished_at = NULL, hidden = NULL WHERE id = 1")
    }
    #expect(try f.findings() == [])
  }

  /// One that an engine has when it is removed, and that fails then.
  @Test func aSegmentThatIsRemovedReleasesItsCopy() throws {
    _ = try begin()
    let run = try f.startRun()
    let file = try f.ledger.write { try $0.claimAndPlan(run).id }
    _ = try f.ledger.control(.remove, RowFilter())
    _ = try f.ledger.write { try $0.failFile(file, run, code: .http403, message: "refused", keepsSession: false) }
    #expect(try f.texts("SELECT state, hidden, staged FROM file") == ["failed 1 -"])
    #expect(try f.ledger.write { try $0.releaseStaged("one") })
    #expect(try f.findings() == [])
  }

  /// The birth time tells a new file from a deleted one whose inode it has; else the path and the device do, the latter
  /// within one boot.
  @Test func aSeriesIsOfOneFile() throws {
    var grown = source(identity(10), .begun(after: 0, .first, segment(0, "one")))
    grown.bornNs = 70
    _ = try admit(grown)
    var series = try #require(try known(identity(10)).candidates.first)
    #expect(series.bornNs == 70)
    let moved = SourceIdentity(size: 10, mtimeNs: 10, ctimeNs: 10, inode: 5, device: 4, boot: 7)
    let (here, there) = (series.path, NameBytes("/src/app.log.1"))
    for path in [here, there] {
      #expect(series.mayBe(identity(25), bornNs: 70, at: path) && series.mayBe(moved, bornNs: 70, at: path))
      #expect(!series.mayBe(identity(25), bornNs: 71, at: path))
      #expect(!series.mayBe(identity(25, inode: 6), bornNs: 70, at: path))
    }
    series.bornNs = nil
    #expect(series.mayBe(identity(25), bornNs: 70, at: there) && !series.mayBe(moved, bornNs: 70, at: there))
    #expect(series.mayBe(moved, bornNs: nil, at: here), "its file system was mounted again")
    var later = moved
    later.boot = 8
    #expect(series.mayBe(later, bornNs: nil, at: there), "device numbers change when the machine starts")
    // A scan that shows without opening the file that nothing changed does not look at it.
    _ = try admit(source(identity(10), .unchanged(series), path: "/src/app.log.1"))
    #expect(try f.texts("SELECT born_ns FROM series") == ["70"])
  }

  /// No segment is recorded whose key another file has; the other sources are.
  @Test func aSegmentWhoseKeyIsTakenIsRefused() throws {
    let series = try begin()
    let key = try #require(GrowingSeries.key(NameBytes("app.log"), number: series.number, start: 10))
    _ = try f.add(key.embedded, to: try f.makeBatch())
    let other = GrowingSource(
      path: NameBytes("/src/b.log"), key: NameBytes("b.log"), identity(3, inode: 8),
      .begun(after: 0, .first, segment(0, "three")))
    let done = try admit(source(identity(25), .grown(after: series, segment(10, "two"))), other)
    #expect((done.added, done.taken, done.busy) == (1, [0], []))
    #expect(try known(identity(10)).candidates == [series], "the same bytes are found again")
    #expect(try f.texts("SELECT count(*) FROM segment") == ["2"])
    #expect(try f.findings() == [])
  }

  /// A whole file whose key is that of a segment, in any state of the segment, and one that cannot be read.
  @Test(arguments: ["pending", "active", "done", "failed", "cancelled"])
  func aFileWithTheKeyOfASegmentIsRefused(state: String) throws {
    let series = try begin()
    let run = try f.startRun()
    try f.ledger.write { tx in
      if ["active", "failed", "done"].contains(state) { _ = try tx.claimAndPlan(run) }
      let file = FileID(rawValue: 1)
      if state == "failed" {
        _ = try tx.failFile(file, run, code: .http403, message: "refused", keepsSession: false)
      }
      if state == "done" {
        try tx.sendAll(file, run)
        _ = try tx.completeFile(file, run, proof)
      }
      if state == "cancelled" { _ = try tx.control(.cancel, RowFilter()) }
    }
    let before = try f.texts("SELECT id, state, live FROM file")
    #expect(before[0].contains(state))
    var page = AdmissionPage()
    let names = [
      "a", try #require(GrowingSeries.key(NameBytes("app.log"), number: series.number, start: 0)).embedded, "b",
    ]
    for name in names {
      page.append(NewFile(path: NameBytes("/in/\(name)"), key: NameBytes(name), identity: identity(7, inode: 20)))
    }
    page.append(path: NameBytes("/in/c"), key: NameBytes(names[1]), Failure(.sourceDenied, "permission denied"))
    let done = try f.ledger.write { [target = f.target(), page] in try $0.admit(page, to: target) }
    #expect((done.added, done.taken) == (2, [1]))
    #expect(try f.texts("SELECT id, state, live FROM file WHERE id = 1") == before)
    #expect(try f.texts("SELECT count(*) FROM file") == ["3"])
    #expect(try f.findings() == [])
  }

  /// Each statement is refused, and passes when its trigger is dropped.
  @Test(arguments: [
    (
      "series_birth",
      "INSERT INTO series SELECT 2, destination_id, key, 3, path, 0, size, digest, head, 1, 1, 1, 1, 1, 1, 1, 1 FROM series"
    ),
    ("series_grows", "UPDATE series SET size = 9"), ("series_stays", "DELETE FROM series"),
    ("segment_birth", "INSERT INTO segment SELECT 2, series_id, 10, digest FROM segment"),
    ("segment_fixed", "UPDATE segment SET start = 1"), ("segment_stays", "DELETE FROM segment"),
    (
      "segment_copied",
      "UPDATE file SET state = 'pending', live = 1, finished_at = NULL, cause = NULL, staged = NULL WHERE id = 1"
    ),
    // The whole source would be sent under the name of the segment.
    (
      "segment_alone",
      """
      INSERT INTO file (uid, batch_id, destination_id, generation, live, path, key, size, mtime_ns, ctime_ns, inode,
        device, mode, state, priority, created_at)
      SELECT randomblob(16), batch_id, destination_id, 2, 1, path, key, 9, 1, 1, 1, 1, 0, 'pending', 0, 1
      FROM file WHERE id = 1
      """
    ),
  ]) func everyTriggerIsNeeded(trigger: String, sql: String) throws {
    _ = try begin()
    _ = try f.ledger.control(.cancel, RowFilter())
    _ = try f.add("b", to: try f.makeBatch())
    let shell = try Connection(path: f.path, access: .readWrite)
    #expect(throws: SQLiteError.self) { try shell.execute("BEGIN; \(sql)") }
    try? shell.execute("ROLLBACK")
    try shell.execute("BEGIN; DROP TRIGGER \(trigger); \(sql); ROLLBACK")
    #expect(try f.findings() == [])
  }

  @Test(arguments: [
    "UPDATE series SET size = 9", "UPDATE series SET size = 20", "UPDATE series SET start = 1", "DELETE FROM series",
    "UPDATE series SET digest = head", "DELETE FROM segment", "UPDATE segment SET start = 1",
    "UPDATE series SET number = 2",
    "INSERT OR REPLACE INTO segment SELECT file_id, series_id, start, 'sha256:01' FROM segment",
    """
    INSERT OR REPLACE INTO series
    SELECT id, destination_id, key, number, path, 0, size, digest, head, 1, 1, 1, 1, 1, 1, 1, 1 FROM series
    """,
    "INSERT INTO segment SELECT file_id, series_id, 10, digest FROM segment",
    "INSERT INTO series SELECT 2, destination_id, key, 3, path, 0, size, digest, head, 1, 1, 1, 1, 1, 1, 1, 1 FROM series",
  ]) func theRulesHoldForEveryProgram(sql: String) throws {
    _ = try begin()
    #expect(throws: (any Error).self) { try f.shell(sql) }
    #expect(try f.findings() == [])
  }
}
