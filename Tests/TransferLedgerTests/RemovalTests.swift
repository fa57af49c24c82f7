import TransferModel
import Testing

@testable import TransferLedger

/// What is done with a source begins with the receipt of its file, and not before.
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
    #expect(throws: (any Error).self) { try f.shell("INSERT INTO removal (file_id, recorded_at) VALUES (1, 0)") }
    #expect(try due().isEmpty)
    try finish()
    #expect(try due() == [a])
    #expect(try f.findings() == [])
  }

  @Test func whereSourcesAreKeptNothingBegins() throws {
    _ = try f.add("a", to: batch("put:one", removes: false))
    try finish()
    #expect(try due().isEmpty)
  }

  @Test func aPathThatAnotherBatchStillNeedsIsNotDue() throws {
    let a = try f.add("a", to: batch("put:one", removes: true))
    try finish()
    let b = try f.add("a", to: batch("put:two", removes: false))
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
    #expect(try f.texts("SELECT state, attempts, cause FROM removal") == ["failed 10 source.denied"])
    #expect(try f.texts("SELECT count(*) FROM event WHERE verb = 'source-kept'") == ["1"])
    #expect(try f.ledger.read { try $0.removalsLeft() } == (0, 1))
  }

  @Test func theLastScanIsOneRow() throws {
    var counts = SourceCounts()
    for n in 1...3 {
      (counts.added, counts.unchanged) = (0, n)
      let scan = ScanRow(
        job: "nightly", place: "put:one", sources: ScannedSources(from: ["/src"], list: nil, rules: []), tookMs: 5,
        counts: counts)
      try f.ledger.write { try $0.noteScan(scan) }
      f.clock.advance(ms: 1_000)
    }
    let scans = try f.ledger.read { try $0.scans(ofJob: "nightly") }
    #expect(scans.count == 1 && scans[0].counts.unchanged == 3 && scans[0].sources.from == ["/src"])
    #expect(scans[0].completedMs == f.clock.wallMs - 1_000)
    #expect(try f.ledger.read { try $0.scans(ofJob: "other") }.isEmpty)
  }
}
