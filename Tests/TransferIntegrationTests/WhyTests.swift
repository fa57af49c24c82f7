import Testing
import TransferLedger
import TransferModel
import TransferReports

@testable import Transfers

/// Where the time of a real upload went, with a receiver that makes it wait.
@Suite struct WhyTests {
  /// The receiver asks for five minutes; the engine does not stay for so long, and nobody starts one for an hour. Of
  /// that hour the wait is backoff, and the rest is due only to the missing engine.
  @Test func aWaitThatTheServerAskedForIsBackoff() throws {
    let scene = try ConformanceScene(
      ConformanceSubject.named("put"), size: 100_000, script: "match PUT * nth=1 : status=503 retry-after=300\n")
    try scene.add()
    try scene.run()
    scene.wait(hours: 1)
    try scene.run()
    #expect(try scene.states() == ["done"])
    let found = try why(scene, .file(FileID(rawValue: 1)))
    let (wall, parts) = (try #require(found.wallMs), found.result.parts)
    #expect(parts.totalMs == wall && wall >= 3_600_000)
    // The requested wait, and up to a tenth more.
    #expect(parts[.backoff] >= 300_000 && parts[.backoff] <= 330_000)
    #expect(parts[.down] >= 3_600_000 - 330_000 - 60_000 && found.cause == "down")
    #expect(found.tally.failures.map(\.code) == ["http.503"] && found.tally.failures.map(\.asked) == [1])
    #expect(found.tally.bodies == 1 && found.tally.bodyBytes == 100_000)
    for subject in [WhySubject.batch(BatchID(rawValue: 1)), .run(RunID(rawValue: 2))] {
      let other = try why(scene, subject)
      #expect(other.result.parts.totalMs == other.wallMs)
    }
    #expect(try why(scene, .batch(BatchID(rawValue: 1))).result.parts[.backoff] == parts[.backoff])
    #expect(try why(scene, .run(RunID(rawValue: 2))).result.parts[.backoff] == 0)
  }

  /// The transport reports when a body was sent and how long a rate delayed it: at least half a second for a body that
  /// the rate lets through in half a second.
  @Test func aRateOfOursIsThrottled() throws {
    let scene = try ConformanceScene(ConformanceSubject.named("put"), size: 1 << 20)
    try scene.add()
    try scene.withLedger { ledger in
      var change = BatchChange()
      change.rate = .to(2 << 20)
      _ = try ledger.changeBatches(RowFilter(), change)
    }
    try scene.run()
    #expect(try scene.states() == ["done"])
    let found = try why(scene, .file(FileID(rawValue: 1)))
    #expect(found.result.parts.totalMs == found.wallMs)
    #expect(found.result.parts[.throttled] >= 100 && found.limits.limit == .rate && found.limits.rateBps == 2 << 20)
  }

  /// A run whose process is gone looks as if it still ran, until another run finds it.
  @Test func aRunThatCrashedEndedWithItsLastSignOfLife() throws {
    let scene = try ConformanceScene(ConformanceSubject.named("put"), size: 10)
    try scene.add()
    let run = try scene.withLedger { ledger in
      try ledger.startRun(NewRun(argv: ["test"], version: "0", host: "here", bootID: "b", pid: 1))
    }
    #expect(try why(scene, .run(run)).isRunning)
    scene.wait(hours: 1)
    let found = try why(scene, .run(run))
    #expect(!found.isRunning && found.row.state == "crashed" && found.wallMs == 0)
    let file = try why(scene, .file(FileID(rawValue: 1)))
    #expect(file.isRunning && file.wallMs ?? 0 >= 3_600_000 && file.result.parts[.down] == file.wallMs)
  }

  private func why(_ scene: ConformanceScene, _ subject: WhySubject) throws -> WhyFigures {
    try #require(try scene.look { try StoreReader(reader: $0, path: "").why(subject, scene.clock) })
  }
}
