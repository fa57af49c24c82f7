import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger

/// Changes of one file that do not apply: only this file fails.
@Suite struct RefusedUnitsTests {
  /// A run with two files, whose requests are being sent.
  private func sending() throws -> RunFixture {
    let run = try RunFixture()
    try run.add("a", "b")
    run.settle()
    #expect(run.server.waiting == 2)
    return run
  }

  /// Adds a unit with this change of the first file to the next commit, beside an answer for the second one.
  private func commit(_ run: RunFixture, _ change: (AttemptID) -> FileChange) throws {
    let file = FileID(rawValue: 1)
    var unit = FileUnit(file: file, session: nil)
    unit.changes = [change(AttemptID(rawValue: 1))]
    run.loop.commits.append(unit)
    run.settle()
    if run.server.waiting > 0 { run.answer(201) }
  }

  private func expectOnlyTheFirstToFail(_ run: RunFixture, _ words: String) throws {
    #expect(try run.states() == ["failed engine.bug", "done"])
    #expect(!run.loop.stop.isStopping, "the run goes on")
    #expect(try run.loop.end.isReached())
    let message = try run.ledger.read { try $0.files(RowFilter(), after: 0, limit: 1)[0].message } ?? ""
    #expect(message.contains("the ledger refused a change") && message.contains(words), "\(message)")
  }

  /// The chunk is in flight: the list that the server gave is older.
  @Test func anAdoptionThatDoesNotApplyFailsItsFileOnly() throws {
    let run = try sending()
    let part = PartReceipt(seq: 0, length: 10, etag: "e", digest: nil, confirmation: .digest)
    try commit(run) { .adoptChunks($0, [part]) }
    try expectOnlyTheFirstToFail(run, "adopt chunk")
  }

  @Test func anyOtherTransitionThatDoesNotApplyDoesSoToo() throws {
    for (change, words) in [
      (FileChange.confirmChunks(AttemptID(rawValue: 1), .size, etag: ""), "confirm chunks"),
      (.resumeSending, "resume sending"), (.noteSession(["a": "b"]), "session"),
      (.openSession(remoteID: "u", expiresAtMs: nil), "session"),
    ] {
      let run = try sending()
      try commit(run) { _ in change }
      try expectOnlyTheFirstToFail(run, words)
    }
  }

  @Test func anEngineThatTookOverEndsTheRun() throws {
    let run = try sending()
    let id = run.engine.run
    try run.ledger.write { tx in _ = try tx.endRun(id, how: "crashed") }
    try commit(run) { .adoptChunks($0, [PartReceipt(seq: 0, length: 10, etag: "", digest: nil, confirmation: .none)]) }
    #expect(run.loop.stop.isStopping)
  }
}
