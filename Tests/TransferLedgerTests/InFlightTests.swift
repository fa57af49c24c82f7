import Glibc
import Testing
import TransferModel

@testable import TransferLedger

/// What an engine reports to other processes about the bytes in flight.
@Suite struct InFlightTests {
  private let f: LedgerFixture
  private let run: RunID
  private let file: FileID
  private let chunks: [ClaimedChunk]

  /// A file of 30 bytes in three chunks, of which two are being sent.
  init() throws {
    f = try LedgerFixture()
    let batch = try f.makeBatch()
    let id = try f.add("a", size: 30, to: batch)
    let run = try f.startRun()
    chunks = try f.ledger.write { tx in
      _ = try tx.claimAndPlan(run)
      return try tx.beginChunks(id, run, limit: 2, isRepeatable: true)
    }
    (file, self.run) = (id, run)
  }

  private func read() -> InFlightNote? { InFlightNote.read(ofLedger: f.path, bootMs: f.clock.bootMs) }

  private func seen(_ filter: RowFilter = RowFilter()) throws -> [FileID: Int64] {
    guard let note = read() else { return [:] }
    return try f.ledger.read { try $0.bodiesInFlight(note, filter) }.byFile.mapValues(\.bytes)
  }

  private func told(_ run: RunID? = nil) throws -> InFlightFile {
    let told = try #require(f.ledger.inFlightFile(run ?? self.run))
    let bytes = [chunks[0].attempt: Int64(4), chunks[1].attempt: 5, AttemptID(rawValue: 99): 7]
    told.note(bytes.mapValues { InFlight(bytes: $0, bytesPerSecond: 10 * $0) }, bootMs: f.clock.bootMs)
    return told
  }

  @Test func onlyOpenRequestsCount() throws {
    #expect(read() == nil)
    let told = try told()
    #expect(try seen() == [file: 9])
    let (run, chunk) = (run, chunks[0])
    try f.ledger.write { tx in
      _ = try tx.closeAttempt(chunk.attempt, run, acked(10))
      _ = try tx.storeChunk(chunk.id, chunk.attempt, part)
    }
    #expect(try seen() == [file: 5], "what is acknowledged is not in flight")
    let before = read()
    told.note([:], bootMs: f.clock.bootMs)
    #expect(try seen().isEmpty && read() != before)
    let after = read()
    told.note([:], bootMs: f.clock.bootMs)
    #expect(read() == after, "nothing is written while there is nothing to report")
  }

  @Test func theRatesOfAFileAreAdded() throws {
    let told = try told()
    let note = try #require(read())
    let bodies = try f.ledger.read { try $0.bodiesInFlight(note, RowFilter()) }
    #expect(bodies.byFile == [file: InFlight(bytes: 9, bytesPerSecond: 90)])
    #expect(bodies.allSatisfy { $0.startedMs == f.clock.wallMs }, "the row of the attempt says when it began")
    withExtendedLifetime(told) {}
  }

  @Test func onlySelectedFilesCount() throws {
    let told = try told()
    var filter = RowFilter()
    filter.states = [.paused]
    #expect(try seen(filter).isEmpty)
    filter.states = [.active]
    #expect(try seen(filter) == [file: 9])
    withExtendedLifetime(told) {}
  }

  @Test func anotherRunSaysNothingOfTheseRequests() throws {
    let told = try told(RunID(rawValue: 77))
    #expect(try seen().isEmpty)
    withExtendedLifetime(told) {}
  }

  @Test func anEngineThatIsSilentHasNothingInFlight() throws {
    let told = try told()
    f.clock.advance(ms: 5_000)
    #expect(try seen() == [file: 9])
    f.clock.advance(ms: 1)
    #expect(read() == nil)
    withExtendedLifetime(told) {}
  }

  @Test func aNoteInTheMiddleOfAChangeIsNone() throws {
    let told = try told()
    let whole = try fileBytes(f.path + ".inflight")
    for index in whole.indices {
      var torn = whole
      torn[index] ^= 1
      try replace(torn)
      #expect(read() == nil, "byte \(index)")
      try replace(Array(whole[..<index]))
      #expect(read() == nil, "\(index) bytes")
    }
    withExtendedLifetime(told) {}
  }

  private func replace(_ bytes: [UInt8]) throws {
    unlink(f.path + ".inflight")
    try writeBytes(bytes, to: f.path + ".inflight")
  }

  @Test func moreRequestsThanFitAreLeftOut() throws {
    let told = try #require(f.ledger.inFlightFile(run))
    let many = Dictionary(
      uniqueKeysWithValues: (0..<5_000).map { (AttemptID(rawValue: 1_000 + $0), InFlight(bytes: 1)) })
    told.note(many, bootMs: f.clock.bootMs)
    #expect(try #require(read()).bodies.count == 2_048)
    told.note([chunks[0].attempt: InFlight(bytes: 3)], bootMs: f.clock.bootMs)
    #expect(try seen() == [file: 3], "a short list replaces a long one")
  }
}
