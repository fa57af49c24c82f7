import Testing
import TransferModel

@testable import TransferLedger

/// Bytes that a later query finds on the server are credited to the attempts that sent them.
@Suite struct CreditTests: @unchecked Sendable {
  private let f: LedgerFixture
  private let run: RunID
  private let file: FileID
  init() throws {
    f = try LedgerFixture()
    file = try f.add("a", size: 35, to: f.makeBatch())
    run = try f.startRun()
    _ = try f.ledger.write { [run] in try $0.claimAndPlan(run) }
  }

  /// Begins the first chunk and loses its answer after `bytes` were sent.
  private func lose(afterSending bytes: Int64) throws -> ClaimedChunk {
    try f.ledger.write { tx in
      let chunk = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)[0]
      var lost = result(.retry, mayHaveArrived: true)
      lost.bytesTransferred = bytes
      #expect(try tx.closeAttempt(chunk.attempt, run, lost).isApplied)
      #expect(try tx.releaseChunk(chunk.id, chunk.attempt).isApplied)
      return chunk
    }
  }

  private func question(_ tx: LedgerTransaction, _ operation: AttemptOperation = .probe) throws -> AttemptID {
    let asked = try tx.beginAttempt(file, run, operation, session: nil, isRepeatable: true)
    _ = try tx.closeAttempt(asked, run, ok)
    return asked
  }

  private func parts() throws -> [String] {
    try f.texts("SELECT outcome, bytes_transferred, bytes_acked FROM attempt WHERE operation = 'part' ORDER BY id")
  }

  @Test func anOffsetCountsForTheAttemptsThatSentIt() throws {
    _ = try lose(afterSending: 4)
    try f.ledger.write { tx in
      try tx.alignChunks(file, run, by: question(tx), offset: 3)
      #expect(tx.takeCredited() == 3)
    }
    _ = try lose(afterSending: 7)
    try f.ledger.write { tx in
      try tx.alignChunks(file, run, by: question(tx), offset: 10)
      #expect(tx.takeCredited() == 7 && tx.takeCredited() == 0)
    }
    #expect(try parts() == ["retry 4 3", "retry 7 7"])
    let totals = try f.ledger.read { try $0.totals(RowFilter()) }
    #expect(
      (totals.bytesTransferred, totals.bytesAcked, totals.bytesUnacked, totals.bytesUnackedAtMost) == (11, 10, 1, 1))
    #expect(try f.findings() == [])
  }

  @Test func aListedPartCountsForTheAttemptThatSentIt() throws {
    _ = try lose(afterSending: 10)
    try f.ledger.write { tx in
      let asked = try question(tx)
      #expect(try tx.adoptChunk(file, run, seq: 0, by: asked, part).isApplied)
      #expect(tx.takeCredited() == 10)
    }
    #expect(try parts() == ["retry 10 10"])
    #expect(try f.findings() == [])
  }

  @Test func aQuestionAboutAChunkCountsForTheAttemptThatSentIt() throws {
    let chunk = try lose(afterSending: 8)
    try f.ledger.write { tx in
      let opening = ChunkOpening(prepares: false, probesUncertain: true)
      let asked = try tx.beginChunks(file, run, limit: 1, isRepeatable: true, opening: opening)[0]
      #expect(asked.id == chunk.id && asked.operation == .probe)
      _ = try tx.closeAttempt(asked.attempt, run, ok)
      #expect(try tx.probeChunk(asked.id, asked.attempt, acked: 6).isApplied)
      #expect(tx.takeCredited() == 6)
    }
    #expect(try parts() == ["retry 8 6"])
    #expect(try f.findings() == [])
  }

  @Test func aVerifiedFileCountsForTheAttemptsThatSentIt() throws {
    try f.ledger.write { tx in
      for chunk in try tx.beginChunks(file, run, limit: .max, isRepeatable: true) {
        var lost = result(.retry, mayHaveArrived: true)
        lost.bytesTransferred = chunk.facts.range.length
        _ = try tx.closeAttempt(chunk.attempt, run, lost)
        let isFirst = chunk.facts.seq == 0
        let kept =
          isFirst
          ? try tx.releaseChunk(chunk.id, chunk.attempt)
          : try tx.retryChunk(chunk.id, chunk.attempt, notBeforeMs: tx.wallMs + 9_000)
        #expect(kept.isApplied)
      }
      let asked = try question(tx, .verify)
      #expect(try tx.confirmChunks(file, run, by: asked, .size, etag: "").isApplied, "whether they back off or not")
      #expect(tx.takeCredited() == 35)
    }
    #expect(try parts() == ["retry 10 10", "retry 10 10", "retry 10 10", "retry 5 5"])
    #expect(try f.findings() == [])
  }

  /// Nothing recorded how much a killed engine sent.
  @Test func whatAKilledEngineSentHasBounds() throws {
    _ = try lose(afterSending: 2)
    try f.ledger.write { tx in
      try tx.alignChunks(file, run, by: question(tx), offset: 2)
      _ = try tx.beginChunks(file, run, limit: 1, isRepeatable: true)
    }
    func totals() throws -> [Int64] {
      let all = try f.ledger.read { try $0.totals(RowFilter()) }
      var filter = RowFilter()
      filter.files = [1...9]
      let some = try f.ledger.read { [filter] in try $0.totals(filter) }
      #expect((some.bytesTransferred, some.bytesUntold) == (all.bytesTransferred, all.bytesUntold))
      let batch = try f.ledger.read { try $0.batches(RowFilter(), after: 0, limit: 9) }[0].totals
      #expect((batch.bytesUnacked, batch.bytesUnackedAtMost) == (all.bytesUnacked, all.bytesUnackedAtMost))
      let row = try f.ledger.read { try $0.files(RowFilter(), after: 0, limit: 9) }[0]
      #expect(
        (row.bytesTransferred, row.bytesTransferredAtMost) == (
          all.bytesTransferred, all.bytesTransferred + all.bytesUntold
        ))
      return [all.bytesTransferred, all.bytesUnacked, all.bytesUnackedAtMost]
    }
    #expect(try totals() == [2, 0, 8], "it may be sending the rest of its chunk right now")
    try f.restart()
    let next = try f.startRun()
    _ = try f.ledger.write { try $0.recover(next) }
    #expect(try totals() == [2, 0, 8])
    try f.ledger.write { tx in
      let file = try tx.claimFiles(next, limit: 1)[0].id
      let asked = try tx.beginAttempt(file, next, .probe, session: nil, isRepeatable: true)
      _ = try tx.closeAttempt(asked, next, ok)
      try tx.alignChunks(file, next, by: asked, offset: 7)
      #expect(tx.takeCredited() == 0, "another run sent it")
    }
    #expect(try parts() == ["retry 2 2", "crashed 5 5"])
    #expect(try totals() == [7, 0, 3])
    #expect(try f.findings() == [])
  }

  @Test func onlyAQuestionChangesWhatWasAcknowledged() throws {
    _ = try lose(afterSending: 4)
    let credit = "UPDATE attempt SET bytes_acked = 3 WHERE id = 1"
    #expect(throws: (any Error).self, "no query confirmed it") { try f.shell(credit) }
    try f.ledger.write { tx in _ = try question(tx) }
    for change in [
      "bytes_acked = 5", "bytes_acked = 3, bytes_transferred = 9", "bytes_acked = 3, outcome = 'ok'",
      "bytes_acked = 3, message = 'x'", "bytes_transferred = 3", "rowid = 77", "bytes_acked = 3, reply_excerpt = x'00'",
    ] {
      #expect(throws: (any Error).self, "\(change)") { try f.shell("UPDATE attempt SET \(change) WHERE id = 1") }
    }
    try f.shell(credit)
    #expect(throws: (any Error).self) { try f.shell("UPDATE attempt SET bytes_acked = 2 WHERE id = 1") }
  }
}
