import TransferModel
import Testing

@testable import TransferLedger

/// The removal of a source is recorded with the receipt of its file, and not before.
@Suite struct RemovalTests {
  private let f: LedgerFixture
  private let run: RunID

  init() throws {
    f = try LedgerFixture()
    run = try f.startRun()
  }

  private func batch(_ place: String, removes: Bool) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    if removes { settings.after = SourceRemoval(.delete, base: "/src") }
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place))
    }
  }

  private func finish() throws {
    try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
  }

  private func due() throws -> [FileID] {
    try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9).map(\.file) }
  }

  private func end(_ file: FileID, _ end: RemovalEnd) throws {
    try f.ledger.write { try $0.endRemovals([(file, end)], verb: "source-deleted") }
  }

  @Test func itBeginsWithTheReceipt() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    #expect(throws: (any Error).self) {
      try f.shell("INSERT INTO removal (file_id, inode, recorded_at) VALUES (1, 1, 0)")
    }
    #expect(try due().isEmpty)
    try finish()
    #expect(try due() == [a])
    #expect(try f.findings() == [])
  }

  /// The folders of a batch with `--after` are recorded with it, and updated when files are added to it later.
  @Test func foldersAreRecordedForThoseThatRemove() throws {
    let first = FolderIdentity(inode: 7, bornNs: 8, device: 9, boot: 10)
    for folder in [first, FolderIdentity(inode: 17, bornNs: nil, device: 9, boot: 11)] {
      var settings = BatchSettings(destination: "put:one")
      settings.after = SourceRemoval(.delete, base: "/src")
      let batch = NewBatch(name: "named", settings: settings, protocolName: "put", destination: "put:one")
      let target = AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
      var page = AdmissionPage()
      let source = LedgerFixture.source("a")
      source.path.bytes.withUnsafeBytes { path in
        source.key.bytes.withUnsafeBytes { page.append(path: path, key: $0, source.identity, mode: 0o600) }
      }
      page.folders[NameBytes("/src")] = folder
      let admitted = page
      let recorded = try #require(try f.ledger.write { try $0.admit(admitted, to: target) }.batch)
      #expect(try f.ledger.read { try $0.sourceFolder(NameBytes("/src"), of: recorded) } == folder)
      #expect(try f.ledger.read { try $0.sourceFolder(NameBytes("/other"), of: recorded) } == nil)
    }
  }

  @Test func whereSourcesAreKeptNothingBegins() throws {
    _ = try f.add("a", to: batch("put:one", removes: false))
    try finish()
    #expect(try due().isEmpty)
  }

  @Test func aPathThatAnotherBatchStillNeedsIsNotDue() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    var other = LedgerFixture.source("a")
    (other.identity.inode, other.identity.device) = (7, 8)
    let second = try batch("put:two", removes: false)
    guard case .added(let b, _) = try f.ledger.write({ [other] in try $0.admit(other, to: second) }) else {
      throw Surprise("not added")
    }
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(b, run, code: .http403, message: "no", keepsSession: false)
    }
    #expect(try due().isEmpty)
    _ = try f.ledger.write { try $0.retryFiles(RowFilter(), startsOver: false) }
    try finish()
    #expect(try due() == [a])
  }

  /// By another hard link or mount: all files of the fixture have the same inode, under different paths.
  @Test func theSameSourceByAnotherPathIsNotDue() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    #expect(try f.ledger.write { try $0.beginRemovals([a]) } == [a])
    #expect(try f.ledger.read { try $0.isRemovalDue(a) })
    let b = try f.add("link/a", to: batch("put:two", removes: false))
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    #expect(try f.ledger.read { try $0.isRemovalDue(a) } == false, "checked again before it is removed")
    try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      _ = try tx.failFile(b, run, code: .http403, message: "no", keepsSession: false)
    }
    #expect(try due().isEmpty)
    _ = try f.ledger.control(.clean(failed: true), RowFilter.files([b]))
    #expect(try due() == [a])
  }

  @Test func anotherInodeHoldsNothingUp() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    var other = LedgerFixture.source("b")
    other.identity.inode = 7
    let second = try batch("put:two", removes: false)
    _ = try f.ledger.write { [other] in try $0.admit(other, to: second) }
    #expect(try due() == [a])
  }

  @Test(arguments: [ControlVerb.cancel, .remove, .clean(failed: false)])
  func aVerbThatEndsAFileKeepsItsSource(_ verb: ControlVerb) throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    #expect(try f.ledger.read { try $0.outcome(of: verb, RowFilter()) }.keptSources == 1)
    let outcome = try f.ledger.control(verb, RowFilter())
    #expect(outcome.changed == [a] && outcome.keptSources == 1)
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    #expect(try f.texts("SELECT state, cause FROM removal") == ["skipped policy.cancelled"])
    #expect(try f.texts("SELECT state FROM file") == ["done"])
    #expect(try f.texts("SELECT verb FROM event WHERE verb LIKE 'source%'") == ["source-kept"])
    #expect(try f.ledger.control(verb, RowFilter()).keptSources == 0)
    #expect(try f.findings() == [])
  }

  /// The request came while the file was active, and the file then completed anyway.
  @Test(arguments: [ControlVerb.cancel, .remove])
  func whatWasAskedOfAFileInWorkKeepsItsSource(_ verb: ControlVerb) throws {
    _ = try f.add("a", to: batch("put:one", removes: true))
    let file = try f.ledger.write { [run] tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      return file.id
    }
    #expect(try f.ledger.control(verb, RowFilter()).asked == [file])
    let isDone = try f.ledger.write { [run] tx in try tx.completeFile(file, run, proof).isApplied }
    #expect(isDone)
    #expect(try f.texts("SELECT state, cause FROM removal") == ["skipped policy.cancelled"])
    #expect(try due().isEmpty)
    #expect(try f.findings() == [])
  }

  @Test func aBatchThatKeepsItsSourcesRemovesNoneAnyMore() throws {
    let batch = try batch("put:one", removes: true)
    let a = try f.add("a", to: batch)
    try finish()
    _ = try f.add("b", to: batch)
    var change = BatchChange()
    change.keepsSources = true
    #expect(try f.ledger.changeBatches(RowFilter(), change).changed == [batch])
    #expect(try f.ledger.changeBatches(RowFilter(), change).unaffected == [batch])
    try finish()
    #expect(try due().isEmpty)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    #expect(try f.texts("SELECT file_id, state FROM removal") == ["\(a.rawValue) skipped"])
    #expect(try f.texts("SELECT detail FROM event WHERE verb = 'set'") == ["after keep"])
    #expect(throws: (any Error).self) { try f.shell("UPDATE batch SET after = 'delete'") }
    #expect(try f.findings() == [])
  }

  /// What happened on the disk counts, not the request that came too late.
  @Test func whatWentWhileItWasRevokedIsGone() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    _ = try f.ledger.control(.cancel, RowFilter())
    try end(a, .failed(.sourceDenied, "no"))
    #expect(try f.texts("SELECT state, cause FROM removal") == ["skipped policy.cancelled"])
    try end(a, .done)
    #expect(try f.texts("SELECT state, cause FROM removal") == ["done -"])
    #expect(try f.findings() == [])
  }

  /// Nobody knows whether a run that was killed has removed the source.
  @Test(arguments: [ControlVerb.cancel, .remove, .clean(failed: false)])
  func whatMayBeGoneIsNotSaidToBeKept(_ verb: ControlVerb) throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    #expect(try f.ledger.read { try $0.outcome(of: verb, RowFilter()) }.keptSources == 0)
    let outcome = try f.ledger.control(verb, RowFilter())
    #expect(outcome.changed == [a] && outcome.keptSources == 0)
    let what = "its file was \(verb == .clean(failed: false) ? "hidden" : "cancelled")"
    #expect(
      try f.texts("SELECT message FROM removal UNION ALL SELECT detail FROM event WHERE verb = 'source-kept'")
        == Array(repeating: "\(what); a run had begun to remove the source, and may have done so", count: 2))
    #expect(try f.findings() == [])
  }

  /// Only a try whose outcome is unknown may have removed it.
  @Test func aTryIsBegunUntilItsEndIsKnown() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    for (end, isBegun) in [
      (RemovalEnd?.none, true), (.putOff(.engineInterrupted, "stopped"), false), (.failed(.sourceDenied, "no"), false),
    ] {
      _ = try f.ledger.write { try $0.beginRemovals([a]) }
      if let end { try self.end(a, end) }
      #expect(try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.map(\.isBegun) == [isBegun])
    }
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(a, .gone("somebody"))
    #expect(try f.texts("SELECT state, message FROM removal") == ["done somebody"])
    #expect(try f.texts("SELECT verb FROM event WHERE verb LIKE 'source%' ORDER BY id").last == "source-gone")
    #expect(try f.findings() == [])
  }

  /// A try without effect says nothing about an earlier try that was interrupted.
  @Test(arguments: [RemovalEnd.putOff(.engineInterrupted, "the run was stopped"), .failed(.sourceDenied, "no")])
  func whatWasCutOffStaysBegunUntilItsEndIsKnown(_ end: RemovalEnd) throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    for _ in 0..<2 { _ = try f.ledger.write { try $0.beginRemovals([a]) } }
    try f.ledger.write { try $0.endRemovals([(a, end)], verb: "source-deleted", uncertain: [a]) }
    #expect(try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.map(\.isBegun) == [true])
    #expect(try f.findings() == [])
  }

  /// A full disk of the target folder shows nowhere. The removal is due at once, and then each time after as long as it
  /// has been put off for, an hour at most; also if the clock was set back.
  @Test func whatNothingExplainsIsTriedLessAndLessOften() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    func isDue() throws -> Bool {
      let nowMs = f.clock.wallMs
      return try f.ledger.read { try $0.nextFolderWait(after: nil, nowMs: nowMs) }?.due?.file == a
    }
    var waits: [Int64] = []
    for _ in 0..<9 {
      _ = try f.ledger.write { try $0.beginRemovals([a]) }
      try end(a, .delayed(.localDiskFull, "no space"))
      var waited: Int64 = 0
      while try !isDue() {
        f.clock.advance(ms: 300_000)
        waited += 5
      }
      waits.append(waited)
      if waited == 0 { f.clock.advance(ms: 300_000) }
    }
    #expect(waits == [0, 5, 10, 20, 40, 60, 60, 60, 60])
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(a, .delayed(.localDiskFull, "no space"))
    #expect(try !isDue())
    f.clock.advance(ms: -86_400_000)
    #expect(try isDue())
    try end(a, .putOff(.localIO, "the folder is away"))
    #expect(try isDue())
    #expect(try f.findings() == [])
  }

  /// No matter how often: no removal is given up because a file system is unavailable for a night.
  @Test func whatIsPutOffHasNotFailed() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    for _ in 0...LedgerTransaction.removalsAtMost {
      _ = try f.ledger.write { try $0.beginRemovals([a]) }
      try end(a, .putOff(.sourceMissing, "away"))
      f.clock.advance(ms: 1_000)
    }
    let since = f.clock.wallMs - 11_000
    #expect(try f.texts("SELECT attempts, failures, put_off_at FROM removal") == ["11 0 \(since)"])
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(a, .failed(.sourceDenied, "no"))
    #expect(try due() == [a])
    #expect(try f.texts("SELECT state, failures, put_off_at FROM removal") == ["pending 1 -"])
    try end(a, .putOff(.engineInterrupted, "stopped"))
    #expect(try f.texts("SELECT cause, put_off_at FROM removal") == ["engine.interrupted \(f.clock.wallMs)"])
    #expect(try f.findings() == [])
  }

  private func moving(_ place: String) throws -> BatchID {
    var settings = BatchSettings(destination: place)
    settings.after = SourceRemoval(.move, base: "/src", folder: "/sent")
    return try f.ledger.write { [settings] in
      try $0.createBatch(NewBatch(settings: settings, protocolName: "put", destination: place))
    }
  }

  /// One batch deletes the source, another moves it: it is moved, because a deletion would lose what the move keeps.
  @Test func whatIsToBeMovedIsNotDeletedBefore() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    let b = try f.add("a", to: moving("put:two"))
    try finish()
    try finish()
    #expect(try due() == [b])
    #expect(try f.ledger.write { try $0.beginRemovals([a, b]) } == [b])
    try f.ledger.write { try $0.endRemovals([(b, .done)], verb: "source-moved") }
    #expect(
      try f.texts("SELECT state, message FROM removal ORDER BY file_id") == [
        "done it was removed with the source of f2", "done -",
      ])
    #expect(
      try f.texts("SELECT verb FROM event WHERE verb LIKE 'source%' ORDER BY id") == ["source-moved", "source-gone"])
    #expect(try f.ledger.read { try $0.removals(RowFilter()).isEmpty })
    #expect(try f.findings() == [])
  }

  /// If the move kept the source, it is not deleted either; if the move was revoked, it may be deleted.
  @Test(arguments: [true, false]) func whatAMoveKeptIsNotDeleted(_ isRevoked: Bool) throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    let b = try f.add("a", to: moving("put:two"))
    try finish()
    try finish()
    if isRevoked {
      _ = try f.ledger.control(.cancel, RowFilter.files([b]))
    } else {
      try end(b, .kept(.policyExists, "there is another one"))
    }
    let due = try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }
    #expect(due.map(\.file) == [a] && due.map(\.keptMove) == [isRevoked ? nil : .policyExists])
    #expect(try f.ledger.read { try $0.isRemovalDue(a) } == isRevoked)
    #expect(try f.ledger.write { try $0.beginRemovals([a]) } == (isRevoked ? [a] : []))
  }

  /// A source that is sent to several destinations is removed once, and none of its removals stays pending.
  @Test func oneSourceOfTwoBatchesGoesOnce() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    let b = try f.add("a", to: batch("put:two", removes: true))
    let c = try f.add("c", to: batch("put:two", removes: true))
    for _ in 0..<3 { try finish() }
    #expect(try due() == [a, b, c])
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(a, .done)
    #expect(try due() == [c], "another path")
    #expect(try f.texts("SELECT state, attempts FROM removal ORDER BY file_id") == ["done 1", "done 1", "pending 0"])
    #expect(try f.findings() == [])
  }

  /// The source was removed by something else: no other batch can delete it any more.
  @Test func aSourceThatIsGoneIsGoneForAllBatches() throws {
    _ = try f.add("a", to: batch("put:one", removes: true))
    let b = try f.add("a", to: moving("put:two"))
    _ = try f.add("c", to: batch("put:two", removes: true))
    for _ in 0..<3 { try finish() }
    _ = try f.ledger.write { try $0.beginRemovals([b]) }
    try end(b, .kept(.sourceMissing, "it was gone before"))
    #expect(
      try f.texts("SELECT state, cause, message FROM removal ORDER BY file_id") == [
        "skipped source.missing it was gone before", "skipped source.missing it was gone before", "pending - -",
      ])
    #expect(
      try f.texts(
        "SELECT verb, first_file, last_file FROM event JOIN event_range ON event_id = id WHERE verb LIKE 'source%'")
        == ["source-gone 1 1", "source-gone 2 2"])
    #expect(try f.findings() == [])
    let totals = try f.ledger.read { try $0.removals(RowFilter()) }
    #expect([totals.waiting, totals.kept, totals.reasons.count] == [1, 0, 0], "no source of them exists any more")
  }

  /// An interrupted attempt may have removed the source: only its own check decides, and then applies to the others.
  @Test func whatATryOfAnotherBatchMayHaveRemovedIsNotMissed() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    let b = try f.add("a", to: batch("put:two", removes: true))
    let c = try f.add("a", to: batch("put:three", removes: true))
    for _ in 0..<3 { try finish() }
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(b, .kept(.sourceMissing, "it was gone before"))
    #expect(
      try f.texts("SELECT state FROM removal ORDER BY file_id") == ["pending", "skipped", "skipped"], "\(c)")
    try end(a, .gone("that one deleted it, or somebody else"))
    #expect(try f.texts("SELECT state FROM removal ORDER BY file_id") == ["done", "skipped", "skipped"])
  }

  @Test func whatIsGoneAfterATryIsGoneForAllBatches() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    _ = try f.add("a", to: batch("put:two", removes: true))
    for _ in 0..<2 { try finish() }
    _ = try f.ledger.write { try $0.beginRemovals([a]) }
    try end(a, .gone("that one deleted it, or somebody else"))
    #expect(
      try f.texts("SELECT state, message FROM removal ORDER BY file_id") == [
        "done that one deleted it, or somebody else", "done it was removed with the source of f1",
      ])
    #expect(try f.findings() == [])
  }

  @Test(arguments: ["lost", "differs"])
  func whatWasNotFoundAtTheDestinationIsKept(_ finding: String) throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    try f.shell(
      """
      INSERT INTO receipt (file_id, n, size, attempt_id, confirmation, finding, etag, version_id, request_id, server_date,
        location, recorded_at)
      SELECT file_id, 2, size, attempt_id, 'size', '\(finding)', '', '', '', '', '', recorded_at FROM receipt
      """)
    #expect(try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.map(\.isLost) == [true])
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
    #expect(try f.ledger.read { try $0.isRemovalDue(a) } == false)
  }

  @Test func theWordOfAPersonIsNoProofOfTheServer() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    let isUnknown = try f.ledger.write { [run] tx in
      _ = try tx.claimAndPlan(run)
      return try tx.markUnknown(a, run, code: .engineCrashed, message: "lost").isApplied
    }
    #expect(isUnknown)
    _ = try f.ledger.control(.resolve(.done, reason: "seen there"), RowFilter())
    #expect(try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }.map(\.isByHand) == [true])
  }

  /// The destination no longer has its content: only the source has it.
  @Test func whatWasReplacedAtTheDestinationIsKept() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    _ = try f.add("a", size: 20, to: batch("put:one", removes: false))
    try finish()
    let due = try f.ledger.read { try $0.dueRemovals(after: 0, limit: 9) }
    #expect(due.map(\.file) == [a] && due.allSatisfy(\.isLost), "\(due)")
    #expect(try f.ledger.write { try $0.beginRemovals([a]) }.isEmpty)
  }

  @Test func itIsDoneOnlyAfterItWasBegun() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    #expect(throws: (any Error).self) { try end(a, .done) }
    #expect(try f.ledger.write { try $0.beginRemovals([a]) } == [a])
    try end(a, .done)
    try end(a, .kept(.sourceChanged, "late"))
    #expect(try f.texts("SELECT state, attempts, cause FROM removal") == ["done 1 -"])
    #expect(try f.texts("SELECT verb FROM event WHERE verb LIKE 'source%'") == ["source-deleted"])
    #expect(throws: (any Error).self) { try f.shell("UPDATE removal SET state = 'pending', ended_at = NULL") }
    #expect(throws: (any Error).self) { try f.shell("DELETE FROM removal") }
    #expect(try f.findings() == [])
  }

  @Test func afterTenTriesItHasFailed() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    for _ in 1...LedgerTransaction.removalsAtMost {
      #expect(try due() == [a])
      _ = try f.ledger.write { try $0.beginRemovals([a]) }
      try end(a, .failed(.sourceDenied, "no"))
    }
    #expect(try due().isEmpty)
    #expect(try f.texts("SELECT state, attempts, failures, cause FROM removal") == ["failed 10 10 source.denied"])
    let kept = try f.texts("SELECT count(*) FROM event WHERE verb = 'source-kept'")
    #expect(kept == ["2"], "when the cause is new, and at the end")
    #expect(try f.ledger.read { try [$0.removals(RowFilter()).waiting, $0.removals(RowFilter()).kept] } == [0, 1])
  }

  /// Changes to the looks, removals, absent sources and scans of ``sourcesOfEachKind()`` that no program may make.
  private static let refused = [
    "INSERT INTO look VALUES (1, 1, 0, 1, NULL)", "INSERT INTO look VALUES (3, 1, 0, 1, NULL)",
    "UPDATE look SET file_id = 3", "INSERT OR REPLACE INTO look VALUES (2, 1, 0, 1, NULL)",
    "INSERT INTO removal (file_id, inode, recorded_at) VALUES (2, 1, 0)",
    "INSERT OR REPLACE INTO removal (file_id, inode, recorded_at) VALUES (1, 1, 0)",
    "INSERT INTO removal (file_id, inode, state, attempts, recorded_at, ended_at) VALUES (3, 1, 'done', 1, 0, 0)",
    "UPDATE removal SET recorded_at = 1", "UPDATE removal SET inode = inode + 1",
    "UPDATE removal SET attempts = 5, failures = 5", "UPDATE removal SET file_id = 3",
    "UPDATE removal SET state = 'done', attempts = 1, ended_at = 0", "DELETE FROM removal",
    "INSERT OR REPLACE INTO scan SELECT id, 'other', place, sources, completed_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM scan",
    "INSERT OR REPLACE INTO scan SELECT NULL, job, place, sources, completed_at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM scan",
    "UPDATE scan SET job = 'other'", "UPDATE scan SET id = 7", "DELETE FROM scan", "DELETE FROM look",
    "INSERT INTO absent_source VALUES (3, 0)", "INSERT OR REPLACE INTO absent_source VALUES (4, 0)",
    "UPDATE absent_source SET seen_at = seen_at + 1", "DELETE FROM absent_source",
  ]

  /// File 1 is done and its source is due for removal, file 2 is settling, file 3 is pending, file 4 was cancelled
  /// and its source is gone; there is one scan.
  private func sourcesOfEachKind() throws {
    _ = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    var settings = BatchSettings(destination: "put:two")
    settings.settleMs = 60_000
    let batch = NewBatch(settings: settings, protocolName: "put", destination: "put:two")
    let target = AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
    var page = AdmissionPage()
    let identity = SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 5, device: 3, boot: 7)
    Array("/src/b".utf8).withUnsafeBytes { path in
      Array("b".utf8).withUnsafeBytes { page.append(path: path, key: $0, identity, mode: 0) }
    }
    _ = try f.ledger.write { [page, target] tx in try tx.admit(page, to: target) }
    _ = try f.add("c", to: f.makeBatch())
    let given = try f.add("d", to: f.makeBatch("put:three"))
    _ = try f.ledger.control(.cancel, RowFilter.files([given]))
    try f.ledger.write { try $0.noteAbsent([given]) }
    let sources = ScannedSources(from: ["/src"], list: nil, rules: [])
    let scan = ScanRow(job: "nightly", place: "put:one", sources: sources, tookMs: 5, counts: SourceCounts())
    try f.ledger.write { try $0.noteScan(scan) }
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["done", "settling", "pending", "cancelled"])
  }

  @Test func theShellCannotBreakTheRules() throws {
    try sourcesOfEachKind()
    let shell = try Connection(path: f.path, access: .readWrite)
    for sql in Self.refused {
      let error = #expect(throws: SQLiteError.self, "\(sql)") { try shell.execute(sql) }
      #expect(error?.primary == 19, "\(sql): \(error?.message ?? "")")
    }
    #expect(try f.findings() == [])
  }

  /// With any one of the triggers dropped, at least one of the statements passes.
  @Test func everyTriggerIsNeeded() throws {
    try sourcesOfEachKind()
    try NeededTriggers(tables: ["look", "removal", "scan", "absent_source"], refused: Self.refused)
      .check(f.path, count: 12)
  }

  @Test func theLastScanIsOneRow() throws {
    var counts = SourceCounts()
    for n in 1...3 {
      (counts.added, counts.unchanged) = (0, n)
      let scan = ScanRow(
        job: "nightly", place: "put:one", sources: ScannedSources(from: ["/src"], list: nil, rules: []), tookMs: 5,
        counts: counts, refused: 4 - n)
      try f.ledger.write { try $0.noteScan(scan) }
      f.clock.advance(ms: 1_000)
    }
    let scans = try f.ledger.read { try $0.scans(ofJob: "nightly") }
    #expect(scans.count == 1 && scans[0].counts.unchanged == 3 && scans[0].sources.from == ["/src"])
    #expect(scans.map(\.refused) == [1], "of the last scan")
    #expect(scans[0].completedMs == f.clock.wallMs - 1_000)
    #expect(try f.ledger.read { try $0.scans(ofJob: "other") }.isEmpty)
  }
}
