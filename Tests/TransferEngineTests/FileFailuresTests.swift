import Testing
import TransferModel

@testable import TransferEngine

@Suite struct FileFailuresTests {
  @Test func repairsCountAsAFailureAfterTheLimit() {
    var failures = FileFailures(0)
    let allowed = (0...FileFailures.repairLimit).map { _ in failures.mayRepair() }
    #expect(allowed == Array(repeating: true, count: FileFailures.repairLimit) + [false])
    failures.endRepairs()
    let isAllowed = failures.mayRepair()
    #expect(isAllowed, "the server has stored something meanwhile")
  }

  @Test func aDroppedSessionWaitsLongerEachTimeAndFailsInTheEnd() {
    let delays = [0, 1, 2, 5, 6, 9, 10].map { FileFailures($0).delayAfterDropMs }
    #expect(delays == [0, 2_000, 4_000, 32_000, 64_000, 64_000, nil])
    var failures = FileFailures(10)
    failures.forgive()
    #expect(failures.count == 0 && failures.delayAfterDropMs == 0)
  }

  /// The row of a file is `finishing` from its last step until it sends again, whatever happens to its phase meanwhile.
  @Test func aFinishingFileStaysSoUntilItSendsAgain() {
    let ending = FileEnding.release(notBeforeMs: nil, nil, isFailure: false)
    #expect(FilePhase.finishing.ending(ending) == .ending(ending, isFinishing: true))
    let placing = FilePhase.finishing.held(.placing)
    #expect(placing.isFinishing && placing.unheld == .finishing)
    #expect(placing.ending(ending).unheld == .ending(ending, isFinishing: true))
    #expect(FilePhase.finishing.resumed == .working)
    #expect(FilePhase.finishing.ending(ending).resumed == .ending(ending, isFinishing: false))
    for phase in [FilePhase.working, .released, .held(.reusing, nil), .ending(ending, isFinishing: false)] {
      #expect(!phase.isFinishing && phase.resumed == phase)
    }
  }
}
