import Testing
import TransferModel

@testable import TransferLedger

/// The results of the files of one `add`, regardless of other files in their batches.
@Suite struct AddedFilesTests {
  private let f: LedgerFixture
  init() throws { f = try LedgerFixture() }

  private func add(_ page: AdmissionPage, name: String? = nil) throws -> AddedFiles {
    let target = f.target(name: name)
    let mark = try f.ledger.read { try $0.addedMark() }
    let done = try f.ledger.write { try $0.admit(page, to: target) }
    return AddedFiles(since: mark, batch: done.batch, files: done.files)
  }

  private func totals(_ added: AddedFiles) throws -> AddedTotals {
    try f.ledger.read { [clock = f.clock] in try $0.totals(of: added, nowMs: clock.wallMs) }
  }

  @Test func filesOfOthersAndOfEarlierTimesDoNotCount() throws {
    _ = try add(f.page(["old1", "old2", "old3"]), name: "n")
    let run = try f.startRun()
    try fail("old1", run)
    var page = f.page(["a", "b", "old3"])
    page.append(path: NameBytes("/src/secret"), key: NameBytes("secret"), Failure(.sourceDenied, "no"))
    let added = try add(page, name: "n")
    _ = try f.add("foreign", to: f.makeBatch("put:elsewhere"))
    #expect(added.batches == [BatchID(rawValue: 1)])
    #expect(try totals(added).files.byState == [.pending: 3], "the add itself reports what could not be read")
    try send("old2", run)
    try fail("a", run)
    try send("old3", run)
    let end = try totals(added)
    #expect(end.files.byState == [.done: 1, .failed: 1, .pending: 1])
    #expect((end.files.bytes, end.files.bytesAcked, end.files.retries) == (30, 10, 0))
    #expect((end.files.bytesTransferred, end.bytesAckedSince) == (10, 10))
  }

  @Test func newGenerationsCountInPlaceOfTheOldOnes() throws {
    let first = try add(f.page(["a"]))
    let second = try add(f.page(["a"]))
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      _ = try tx.supersede(file.id, run, by: LedgerFixture.source("a", version: 2).identity, notBeforeMs: nil)
    }
    #expect(second.batches == first.batches)
    for added in [first, second] { #expect(try totals(added).files.byState == [.pending: 1]) }
  }

  /// Two concurrent pushes of the same files: the second finds files that the first recorded after the second began.
  @Test(arguments: [nil, "n"]) func whatAnotherPushRecordsMeanwhileCountsOnce(name: String?) throws {
    let mark = try f.ledger.read { try $0.addedMark() }
    let (first, second) = (f.target(name: name), f.target(name: name))
    let page = f.page(["a", "b", "c"])
    let a = try f.ledger.write { try $0.admit(page, to: first) }
    let more = f.page(["a", "b", "a"])
    let b = try f.ledger.write { try $0.admit(more, to: second) }
    let all = AddedFiles(since: mark, batch: a.batch, files: a.files)
    let some = AddedFiles(since: mark, batch: b.batch, files: b.files)
    let run = try f.startRun()
    for name in ["a", "c"] { try send(name, run) }
    #expect(try totals(all).files.byState == [.done: 2, .pending: 1])
    #expect(try totals(some).files.byState == [.done: 1, .pending: 1], "c belongs to the other push")
    let end = try totals(some)
    #expect((end.files.bytesTransferred, end.bytesAckedSince) == (10, 10))
  }

  /// A push of changed content supersedes the files that another push recorded.
  @Test func whatAnotherPushReplacedCountsOnce() throws {
    let first = try add(f.page(["a", "b"]))
    var page = AdmissionPage()
    page.append(LedgerFixture.source("a", version: 2))
    let second = try add(page)
    let run = try f.startRun()
    try send("a", run)
    #expect(try totals(first).files.byState == [.done: 1, .pending: 1])
    #expect(try totals(second).files.byState == [.done: 1])
  }

  /// Bytes acknowledged for a version that was superseded because its source changed are not counted.
  @Test func aChangedSourceCountsOnceInBytes() throws {
    let added = try add(f.page(["a"]))
    let run = try f.startRun()
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run, chunkSize: 5)
      let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, acked(5))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
      #expect(try tx.bytesAcked(of: file.id, by: run) == 5)
      _ = try tx.supersede(file.id, run, by: LedgerFixture.source("a", version: 2).identity, notBeforeMs: nil)
    }
    try send("a", run)
    let end = try totals(added)
    #expect(end.files.byState == [.done: 1])
    #expect((end.files.bytesTransferred, end.files.bytesAcked, end.bytesAckedSince) == (15, 10, 10))
  }

  /// What each version sent counts, and what only superseded ones stored is acked nowhere: not in the totals, and not
  /// in the histories by host, time and batch.
  @Test func everyVersionOfAChangedSourceCountsWithWhatItSent() throws {
    let added = try add(f.page(["a"]))
    let run = try f.startRun()
    for version: Int64 in 2...4 {
      try f.ledger.write { tx in
        let file = try tx.claimAndPlan(run, chunkSize: 5)
        let chunk = try tx.beginChunks(file.id, run, limit: 1, isRepeatable: true)[0]
        _ = try tx.closeAttempt(chunk.attempt, run, acked(5))
        _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
        _ = try tx.supersede(file.id, run, by: LedgerFixture.source("a", version: version).identity, notBeforeMs: nil)
      }
    }
    try send("a", run)
    let end = try totals(added)
    #expect(end.files.byState == [.done: 1])
    #expect((end.files.bytesTransferred, end.files.bytesAcked, end.bytesAckedSince) == (25, 10, 10))
    for filter in [RowFilter(), .batch(BatchID(rawValue: 1))] {
      try f.ledger.read { reader in
        #expect(try reader.totals(filter).bytesAcked == 10)
        #expect(try reader.hosts(filter).map(\.flow.bytesAcked) == [10])
        #expect(try reader.periods(.day, filter).map(\.flow.bytesAcked) == [10])
        var (acked, sent): (Int64, Int64) = (0, 0)
        try reader.attemptIntervals(filter) { (acked, sent) = (acked + $0.bytesAcked, sent + $0.bytesTransferred) }
        #expect((acked, sent) == (10, 25))
      }
    }
  }

  @Test func rangesOfAnyLengthAreAllFound() throws {
    _ = try add(f.page((0..<1_500).map { "l\($0)" }))
    _ = try add(f.page(["x"]))
    _ = try add(f.page(["s", "t"]))
    let added = try add(f.page((0..<1_500).map { "l\($0)" } + ["t"]))
    #expect(added.batches == [BatchID(rawValue: 1), BatchID(rawValue: 3)])
    let run = try f.startRun()
    for name in ["l7", "x", "t"] { try send(name, run) }
    let end = try totals(added)
    #expect(end.files.byState == [.done: 2, .pending: 1_499])
    #expect(end.files.bytesTransferred == 20 && end.overdue == 0)
    var late = BatchChange()
    late.deadlineMs = .to(1)
    let change = late
    _ = try f.ledger.changeBatches(.batch(BatchID(rawValue: 1)), change)
    #expect(try totals(added).overdue == 1_499)
  }

  private func fail(_ name: String, _ run: RunID) throws {
    let file = try claim(name, run)
    _ = try f.ledger.write { try $0.failFile(file, run, code: .http413, message: "m", keepsSession: false) }
  }

  private func send(_ name: String, _ run: RunID) throws {
    let file = try claim(name, run)
    try f.ledger.write { tx in
      try tx.sendAll(file, run)
      #expect(try tx.completeFile(file, run, proof).isApplied)
    }
  }

  /// Claims this file and releases all others.
  private func claim(_ name: String, _ run: RunID) throws -> FileID {
    try f.ledger.write { tx in
      var found: FileID?
      for file in try tx.claimFiles(run, limit: .max) {
        if file.key == NameBytes(name) {
          _ = try tx.plan(file.id, run, ChunkLayout(whole: file.identity.size))
          found = file.id
        } else {
          _ = try tx.releaseFile(file.id, run, notBeforeMs: nil, code: nil, isFailure: false)
        }
      }
      return try #require(found)
    }
  }
}
