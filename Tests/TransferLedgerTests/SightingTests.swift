import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// Files whose ctime or device changed since they were admitted: their content is compared before anything is
/// superseded.
@Suite struct SightingTests {
  private let f: LedgerFixture
  private let batch: BatchID

  init() throws {
    f = try LedgerFixture()
    batch = try f.makeBatch()
  }

  private func moved(_ name: String, _ change: (inout SourceIdentity) -> Void) -> NewFile {
    var file = LedgerFixture.source(name, size: 20)
    change(&file.identity)
    return file
  }

  private func admit(_ file: NewFile, _ outcome: ContentOutcome? = nil) throws -> PageAdmission {
    let target = f.target()
    return try f.ledger.write { tx in
      var plain = AdmissionPage()
      plain.append(file)
      guard let outcome else { return try tx.admit(plain, to: target) }
      var page = AdmissionPage()
      page.append(0, of: plain, file.identity, outcome)
      return try tx.admit(page, to: target)
    }
  }

  private func done(_ name: String) throws -> FileID {
    let run = try f.startRun()
    let id = try f.add(name, size: 20, to: batch)
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      try tx.sendAll(id, run)
      _ = try tx.completeFile(id, run, proof)
      _ = try tx.endRun(run, how: "done")
    }
    return id
  }

  @Test func theContentOfADoneFileDecides() throws {
    let id = try done("a")
    let touched = moved("a") { $0.ctimeNs = 7 }
    let known = LedgerFixture.source("a", size: 20).identity
    let asked = try admit(touched)
    #expect(asked.moved == [MovedFile(index: 0, file: id, identity: known)])
    #expect(asked.added + asked.unchanged == 0)
    #expect(try admit(touched, .same(id)).unchanged == 1)
    // From now on no comparison is needed, and later changes are compared with the last identity seen.
    #expect(try admit(touched).unchanged == 1)
    #expect(
      try admit(moved("a") { $0.ctimeNs = 8 }).moved == [MovedFile(index: 0, file: id, identity: touched.identity)])
    let other = try admit(moved("a") { $0.ctimeNs = 8 }, .other(id))
    #expect(other.added == 1 && other.changed == 1)
    #expect(try f.texts("SELECT state, ctime_ns FROM file") == ["done 1", "pending 8"], "what was admitted stays")
    #expect(try f.findings() == [])
  }

  /// A comparison counts only for the row that was compared, even if another process replaced that row meanwhile.
  @Test func aVerdictIsOfItsRow() throws {
    let id = try done("a")
    let touched = moved("a") { $0.ctimeNs = 7 }
    #expect(try admit(touched, .same(FileID(rawValue: 99))).moved.map(\.file) == [id])
    #expect(try admit(touched, .other(FileID(rawValue: 99))).moved.map(\.file) == [id])
  }

  @Test func anotherBootHasOtherDevices() throws {
    _ = try done("a")
    #expect(try admit(moved("a") { ($0.device, $0.boot) = (9, 9) }).unchanged == 1)
    #expect(try admit(moved("a") { $0.device = 9 }).moved.count == 1)
  }

  @Test(arguments: [0, 1, 2]) func otherDifferencesAreANewerVersion(_ which: Int) throws {
    _ = try done("a")
    let file = moved("a") { identity in
      switch which {
      case 0: identity.size += 1
      case 1: identity.mtimeNs += 1
      default: identity.inode -= 1
      }
    }
    #expect(try admit(file).changed == 1)
  }

  /// The engine compares its content when it resumes the file.
  @Test func whatIsNotDoneWaitsForTheEngine() throws {
    let id = try f.add("a", size: 20, to: batch)
    let touched = moved("a") { $0.ctimeNs = 7 }
    #expect(try admit(touched).queued == 1)
    let run = try f.startRun()
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let active = try tx.sight(id, run, as: touched.identity)
      #expect(active == .applied)
      _ = try tx.failFile(id, run, code: .http403, message: "no", keepsSession: true)
      let failed = try tx.sight(id, run, as: touched.identity)
      #expect(failed == .lost(to: "failed"))
    }
    #expect(try admit(touched).requeued == 1)
    let again = try f.ledger.write { try $0.claimAndPlan(run) }
    #expect(again.id == id && again.identity.ctimeNs == 7)
    #expect(try f.texts("SELECT count(*) FROM file") == ["1"])
  }

  @Test func whatWasSentIsKnownFromChunksAndAttempts() throws {
    let id = try f.add("a", size: 20, to: batch)
    let run = try f.startRun()
    let piece = SentContent.Piece(range: ByteRange(offset: 10, length: 8), digest: Digest(crc32c: 5))
    try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      let chunks = try tx.beginChunks(id, run, limit: 2, isRepeatable: true)
      _ = try tx.closeAttempt(chunks[0].attempt, run, acked(10))
      _ = try tx.storeChunk(chunks[0].id, chunks[0].attempt, part)
      var cut = result(.retry, mayHaveArrived: true)
      cut.sent = piece
      _ = try tx.closeAttempt(chunks[1].attempt, run, cut)
      _ = try tx.releaseChunk(chunks[1].id, chunks[1].attempt)
    }
    let first = SentContent.Piece(range: ByteRange(offset: 0, length: 10), digest: Digest(crc32c: 7))
    let content = try f.ledger.read { try $0.sentContent(of: id) }
    #expect(content.pieces == [first, piece])
    #expect(content.acked == [first.range] && content.isCovered)
    // Acknowledged bytes are covered only as far as the sent content is known.
    for (acked, isCovered) in [(8, true), (9, false)] {
      try f.shell("UPDATE chunk SET acked = \(acked) WHERE seq = 1")
      let content = try f.ledger.read { try $0.sentContent(of: id) }
      #expect(content.isCovered == isCovered)
    }
  }

  /// The process was killed in the middle of a body.
  @Test func whatADeadEngineHadReadIsKnown() throws {
    let id = try f.add("a", size: 20, to: batch)
    let run = try f.startRun()
    let journal = try #require(f.ledger.sendingJournal())
    let chunk = try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      return try tx.beginChunks(id, run, limit: 1, isRepeatable: true)[0]
    }
    let entry = journal.entry(chunk.attempt)
    for length in 1...8 {
      entry.note(
        SentContent.Piece(range: ByteRange(offset: 0, length: Int64(length)), digest: Digest(crc32c: UInt32(length))))
    }
    journal.entry(AttemptID(rawValue: 99)).note(
      SentContent.Piece(range: ByteRange(offset: 0, length: 3), digest: Digest(crc64nvme: .max)))
    try f.restart()
    let next = try f.startRun()
    #expect(try f.ledger.recover(next).crashedAttempts == 1)
    let last = SentContent.Piece(range: ByteRange(offset: 0, length: 8), digest: Digest(crc32c: 8))
    #expect(try f.ledger.read { try $0.sentContent(of: id) }.pieces == [last])
    #expect(try f.texts("SELECT count(*) FROM sent_body") == ["1"])
    // A new journal is empty.
    let renewed = try #require(f.ledger.sendingJournal())
    withExtendedLifetime(renewed) {
      #expect(SendingJournal.read(SendingJournal.path(ofLedger: f.path)).isEmpty)
    }
    #expect(try f.findings() == [])
  }

  @Test func halfARecordIsNone() throws {
    let journal = try #require(f.ledger.sendingJournal())
    let entry = journal.entry(AttemptID(rawValue: 7))
    entry.note(SentContent.Piece(range: ByteRange(offset: 5, length: 3), digest: Digest(crc64nvme: 77)))
    let path = SendingJournal.path(ofLedger: f.path)
    #expect(SendingJournal.read(path).keys.map(\.rawValue) == [7])
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    #expect(pwrite(descriptor, [9], 1, 16) == 1)
    #expect(SendingJournal.read(path).isEmpty)
  }

  @Test func ofADoneFileAllHasToBeKnown() throws {
    let id = try done("a")
    var content = try f.ledger.read { try $0.sentContent(of: id) }
    #expect(content.acked == [ByteRange(offset: 0, length: 20)] && content.isCovered)
    content.pieces.removeFirst()
    #expect(!content.isCovered)
  }
}
