import TransferModel
import Testing

@testable import TransferLedger

/// Sources that may still be written are recorded, but not sent until a later check finds them unchanged.
@Suite struct SettlingTests {
  private let f: LedgerFixture
  private static let boot: UInt64 = 7

  init() throws { f = try LedgerFixture() }

  private func identity(_ version: Int64) -> SourceIdentity {
    SourceIdentity(size: 10 + version, mtimeNs: version, ctimeNs: version, inode: 5, device: 3, boot: Self.boot)
  }

  private func target(stage: Bool = false) throws -> AdmissionTarget {
    var settings = BatchSettings(destination: "put:there", stage: stage ? true : nil)
    settings.settleMs = 60_000
    let batch = NewBatch(settings: settings, protocolName: "put", destination: "put:there")
    return AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
  }

  private func admit(_ version: Int64, stage: Bool = false) throws -> PageAdmission {
    var page = AdmissionPage()
    let file = NewFile(path: NameBytes("/src/a"), key: NameBytes("a"), identity: identity(version))
    file.path.bytes.withUnsafeBytes { path in
      file.key.bytes.withUnsafeBytes { page.append(path: path, key: $0, file.identity, mode: 0) }
    }
    return try f.ledger.write { [page, target = try target(stage: stage)] tx in try tx.admit(page, to: target) }
  }

  private func due(boot: UInt64 = boot) throws -> [SettlingSource] {
    try f.ledger.read { [now = f.clock.bootMs] in try $0.dueLooks(boot: boot, nowMs: now, limit: 9) }
  }

  private func states() throws -> [String] { try f.texts("SELECT state, cause, size FROM file ORDER BY id") }

  @Test func itIsSentWhenALaterLookSeesTheSame() throws {
    let admitted = try admit(1)
    #expect(admitted.added == 1 && admitted.settling == 1)
    #expect(try states() == ["settling source.settling 11"])
    f.clock.advance(ms: 59_999)
    #expect(try due().isEmpty)
    f.clock.advance(ms: 1)
    let source = try #require(try due().first)
    #expect(try f.ledger.write { try $0.endLook(source) } == .applied)
    #expect(try states() == ["pending - 11"])
    #expect(try f.texts("SELECT count(*) FROM look") == ["0"])
    #expect(try f.findings() == [])
  }

  /// Even if a copy has to be staged. Whether it is resumed before or after settling, it is sent.
  @Test(arguments: [false, true]) func aPauseWaitsUntilItHasSettled(_ isStaged: Bool) throws {
    func control(_ verb: ControlVerb) throws -> Int {
      let outcome = try f.ledger.control(verb, .files([FileID(rawValue: 1)]))
      return outcome.changed.count
    }
    func settle() throws {
      f.clock.advance(ms: 60_000)
      let source = try #require(try due().first)
      #expect(try f.ledger.write { try $0.endLook(source) } == .applied)
      guard isStaged else { return }
      #expect(try f.ledger.write { try $0.settle(source.id, staged: "copy") } == .applied)
    }
    _ = try admit(1, stage: isStaged)
    #expect(try control(.pause(now: true)) == 1)
    #expect(try control(.pause(now: false)) == 0)
    #expect(try f.texts("SELECT state, requested_action FROM file") == ["settling pause"])
    #expect(try f.ledger.read { try $0.controlState(nowMs: 0) }.requestedActions.isEmpty)
    try settle()
    #expect(try f.texts("SELECT state, requested_action, cause FROM file") == ["paused - -"])
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'paused'") == ["1"])
    #expect(try f.findings() == [])
    #expect(try control(.resume) == 1)
    #expect(try f.texts("SELECT state FROM file") == ["pending"])
  }

  @Test func aPausedOneIsResumedCancelledOrReplacedWhileItSettles() throws {
    func control(_ verb: ControlVerb) throws { _ = try f.ledger.control(verb, .files([FileID(rawValue: 1)])) }
    _ = try admit(1)
    try control(.pause(now: false))
    try control(.resume)
    #expect(try f.texts("SELECT state, requested_action FROM file") == ["settling -"])
    try control(.pause(now: false))
    _ = try admit(2)
    #expect(try f.texts("SELECT state, requested_action, size FROM file") == ["settling pause 12"])
    try control(.cancel)
    #expect(try f.texts("SELECT state, requested_action FROM file") == ["cancelled -"])
    #expect(try f.findings() == [])
  }

  /// A scan that finds a settling file changed creates no new generation: a file that grows for a day has one row.
  @Test func aChangeBeginsItsTimeAnew() throws {
    _ = try admit(1)
    f.clock.advance(ms: 60_000)
    let old = try #require(try due().first)
    let again = try admit(2)
    #expect(again.queued == 1 && again.settling == 1)
    #expect(try f.ledger.write { try $0.endLook(old) } == .lost(to: "settling"))
    #expect(try due().isEmpty)
    #expect(try states() == ["settling source.settling 12"])
    #expect(try f.findings() == [])
  }

  /// For looks of this boot and of others, with a clock that was set back, and with changed files left out.
  @Test func theNextLookIsTheFirstOfAll() throws {
    func next(_ boot: UInt64, _ awaited: Bool) throws -> Int64? {
      try f.ledger.read { try $0.nextLookMs(boot: boot, awaited: awaited) }
    }
    #expect(try next(Self.boot, false) == nil)
    _ = try admit(1)
    let dueMs = f.clock.bootMs + 60_000
    #expect(try next(Self.boot, false) == dueMs)
    #expect(try next(Self.boot, true) == dueMs)
    let boots: [UInt64] = [Self.boot - 1, Self.boot + 1, .max]
    for boot in boots {
      #expect(try next(boot, false) == 0)
      #expect(try next(boot, true) == 0)
      #expect(try due(boot: boot).count == 1)
    }
    let again = try f.ledger.write { [identity = identity(2)] tx in
      try tx.lookAgain(FileID(rawValue: 1), identity, byRun: true)
    }
    #expect(again == .applied)
    #expect(try next(Self.boot, false) == dueMs)
    #expect(try next(Self.boot, true) == nil)
    for boot in boots {
      #expect(try next(boot, false) == 0)
      #expect(try next(boot, true) == nil)
    }
    f.clock.advance(ms: 60_000)
    #expect(try due().count == 1)
    f.clock.advance(ms: -90_000)
    #expect(try due().count == 1, "the clock was ahead")
  }

  @Test func inAnotherBootItIsLookedAtAtOnce() throws {
    _ = try admit(1)
    #expect(try due(boot: 8).count == 1)
    #expect(try f.ledger.read { try $0.nextLookMs(boot: 8, awaited: true) } == 0)
  }

  @Test func whatIsToBeCopiedWaitsForItsCopyThen() throws {
    _ = try admit(1, stage: true)
    #expect(try f.ledger.read { try $0.settlingFiles(after: 0, limit: 9) }.isEmpty)
    #expect(try f.ledger.read { try $0.firstSettlingFile() } == nil)
    f.clock.advance(ms: 60_000)
    let source = try #require(try due().first)
    _ = try f.ledger.write { try $0.endLook(source) }
    #expect(try states() == ["settling - 11"])
    #expect(try f.ledger.read { try $0.settlingFiles(after: 0, limit: 9) }.count == 1)
    #expect(try f.ledger.read { try $0.firstSettlingFile() } == source.id)
    #expect(try f.findings() == [])
  }

  @Test func whatIsGoneIsSupersededAndMayComeAgain() throws {
    _ = try admit(1)
    let file = FileID(rawValue: 1)
    #expect(try f.ledger.write { try $0.dropSettling(file, .sourceMissing, detail: "gone") } == .applied)
    #expect(try states() == ["superseded source.missing 11"])
    #expect(try admit(1).added == 1)
    #expect(try f.findings() == [])
  }

  @Test func aCancelledFileHasNoLook() throws {
    _ = try admit(1)
    _ = try f.ledger.write { try $0.cancelFiles(RowFilter()) }
    #expect(try f.texts("SELECT count(*) FROM look") == ["0"])
    #expect(try f.findings() == [])
  }

  @Test func whatDoesNotSettleKeepsItsIdentity() throws {
    _ = try f.add("b", to: f.makeBatch())
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET size = 1") }
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET mtime_ns = 1") }
    #expect(throws: (any Error).self) {
      try f.shell("INSERT INTO look (file_id, boot, since_ms, due_ms) VALUES (1, 1, 0, 1)")
    }
  }
}
