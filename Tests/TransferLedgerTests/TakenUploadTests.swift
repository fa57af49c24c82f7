import Testing
import TransferModel

@testable import TransferLedger

/// Whether an upload that a server names belongs to another file, or to another chunk of the same one.
@Suite struct TakenUploadTests {
  private let f: LedgerFixture
  private let files: [FileID]
  private let run: RunID

  /// Files `a` and `b` of one destination, and `c` of another; `a` has a session, and its first chunk an upload.
  init() throws {
    f = try LedgerFixture()
    let (here, there) = (try f.makeBatch(), try f.makeBatch("put:elsewhere"))
    files = [
      try f.add("a", size: 35, to: here), try f.add("b", size: 35, to: here), try f.add("c", size: 35, to: there),
    ]
    run = try f.startRun()
    let (run, file) = (run, files[0])
    try f.ledger.write { tx in
      for _ in 0..<3 { _ = try tx.claimAndPlan(run) }
      let session = try tx.intendSession(file, run)
      _ = try tx.openSession(session, run, remoteID: "7", expiresAtMs: nil)
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      _ = try tx.closeAttempt(chunk.attempt, run, result(.ok))
      _ = try tx.prepareChunk(chunk.id, chunk.attempt, remote: ["url": "http://h/up/1", "written": "/up/1"])
    }
  }

  private func isTaken(_ url: String, by seq: Int, of n: Int) throws -> Bool {
    let file = files[n]
    return try f.ledger.write { try $0.isChunkUploadTaken(url, by: seq, of: file) }
  }

  @Test func theUploadOfAChunkIsThatOfNoOtherChunk() throws {
    #expect(try !isTaken("http://h/up/1", by: 0, of: 0), "its own")
    #expect(try isTaken("http://h/up/1", by: 1, of: 0))
    #expect(try isTaken("http://h/up/1", by: 0, of: 1))
    #expect(try isTaken("http://h/up/1", by: 0, of: 2))
    #expect(try !isTaken("http://h/up/10", by: 1, of: 0) && !isTaken("http://h/up/", by: 1, of: 0))
  }

  @Test func thatOfAnAbortedSessionIsFree() throws {
    let (file, run) = (files[0], run)
    try f.ledger.write { tx in
      let session = SessionID(rawValue: 1)
      _ = try tx.endSession(session, .gone)
      _ = try tx.failFile(file, run, code: .http5xx, message: "no", keepsSession: false)
    }
    #expect(try !isTaken("http://h/up/1", by: 0, of: 1))
  }

  @Test func theIDOfASessionIsUniqueAtItsDestination() throws {
    let files = files
    let here = try f.ledger.write { tx in
      try files.map { try tx.isSessionTaken("7", from: $0, isAnywhere: false) }
    }
    #expect(here == [false, true, false], "its own, another file, a file of another destination")
    let anywhere = try f.ledger.write { tx in try files.map { try tx.isSessionTaken("7", from: $0) } }
    #expect(anywhere == [false, true, true])
    #expect(try f.ledger.write { tx in try !tx.isSessionTaken("8", from: files[1]) })
  }

  @Test func anUploadThatIsBeingAbortedIsNotFree() throws {
    let (file, run) = (files[0], run)
    func isTaken() throws -> Bool { try f.ledger.write { try $0.isSessionTaken("7", from: file) } }
    let work = try f.ledger.write { tx in
      try tx.giveUpSession(file, run)
      return try tx.claimAborts(run, limit: 1)[0]
    }
    #expect(try isTaken())
    try f.ledger.write { try $0.endAbort(work, run, result(.retry), nil) }
    #expect(try !isTaken())
  }

  /// SQLite takes the first bound in the text to seek with: with that of the index it would read all uploads.
  @Test func theLookupSeeksWithTheURL() throws {
    let db = try Connection(path: f.path, access: .readOnly)
    let program = try db.rowsOnce("EXPLAIN \(LedgerTransaction.takenChunkUpload)") { $0.text(1) }
    let plan = try db.rowsOnce("EXPLAIN QUERY PLAN \(LedgerTransaction.takenChunkUpload)") { $0.text(3) }
    #expect(plan.contains { $0.contains("INDEX chunk_upload (remote>? AND remote<?)") }, "\(plan)")
    let seek = try #require(program.firstIndex(of: "SeekGE"), "\(program)")
    #expect(program[..<seek].last { $0 == "Variable" || $0 == "String8" } == "Variable")
  }
}
