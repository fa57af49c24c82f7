import TransferModel
import Testing

@testable import TransferLedger

/// A file that is cancelled when its outcome is unknown may have arrived: only a person repeats its request.
@Suite struct UncertainFileTests {
  private let f: LedgerFixture
  private let run: RunID
  private let batch: BatchID
  private let a: FileID

  init() throws {
    f = try LedgerFixture()
    (run, batch) = (try f.startRun(), try f.makeBatch())
    a = try f.add("a", to: batch)
    try f.ledger.write { [run, a] tx in
      _ = try tx.claimAndPlan(run)
      let chunk = try tx.beginChunks(a, run, limit: 1, isRepeatable: false)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.unknown, mayHaveArrived: true))
      _ = try tx.chunkUnknown(chunk.id, chunk.attempt)
      _ = try tx.markUnknown(a, run, code: .protoLostAnswer, message: "lost")
    }
  }

  private func standing() throws -> SyncStatus {
    let new = NewBatch(
      settings: BatchSettings(destination: "put:there"), protocolName: "put", destination: "put:there")
    let source = LedgerFixture.source("a")
    return try f.ledger.read {
      try $0.standing(
        place: "put:there", path: source.path, key: source.key, identity: source.identity, in: new, nowMs: 0)
    }.standing
  }

  @Test(arguments: [ControlVerb.cancel, .remove, .resolve(.cancel, reason: "why not")])
  func itIsNotSentAgain(_ verb: ControlVerb) throws {
    #expect(try f.ledger.control(verb, RowFilter()).changed == [a])
    for _ in 0..<2 {
      #expect(try f.admit("a", to: batch) == .uncertain(a))
      #expect(try standing() == .unknown)
      _ = try f.ledger.control(.clean(failed: true), RowFilter())
    }
    let (target, page) = (f.target(), f.page(["a"]))
    let admitted = try f.ledger.write { try $0.admit(page, to: target) }
    #expect(admitted.uncertain == [UncertainFile(index: 0, file: a)] && admitted.batch == nil)
    #expect(try f.texts("SELECT state FROM file") == ["cancelled"])
    #expect(try f.findings() == [])
  }

  @Test func aPersonSendsItAgain() throws {
    _ = try f.ledger.control(.remove, RowFilter())
    #expect(try f.ledger.control(.retry(startsOver: false), .files([a])).changed == [a])
    #expect(try f.texts("SELECT state, cause FROM file") == ["pending -"])
    #expect(try f.admit("a", to: batch) == .queued(a))
    // The request that may have delivered it is not forgotten.
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try f.findings() == [])
  }

  @Test func otherContentIsSent() throws {
    _ = try f.ledger.control(.cancel, RowFilter())
    guard case .added = try f.admit("a", version: 2, to: batch) else { throw Surprise("not added") }
    #expect(try f.texts("SELECT state FROM file ORDER BY id") == ["superseded", "pending"])
    #expect(try f.findings() == [])
  }

  /// A source that cannot be read for a while does not make the ledger forget what may have arrived.
  @Test func aFailureToReadChangesNothing() throws {
    _ = try f.ledger.control(.cancel, RowFilter())
    var denied = AdmissionPage()
    denied.append(path: NameBytes("/src/a"), key: NameBytes("a"), Failure(.sourceDenied, "permission denied"))
    let (target, page) = (f.target(), denied)
    #expect(try f.ledger.write { try $0.admit(page, to: target) }.failed == 1)
    #expect(try f.admit("a", to: batch) == .uncertain(a))
    #expect(try f.findings() == [])
  }

  @Test func onlyCancellingWhatIsUnknownNotesIt() throws {
    #expect(throws: (any Error).self) {
      try f.shell("UPDATE file SET state = 'cancelled', live = NULL, finished_at = 9000000000000 WHERE id = 1")
    }
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(throws: (any Error).self) { try f.shell("UPDATE file SET may_have_arrived = NULL") }
  }
}
