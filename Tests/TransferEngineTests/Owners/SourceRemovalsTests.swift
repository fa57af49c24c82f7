import Testing
import TransferModel

@testable import TransferEngine
@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Sources of done files are removed once, and what could not be removed is not tried again in the same run.
@Suite struct SourceRemovalsTests {
  private let told = Lock<[Notice]>([])

  private func removals(_ run: RunFixture) -> SourceRemovals {
    SourceRemovals(ledger: run.ledger, notice: { [told] notice in told.withLock { $0.append(notice) } }, stop: .never)
  }

  /// A run that has sent `a`, whose size the server confirmed; the source is to be deleted.
  private func sent(_ proof: SourceRemoval.Proof) throws -> RunFixture {
    let run = try RunFixture()
    let base = "\(run.folder.path)"
    try run.add("a") { $0.after = SourceRemoval(.delete, proof: proof, base: base) }
    run.settle()
    run.answer(201)
    #expect(try run.states() == ["done"])
    return run
  }

  private func exists(_ run: RunFixture) -> Bool { run.folder.withPath("/a") { access($0, F_OK) } == 0 }

  private var skipped: [String] {
    told.withLock { $0.compactMap { if case .skipped(_, let reason) = $0 { reason } else { nil } } }
  }

  @Test func aSentSourceIsDeletedOnce() throws {
    let run = try sent(.size)
    var left = SourceRemovals.Left()
    #expect(exists(run))
    #expect(try removals(run).pass(&left) == 1)
    #expect(!exists(run))
    #expect(try removals(run).pass(&left) == 0)
    #expect(left.failed.isEmpty && left.putOff.isEmpty && skipped.isEmpty)
  }

  @Test func aSourceWithoutTheRequiredProofIsKeptAndReported() throws {
    let run = try sent(.digest)
    var left = SourceRemovals.Left()
    #expect(try removals(run).pass(&left) == 0)
    #expect(exists(run))
    #expect(skipped.count == 1 && skipped.allSatisfy { $0.hasPrefix("the source was sent and kept: ") })
  }

  @Test func whatEarlierPassesHaveLeftIsNotTriedAgain() throws {
    let run = try sent(.size)
    var left = SourceRemovals.Left(failed: [FileID(rawValue: 1)])
    #expect(try removals(run).pass(&left) == 0)
    left = SourceRemovals.Left(putOff: [FileID(rawValue: 1)])
    #expect(try removals(run).pass(&left) == 0)
    #expect(exists(run))
  }

  @Test func aSourceOfAFileThatIsNotDoneStays() throws {
    let run = try RunFixture()
    let base = "\(run.folder.path)"
    try run.add("a") { $0.after = SourceRemoval(.delete, proof: .any, base: base) }
    run.settle()
    var left = SourceRemovals.Left()
    #expect(try removals(run).pass(&left) == 0)
    run.answer(403)
    #expect(try removals(run).pass(&left) == 0)
    #expect(exists(run))
  }
}
