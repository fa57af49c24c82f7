import TransferModel
import Testing

@testable import TransferLedger

/// While a source is being deleted, and after a kill in the middle of that, its object may be the only copy.
@Suite struct OnlyCopyRowTests {
  private let f: LedgerFixture
  private let batch: BatchID
  private let a: FileID

  init() throws {
    f = try LedgerFixture()
    let run = try f.startRun()
    var settings = BatchSettings(destination: "put:one")
    settings.after = SourceRemoval(.delete, base: "/src")
    let new = NewBatch(settings: settings, protocolName: "put", destination: "put:one")
    let batch = try f.ledger.write { try $0.createBatch(new) }
    (self.batch, a) = (batch, try f.add("a", to: batch))
    try f.ledger.write { tx in
      let file = try tx.claimAndPlan(run)
      try tx.sendAll(file.id, run)
      #expect(try tx.completeFile(file.id, run, proof).isApplied)
    }
  }

  private func begin() throws {
    let begun = try f.ledger.write { [a] tx in try tx.beginRemovals([a]) }
    #expect(begun == [a])
  }

  private func end(_ end: RemovalEnd, afterKill: Bool = false) throws {
    try f.ledger.write { [a] tx in
      try tx.endRemovals([(a, end)], verb: LedgerTransaction.deletionVerb, uncertain: afterKill ? [a] : [])
    }
  }

  /// The state of the removal that keeps a file with another path from replacing the object; nil if it may.
  private func hindrance() throws -> RemovalState? {
    #expect(try f.findings() == [])
    return try f.ledger.read {
      try $0.onlyCopy(place: "put:one", path: NameBytes("/other/a"), key: NameBytes("a"))?.removal
    }
  }

  private static let putOff = RemovalEnd.putOff(.engineInterrupted, "the run was stopped")
  private static let kept = RemovalEnd.kept(.sourceChanged, "it has changed since it was sent")
  private static let failed = RemovalEnd.failed(.sourceDenied, "no")

  @Test func nothingReplacesItFromTheBeginningOfTheDeletionOn() throws {
    #expect(try hindrance() == nil)
    try begin()
    #expect(try hindrance() == .pending)
    var other = LedgerFixture.source("a", version: 2)
    other.path = NameBytes("/other/a")
    let admission = try f.ledger.write { [other, batch] in try $0.admit(other, to: batch) }
    #expect(admission == .onlyCopy(OnlyCopy(file: a, path: NameBytes("/src/a"), removal: .pending)))
    try end(.done)
    #expect(try hindrance() == .done)
  }

  @Test(arguments: [putOff, kept, failed]) func whatIsKnownToBeThereIsNoOnlyCopy(_ end: RemovalEnd) throws {
    try begin()
    try self.end(end)
    #expect(try hindrance() == nil)
  }

  /// The killed run may have deleted it, whatever the next one finds at its path.
  @Test(arguments: [putOff, kept, failed]) func aTryAfterAKillDoesNotTell(_ end: RemovalEnd) throws {
    try begin()
    try begin()
    try self.end(end, afterKill: true)
    #expect(try hindrance() != nil)
  }

  @Test func whatWentAfterAKillIsTheOnlyCopy() throws {
    try begin()
    try end(.gone("it was gone after an interrupted attempt"), afterKill: true)
    #expect(try hindrance() == .done)
  }

  /// Revoking the removal brings back nothing that the killed run deleted.
  @Test func aRevocationAfterAKillDoesNotTell() throws {
    try begin()
    _ = try f.ledger.control(.cancel, RowFilter())
    #expect(try hindrance() == .skipped)
    _ = try f.ledger.control(.clean(failed: true), RowFilter())
    #expect(try hindrance() == .skipped)
    #expect(try f.ledger.control(.remove, .files([a])).changed == [a])
    #expect(try hindrance() == nil)
  }

  /// The engine that was deleting it goes on, and its end counts.
  @Test(arguments: [(RemovalEnd.done, RemovalState?.some(.done)), (kept, nil), (putOff, nil)])
  func theEndOfARevokedDeletionTells(_ end: RemovalEnd, _ hindrance: RemovalState?) throws {
    try begin()
    _ = try f.ledger.control(.cancel, RowFilter())
    try self.end(end)
    #expect(try self.hindrance() == hindrance)
  }

  /// A person who hides a file while its source is being deleted wants to keep the source, and does not know yet that
  /// it is gone.
  @Test func whatIsBeingDeletedIsGivenUpByASecondVerbOnly() throws {
    try begin()
    _ = try f.ledger.control(.remove, RowFilter())
    try end(.done)
    #expect(try hindrance() == .done)
    #expect(try f.ledger.control(.remove, .files([a])).changed == [a])
    #expect(try hindrance() == nil)
    #expect(try f.ledger.control(.remove, .files([a])).changed == [])
  }

  @Test func itIsSetOnlyBeforeTheDeletion() throws {
    #expect(throws: (any Error).self) { try f.shell("UPDATE removal SET only_copy = 1") }
    try begin()
    try end(Self.kept)
    #expect(throws: (any Error).self) { try f.shell("UPDATE removal SET only_copy = 1") }
  }
}
