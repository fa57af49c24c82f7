import Testing
import TransferModel

@testable import TransferEngine

@Suite struct FilePhaseTests {
  private let ending = FileEnding.release(notBeforeMs: nil, nil, isFailure: false)

  @Test func aHoldKeepsTheReasonToEnd() {
    let held = FilePhase.working.held(.disowning)
    #expect(held == .held(.disowning, nil) && held.ending == nil && held.unheld == .working)
    let both = held.ending(ending)
    #expect(both == .held(.disowning, ending) && both.ending == ending && both.unheld == .ending(ending))
    #expect(FilePhase.ending(ending).held(.parts) == .held(.parts, ending))
  }

  @Test func nothingHappensToAFileThatHasLeft() {
    #expect(FilePhase.released.ending(ending) == .released)
    #expect(FilePhase.released.held(.parts) == .released && FilePhase.released.unheld == .released)
    #expect(FilePhase.released.ending == nil)
  }

  @Test func chunksAreCountedFromTheirAskingToTheirEnd() {
    var requests = OpenRequests.none
    requests.ask(3)
    #expect(requests.count == 3 && requests.openChunks == 0)
    requests.began(2, ofAsked: 3)
    #expect(requests == .chunks(open: 2, asked: 0))
    requests.endChunk()
    #expect(requests.count == 1)
    requests = .control
    requests.began(0, ofAsked: 0)
    #expect(requests == .control && requests.count == 1 && requests.openChunks == 0)
  }
}
