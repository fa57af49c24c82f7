import TransferModel
import Testing

@testable import TransferLedger

@Suite struct AdmissionTests {
  @Test func theSameTreeAgainIsUnchanged() throws {
    let f = try LedgerFixture()
    let first = try f.makeBatch()
    let again = try f.makeBatch()
    let count = 10_000
    let admitted = try f.ledger.write { tx in
      try (0..<count).map { try tx.admit(LedgerFixture.source("f\($0)"), to: first) }
    }
    #expect(Set(admitted).count == count)
    let run = try f.startRun()
    try f.ledger.write { tx in
      for file in try tx.claimFiles(run, limit: count) {
        _ = try tx.plan(file.id, run, ChunkLayout(whole: 10))
        try tx.sendAll(file.id, run)
        #expect(try tx.completeFile(file.id, run, proof).isApplied)
      }
    }
    let unchanged = try f.ledger.write { tx in
      try (0..<count).filter { i in
        if case .unchanged = try tx.admit(LedgerFixture.source("f\(i)"), to: again) { true } else { false }
      }.count
    }
    #expect(unchanged == count)
    #expect(try f.texts("SELECT count(*), count(DISTINCT uid) FROM file") == ["\(count) \(count)"])
    #expect(try f.findings() == [])
  }

  @Test func whatIsThereDecides() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let a = try f.add("a", to: batch)
    #expect(try f.admit("a", to: batch) == .queued(a))
    guard case .added(let b, let replaced) = try f.admit("a", version: 2, to: batch) else { throw Surprise("added") }
    #expect(replaced == a)
    let run = try f.startRun()
    let claimed = try f.ledger.write { try $0.claimAndPlan(run).id }
    #expect(claimed == b)
    #expect(try f.admit("a", version: 2, to: batch) == .queued(b))
    #expect(try f.admit("a", version: 3, to: batch) == .busy(b))
    try f.ledger.write { tx in
      try tx.sendAll(b, run)
      _ = try tx.completeFile(b, run, proof)
    }
    #expect(try f.admit("a", version: 2, to: batch) == .unchanged(b))
    guard case .added(let c, superseded: b) = try f.admit("a", version: 3, to: batch) else { throw Surprise("next") }
    #expect(try f.texts("SELECT generation, state FROM v_files") == ["1 superseded", "2 done", "3 pending"])
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let session = try tx.intendSession(c, run)
      _ = try tx.openSession(session, run, remoteID: "up", expiresAtMs: nil)
      _ = try tx.failFile(c, run, code: .http403, message: "no", keepsSession: true)
    }
    guard case .added(let d, superseded: nil) = try f.admit("a", version: 4, to: batch) else {
      throw Surprise("after failure")
    }
    let left = try f.ledger.read { try $0.workLeft() }
    #expect(left.aborts == 1)
    #expect(try f.texts("SELECT state FROM v_files") == ["superseded", "done", "superseded", "pending"])
    #expect(try f.ledger.write { try $0.retryFiles(RowFilter(), startsOver: false) }.changed.isEmpty)
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(d, run, limit: 1, isRepeatable: false)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(d, run, code: .protoLostAnswer, message: "lost")
    }
    #expect(try f.admit("a", version: 4, to: batch) == .unknown(d))
    #expect(try f.findings() == [])
  }

  /// Another file with the key of a paused one is not what waits there; a newer version of its own source is.
  @Test func aPausedFileStandsForItsOwnSourceOnly() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let a = try f.add("a", to: batch)
    _ = try f.ledger.write { try $0.pauseFiles(RowFilter(), now: false) }
    #expect(try f.admit("a", version: 2, to: batch) == .queued(a))
    var other = LedgerFixture.source("a", version: 3)
    other.path = NameBytes("/elsewhere/a")
    let found = try f.ledger.write { [other] tx in try tx.admit(other, to: batch) }
    #expect(found == .busy(a))
    var sameFile = LedgerFixture.source("a")
    sameFile.path = NameBytes("/linked/a")
    let linked = try f.ledger.write { [sameFile] tx in try tx.admit(sameFile, to: batch) }
    #expect(linked == .queued(a))
  }

  @Test func aPlaceAndAKeyAreOneObjectWhateverTheBatch() throws {
    let f = try LedgerFixture()
    let a = try f.add("k", to: f.makeBatch("put:one"))
    #expect(try f.admit("k", to: f.makeBatch("put:one")) == .queued(a))
    #expect(try f.add("k", to: f.makeBatch("put:two")) != a)
  }

  @Test func whatCannotBeReadIsRecordedAndNotRetried() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    let path = NameBytes([0x2F, 0xFF, 0x0A])
    for _ in 0..<2 {
      _ = try f.ledger.write {
        try $0.admitFailed(path: path, key: path, code: .sourceDenied, message: "permission denied", to: batch)
      }
    }
    #expect(
      try f.texts("SELECT generation, state, cause, hex(path), size FROM v_files") == [
        "1 failed source.denied 2FFF0A -", "2 failed source.denied 2FFF0A -",
      ])
    #expect(try f.ledger.write { try $0.retryFiles(RowFilter(), startsOver: false) }.changed.isEmpty)
    #expect(try f.findings() == [])
  }

  @Test func aNamedBatchIsMadeOnce() throws {
    let f = try LedgerFixture()
    let first = try f.makeBatch(name: "nightly")
    let again = try f.ledger.write {
      try $0.createBatch(
        NewBatch(
          name: "nightly", settings: BatchSettings(destination: "x"), protocolName: "put", destination: "x",
          labels: ["k": "v"]))
    }
    #expect(again == first)
    let settings = try f.ledger.read { try $0.batchSettings(first) }
    #expect(settings == BatchSettings(destination: "put:there"))
    #expect(try f.ledger.read { try $0.batchSettings(BatchID(rawValue: 9)) } == nil)
  }

  @Test func anUnreadableScanBetweenTwoVersionsLeavesRoomForTheNext() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
    _ = try f.ledger.write { tx in
      try tx.admitFailed(
        path: NameBytes("/src/a"), key: NameBytes("a"), code: .sourceDenied, message: "no", to: batch)
    }
    guard case .added(_, superseded: FileID(rawValue: 1)?) = try f.admit("a", version: 2, to: batch) else {
      Issue.record("not added")
      return
    }
    #expect(try f.texts("SELECT generation, state FROM file ORDER BY id") == ["1 done", "2 superseded", "3 pending"])
    #expect(try f.findings() == [])
  }

  @Test func aBatchIsMadeWithTheFirstFileThatNeedsARow() throws {
    let f = try LedgerFixture()
    let first = f.target()
    #expect(try f.ledger.write { try $0.admit(AdmissionPage(), to: first) } == PageAdmission())
    #expect(try f.texts("SELECT count(*) FROM batch") == ["0"])
    let page = f.page(["a", "b"])
    let admitted = try f.ledger.write { try $0.admit(page, to: first) }
    #expect(admitted.added == 2 && admitted.batch == BatchID(rawValue: 1) && admitted.bytes == 20)
    let more = f.page(["c"])
    #expect(try f.ledger.write { try $0.admit(more, to: first) }.batch == admitted.batch)
    let again = f.target()
    let queued = try f.ledger.write { try $0.admit(page, to: again) }
    #expect(queued.queued == 2 && queued.batch == nil)
    #expect(try f.texts("SELECT count(*), (SELECT count(*) FROM file) FROM batch") == ["1 3"])
    #expect(try f.findings() == [])
  }

  @Test func aNamedBatchIsFoundAgainAndGoesNowhereElse() throws {
    let f = try LedgerFixture()
    let (one, two) = (f.page(["a"]), f.page(["b"]))
    let (first, again) = (f.target(name: "nightly"), f.target(name: "nightly"))
    let made = try f.ledger.write { try $0.admit(one, to: first) }
    #expect(try f.ledger.write { try $0.admit(two, to: again) }.batch == made.batch)
    let elsewhere = f.target("put:elsewhere", name: "nightly")
    #expect(throws: TransferError.self) { try f.ledger.write { try $0.admit(two, to: elsewhere) } }
    #expect(try f.texts("SELECT count(*) FROM file") == ["2"])
  }

  @Test func theSameFileTwiceIsTakenOnceAndTwoFilesWithOneKeyAreRefused() throws {
    let f = try LedgerFixture()
    let target = f.target()
    let twice = f.page(["a", "b", "a"])
    let admitted = try f.ledger.write { try $0.admit(twice, to: target) }
    #expect(admitted.added == 2 && admitted.repeated == 1)
    var colliding = f.page(["c"])
    colliding.append(LedgerFixture.source("a"), path: "/src/other")
    let page = colliding
    let error = #expect(throws: TransferError.self) { try f.ledger.write { try $0.admit(page, to: target) } }
    #expect(error?.kind == .usage)
    #expect(error?.cause.contains("\"/src/a\"") == true)
    #expect(try f.texts("SELECT path FROM file WHERE key = CAST('c' AS BLOB)") == [])
  }

  @Test func theSameFailureAgainAddsNoRow() throws {
    let f = try LedgerFixture()
    var denied = AdmissionPage()
    denied.append(path: NameBytes("/src/a"), key: NameBytes("a"), Failure(.sourceDenied, "permission denied"))
    var gone = AdmissionPage()
    gone.append(path: NameBytes("/src/a"), key: NameBytes("a"), Failure(.sourceMissing, "no such file"))
    let readable = f.page(["a"])
    for page in [denied, denied, gone, denied, readable, denied, denied] {
      let target = f.target()
      let admitted = try f.ledger.write { try $0.admit(page, to: target) }
      #expect(admitted.failed == (page.count - admitted.added))
    }
    #expect(
      try f.texts("SELECT generation, state, cause FROM v_files") == [
        "1 superseded source.denied", "2 superseded source.missing", "3 superseded source.denied", "4 pending -",
        "5 failed source.denied",
      ])
    #expect(try f.texts("SELECT count(*) FROM batch") == ["5"])
    #expect(try f.findings() == [])
  }

  @Test func batchesCanBePassedOver() throws {
    let f = try LedgerFixture()
    let first = try f.makeBatch("put:a")
    _ = try f.add("a", to: first)
    let second = try f.add("b", to: try f.makeBatch("put:b"))
    let run = try f.startRun()
    #expect(try f.ledger.write { try $0.claimFiles(run, limit: 9, without: [first]).map(\.id) } == [second])
  }

  /// Claims one file, which fails; its session is kept for the next attempt.
  private func fail(_ f: LedgerFixture, _ run: RunID, opens: Bool = true) throws {
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      if opens {
        let session = try tx.intendSession(file.id, run)
        _ = try tx.openSession(session, run, remoteID: "up\(session)", expiresAtMs: nil)
      }
      let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.fatal))
      _ = try tx.failChunk(chunk.id, chunk.attempt)
      _ = try tx.failFile(file.id, run, code: .http403, message: "no", keepsSession: true)
    }
  }

  @Test func whatFailedIsPushedAgainInItsRow() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    let page = f.page(["a"])
    for push in 0..<6 {
      let target = f.target()
      let twice = f.page(push == 3 ? ["a", "a"] : ["a"])
      let admitted = try f.ledger.write { try $0.admit(push == 3 ? twice : page, to: target) }
      #expect(
        (admitted.added, admitted.requeued, admitted.repeated) == (
          push == 0 ? 1 : 0, push == 0 ? 0 : 1, push == 3 ? 1 : 0
        ))
      #expect(admitted.files.batches == [BatchID(rawValue: 1)])
      if push == 4 { _ = try f.ledger.write { try $0.pauseFiles(RowFilter(), now: false) } }
      if push == 4 { _ = try f.ledger.write { try $0.resumeFiles(RowFilter()) } }
      try fail(f, run, opens: push == 0)
      if push == 2 { _ = try f.ledger.write { try $0.hideFinished(RowFilter(), failed: true) } }
    }
    #expect(try f.texts("SELECT id, generation, state, batch_id, hidden FROM v_files") == ["1 1 failed 1 -"])
    #expect(try f.texts("SELECT count(*), sum(hidden) FROM batch") == ["1 -"])
    #expect(try f.events(of: FileID(rawValue: 1), "retried").count == 5)
    #expect(try f.ledger.read { try $0.workLeft() }.aborts == 0, "the session is kept")
    #expect(try f.findings() == [])
  }

  @Test func whatWouldNotBeRecordedTheSameWayMakesRoom() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    let place = "put:there"
    func target(_ change: (inout NewBatch) -> Void = { _ in }) throws -> AdmissionTarget {
      var batch = NewBatch(settings: BatchSettings(destination: place), protocolName: "put", destination: place)
      change(&batch)
      return AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
    }
    let targets = [
      try target(), try target { $0.settings.options["part-size"] = .number(5 << 20) },
      try target { $0.name = "nightly" },
      try target { $0.labels = ["run": "42"] }, try target { $0.priority = 4 }, try target(),
    ]
    var newer = AdmissionPage()
    newer.append(LedgerFixture.source("a", version: 2))
    let pages = [f.page(["a"]), f.page(["a"]), f.page(["a"]), f.page(["a"]), f.page(["a"]), newer]
    for (number, (page, target)) in zip(pages, targets).enumerated() {
      let admitted = try f.ledger.write { try $0.admit(page, to: target) }
      #expect((admitted.added, admitted.requeued, admitted.changed) == (1, 0, 0), "\(number)")
      try fail(f, run)
    }
    #expect(try f.texts("SELECT count(*) FROM v_files WHERE state = 'superseded'") == ["5"])
    #expect(try f.texts("SELECT generation, batch_id FROM v_files WHERE state = 'failed'") == ["6 6"])
    #expect(try f.ledger.read { try $0.workLeft() }.aborts == 5, "the sessions of superseded files are aborted")
    #expect(try f.ledger.read { try $0.stateTotals(RowFilter()) }.byState == [.failed: 1])
    #expect(try f.findings() == [])
  }

  /// Receivers of callbacks are not in the settings of a row, but a failed file is only retried with the same
  /// receivers.
  @Test(arguments: [nil, "nightly"]) func whatFailedGoesOnForTheSameReceivers(name: String?) throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    func admit(_ callbacks: [CallbackSetting]) throws -> PageAdmission {
      var settings = BatchSettings(destination: "put:there")
      settings.callbacks = callbacks
      let batch = NewBatch(name: name, settings: settings, protocolName: "put", destination: "put:there")
      let target = AdmissionTarget(batch, since: try f.ledger.read { try $0.addedMark() }, wallMs: f.clock.wallMs)
      let page = f.page(["a"])
      return try f.ledger.write { try $0.admit(page, to: target) }
    }
    let signed = CallbackSetting(.done, .webhook, "http://there/", secret: "env:KEY")
    let told = [signed, CallbackSetting(.done, .webhook, "http://there/"), CallbackSetting(.failed, .exec, "true")]
    #expect(try admit(told).added == 1)
    try fail(f, run)
    #expect(try admit(told).requeued == 1)
    try fail(f, run, opens: false)
    for others in [[signed], [], told + [CallbackSetting(.unknown, .exec, "true")]] {
      if name != nil {
        #expect(kind { _ = try admit(others) } == .usage)
      } else {
        #expect(try admit(others).added == 1)
        try fail(f, run)
      }
    }
    #expect(try f.findings() == [])
  }

  @Test func aCancelledFileThatIsPushedAgainMakesRoom() throws {
    let f = try LedgerFixture()
    let batch = try f.makeBatch()
    _ = try f.add("a", to: batch)
    _ = try f.ledger.write { try $0.cancelFiles(RowFilter()) }
    _ = try f.add("a", to: batch)
    #expect(try f.texts("SELECT generation, state FROM v_files") == ["1 superseded", "2 pending"])
    #expect(try f.findings() == [])
  }

  @Test func aFailureToReadIsOverWhenTheFileCanBeRead() throws {
    let f = try LedgerFixture()
    let run = try f.startRun()
    let readable = f.page(["a"])
    var denied = AdmissionPage()
    denied.append(path: NameBytes("/src/a"), key: NameBytes("a"), Failure(.sourceDenied, "permission denied"))
    let refused = denied
    func admit(_ page: AdmissionPage) throws -> PageAdmission {
      let target = f.target()
      return try f.ledger.write { try $0.admit(page, to: target) }
    }
    _ = try admit(readable)
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
    _ = try admit(refused)
    #expect(try f.texts("SELECT state FROM v_files") == ["done", "failed"])
    #expect(try admit(readable).unchanged == 1)
    #expect(try f.texts("SELECT state FROM v_files") == ["done", "superseded"])
    #expect(try f.findings() == [])
  }
}
