import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

@Suite struct QuestionTests {
  @Test func aSleepEndsOnlyWaitsForTheNetwork() {
    let host = QuestionHost(HostGate(Concurrency(first: 2, highest: 2, isExplicit: true)))
    let lost = failed(.netReset, at: host)
    let refused = failed(.http5xx, at: host)
    for question in [lost, refused] { host.add(question, nowMs: 0) }
    #expect(host.take(nowMs: 1_000) == nil)
    host.slept()
    #expect(host.take(nowMs: 1_000) === lost)
    #expect(host.take(nowMs: 1_000) == nil)
    #expect(host.waiting == 1)
  }

  /// A query that failed, and is to be repeated after at least 50 seconds.
  private func failed(_ code: ErrorCode, at host: QuestionHost) -> Question {
    let file = DoneUpload(
      id: FileID(rawValue: 1), batch: BatchID(rawValue: 1), uid: .make(wallMs: 0), path: NameBytes("/a"),
      key: NameBytes("a"), size: 1, mtimeNs: 0, proof: FileProof(confirmation: .size))
    let target = QuestionTarget(refused: TransferError(.auth, "read", cause: "x"), host)
    let question = Question(file, target)
    _ = question.failed(
      Failure(code, "x"), .retry(isThrottled: false), RetryPolicy(), budgetMs: 50_000, nowMs: 0)
    return question
  }
}
