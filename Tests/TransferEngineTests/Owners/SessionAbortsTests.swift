import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferLedger

/// Sessions of given-up files that are aborted on their servers.
@Suite struct SessionAbortsTests {
  /// Handles the events of a pass or of a result that is being recorded; no request may be running.
  private func finish(_ run: RunFixture) {
    while !run.loop.aborts.isQuiet { for event in run.loop.mailbox.take() ?? [] { run.loop.handle(event) } }
  }

  /// A run with sessions `u1`, `u2`, … to be aborted.
  private func run(sessions: Int64) throws -> RunFixture {
    let run = try RunFixture()
    let batch = try run.add("a")
    let works = (1...sessions).map { AbortWork(number: $0, remoteID: "u\($0)", batch: batch) }
    run.loop.aborts.handle(.claimed(.success(works)))
    return run
  }

  private func send(_ run: RunFixture) {
    run.loop.aborts.send(isStopping: false)
    run.handleArrived()
  }

  /// A server that refuses must not keep a run alive.
  @Test func aRunMakesFiveCountedPasses() throws {
    let run = try RunFixture()
    let aborts = run.loop.aborts
    aborts.beginPass(counts: false)
    #expect(!aborts.isQuiet)
    finish(run)
    for pass in 1...5 {
      #expect(aborts.hasPassesLeft, "before pass \(pass)")
      aborts.beginPass(counts: true)
      finish(run)
    }
    #expect(!aborts.hasPassesLeft && aborts.isIdle)
  }

  @Test func aPassThatFailsEndsTheRun() throws {
    let run = try RunFixture()
    let error = TransferError(.storeIO, "claim", cause: "I/O error")
    run.loop.aborts.handle(.claimed(.failure(error)))
    #expect(run.loop.stop.sequence.fatal == error)
  }

  @Test func aSessionIsAbortedOnItsServer() throws {
    let run = try run(sessions: 1)
    #expect(!run.loop.aborts.isIdle)
    send(run)
    #expect(run.server.received == ["http://one/uploads/u1"])
    run.server.answer(204)
    run.handleArrived()
    finish(run)
    #expect(run.loop.aborts.isIdle && run.loop.stop.sequence.fatal == nil)
  }

  @Test func fourAreAbortedAtATime() throws {
    let run = try run(sessions: 6)
    send(run)
    #expect(run.server.waiting == 4)
    run.server.answer(204)
    run.handleArrived()
    send(run)
    #expect(run.server.waiting == 4 && run.server.received.count == 5)
  }

  @Test func nothingIsSentOnceTheRunStops() throws {
    let run = try run(sessions: 3)
    run.loop.aborts.send(isStopping: true)
    finish(run)
    #expect(run.loop.aborts.isIdle && run.server.received.isEmpty)
  }

  @Test func aStopEndsRunningRequests() throws {
    let run = try run(sessions: 2)
    send(run)
    run.loop.aborts.cancel()
    run.handleArrived()
    finish(run)
    #expect(run.server.waiting == 0 && run.loop.aborts.isIdle)
  }
}

extension AbortWork {
  init(number: Int64, remoteID: String?, batch: BatchID) {
    self.init(
      session: SessionID(rawValue: number), attempt: AttemptID(rawValue: number), file: FileID(rawValue: number),
      uid: UID(high: 1, low: UInt64(number)), key: NameBytes("k\(number)"), size: 10, mtimeNs: 5_000_000, batch: batch,
      remoteID: remoteID, intendedAtMs: 6)
  }
}
