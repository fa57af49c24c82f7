import Testing
import TransferModel

@testable import TransferEngine

@Suite struct RetriesTests {
  private let lost = Failure(.netRefused, "connection refused")
  private let changed = Failure(.sourceChanged, "the source changed")
  private let file = FileID(rawValue: 1)

  @Test func theLastOfTheAttemptsIsExhausted() {
    var retries = Retries(RetryPolicy(maxAttempts: 3))
    #expect(!decide(&retries, lost, number: 2).isExhausted)
    #expect(decide(&retries, lost, number: 3).isExhausted)
  }

  /// On a line that drops, a body may be lost three times as often, and waits only as long as after a first failure.
  @Test func bodiesThatAreLostBesideOthersGetMorePatienceAndShorterWaits() {
    var retries = Retries(RetryPolicy(baseMs: 100, capMs: 1_000_000, maxAttempts: 3))
    let drop = Retries.Drop(lossesInARow: 1, wasUnderWay: true)
    for number in 3..<9 {
      let decision = decide(&retries, lost, number: number, drop: drop)
      #expect(!decision.isExhausted)
      #expect(decision.notBeforeMs <= 1_100)
    }
    #expect(decide(&retries, lost, number: 9, drop: drop).isExhausted)
  }

  /// A short body counts as sent as soon as the buffers of this machine have it: whether it was lost on its way, or
  /// only its answer, is known only where the server is asked before it is sent again.
  @Test func aShortBodyWasCutOffIfItsRepetitionIsKnownToBeNecessary() {
    var reply = TransferReply()
    (reply.curlCode, reply.requestMayHaveArrived) = (56, true)
    reply.bytesSent = 40_000
    #expect(reply.isBodyCutOff(isQueried: true) && !reply.isBodyCutOff(isQueried: false))
    reply.bytesSent = TransferReply.longestBuffered + 1
    #expect(!reply.isBodyCutOff(isQueried: true))
    reply.isBodyIncomplete = true
    #expect(reply.isBodyCutOff(isQueried: false))
    (reply.bytesSent, reply.isBodyIncomplete) = (0, false)
    #expect(!reply.isBodyCutOff(isQueried: true))
    reply.bytesReceived = 5
    #expect(reply.isBodyCutOff(isQueried: false))
  }

  /// Nothing arrived between the losses: the waits grow with their number, however much of each body moved.
  @Test func lossesInARowWaitLonger() {
    var retries = Retries(RetryPolicy(baseMs: 100, capMs: 1_000_000, maxAttempts: 3))
    let drop = Retries.Drop(lossesInARow: 5, wasUnderWay: true)
    let waits = (0..<200).map { _ in decide(&retries, lost, number: 5, drop: drop).notBeforeMs }
    #expect(waits.max().map { $0 > 1_400 } == true, "\(waits.max() ?? 0)")
  }

  @Test func theBudgetOfTheHostAddsToTheBackoff() {
    var retries = Retries(RetryPolicy(baseMs: 100))
    #expect(decide(&retries, lost, number: 1, budgetMs: 15_000).notBeforeMs >= 16_000)
  }

  /// The count follows the file through its generations, and does not affect other files.
  @Test func aSourceThatChangesAgainAndAgainIsGivenUp() {
    var retries = Retries(.standard)
    #expect(decide(&retries, changed, number: 1).notBeforeMs == 2_000)
    for generation in 1...3 {
      retries.superseded(FileID(rawValue: Int64(generation)), by: FileID(rawValue: Int64(generation + 1)))
      let decision = decide(&retries, changed, of: FileID(rawValue: Int64(generation + 1)), number: 1)
      #expect(decision.notBeforeMs == 1_000 + 1_000 << Int64(generation))
      #expect(decision.isRestless == (generation == 3))
    }
    #expect(!decide(&retries, changed, number: 1).isRestless)
  }

  private func decide(
    _ retries: inout Retries, _ failure: Failure, of file: FileID? = nil, number: Int, drop: Retries.Drop? = nil,
    budgetMs: Int64 = 0
  ) -> RetryDecision {
    retries.decide(
      failure, isThrottled: false, of: file ?? self.file, number: number, drop: drop, budgetMs: budgetMs,
      nowMs: 1_000)
  }
}
