import TransferModel
import Testing

@testable import TransferLedger

/// A copy of a ledger leaves to its original what that may still need, until a person trusts the copy.
@Suite struct CopiedRemovalTests {
  private let f: LedgerFixture
  private let file: FileID

  init() throws {
    f = try LedgerFixture()
    var settings = BatchSettings(destination: "put:one")
    settings.after = SourceRemoval(.delete, base: "/src")
    let batch = NewBatch(settings: settings, protocolName: "put", destination: "put:one")
    file = try f.add("a", to: try f.ledger.write { try $0.createBatch(batch) })
  }

  private func copied() throws -> Ledger {
    let target = f.folder + "/copy.db"
    _ = try Ledger.copy(f.path, as: .backup, to: target, replacing: false, isCancelled: { false })
    return try Ledger.open(at: target, mode: .existing, clock: f.clock)
  }

  private func start(_ ledger: Ledger) throws -> RunID {
    let run = try ledger.startRun(NewRun(argv: ["run"], version: "1", host: "h", bootID: "b", pid: 1))
    _ = try ledger.write { tx in try tx.recover(run) }
    return run
  }

  private func finish(_ ledger: Ledger, _ run: RunID) throws {
    try ledger.write { tx in
      let claimed = try tx.claimAndPlan(run)
      try tx.sendAll(claimed.id, run)
      #expect(try tx.completeFile(claimed.id, run, proof).isApplied)
    }
  }

  /// The source stays, and no run looks at it again, until the copy is trusted.
  private func expectHeld(_ copy: Ledger, _ run: RunID) throws {
    let due = try copy.read { try $0.dueRemovals(after: 0, limit: 9) }
    #expect(due.map(\.isOfOriginal) == [true] && due.allSatisfy { !$0.isWanted })
    let begun = try copy.write { [file] tx in
      let begun = try tx.beginRemovals([file])
      try tx.endRemovals([(file, .putOff(.engineCopied, "a copy"))], verb: LedgerTransaction.deletionVerb)
      return begun
    }
    #expect(begun.isEmpty)
    #expect(try copy.read { try $0.filesAwaitingDestination() } == file.rawValue...file.rawValue)
    _ = try copy.write { try $0.trustCopy(run) }
    #expect(try copy.read { try $0.filesAwaitingDestination() } == nil)
    let trusted = try copy.write { [file] tx in try tx.beginRemovals([file]) }
    #expect(trusted == [file])
    #expect(try copy.read { try $0.check() } == [])
  }

  @Test func theSourceOfAFileThatItFinishesStays() throws {
    let copy = try copied()
    defer { copy.close() }
    let run = try start(copy)
    try finish(copy, run)
    try expectHeld(copy, run)
  }

  /// Somebody may have told the original since to keep it.
  @Test func theSourceThatTheOriginalWasToRemoveStays() throws {
    let own = try f.startRun()
    try finish(f.ledger, own)
    _ = try f.ledger.write { try $0.endRun(own, how: "done") }
    let copy = try copied()
    defer { copy.close() }
    try expectHeld(copy, try start(copy))
  }

  /// A person decides about the file, and not about what its original does.
  @Test(arguments: [ControlVerb.cancel, .remove, .retry(startsOver: true), .resolve(.cancel, reason: "enough")])
  func theSessionOfAFileThatIsUnknownBecauseOfItIsKept(_ verb: ControlVerb) throws {
    let own = try f.startRun()
    try f.ledger.write { [file] tx in
      _ = try tx.claimFiles(own, limit: 1)
      _ = try tx.intendSession(file, own)
    }
    let copy = try copied()
    defer { copy.close() }
    let run = try start(copy)
    try copy.write { [file] tx in
      let claimed = try tx.claimFiles(run, limit: 1)
      #expect(claimed.map(\.isDoubtful) == [true])
      #expect(try tx.markUnknown(file, run, code: .engineCopied, message: "copied").isApplied)
      #expect(try tx.control(verb, RowFilter()).changed == [file])
      #expect(try tx.claimAborts(run, limit: 9).isEmpty)
      _ = try tx.trustCopy(run)
    }
    f.clock.advance(ms: 86_400_000)
    #expect(try copy.write { try $0.claimAborts(run, limit: 9) }.map(\.file) == [file])
    #expect(try copy.read { try $0.check() } == [])
  }

  /// It is sent once a person has decided, without asking again.
  @Test func whatIsDecidedIsNotInDoubtAgain() throws {
    let copy = try copied()
    defer { copy.close() }
    let run = try start(copy)
    try copy.write { [file] tx in
      _ = try tx.claimFiles(run, limit: 1)
      #expect(try tx.markUnknown(file, run, code: .engineCopied, message: "copied").isApplied)
      #expect(try tx.control(.retry(startsOver: false), RowFilter()).changed == [file])
    }
    #expect(try copy.read { try $0.doubtfulFiles() } == 0)
    #expect(try copy.write { try $0.claimFiles(run, limit: 1) }.map(\.isDoubtful) == [false])
  }
}
