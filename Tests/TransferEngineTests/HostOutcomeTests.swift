import HTTPTypes
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// What a reply says about its host.
@Suite struct HostOutcomeTests {
  private let failed = Interpretation.failed(Failure(.http5xx, "503"), .retry(isThrottled: false))

  @Test func anAnswerOfSuccessIsASuccess() {
    #expect(outcome(answer(200), .failed(Failure(.http4xx, "400"), .permanent)) == .success)
    #expect(outcome(answer(503), failed) == .failure)
  }

  @Test func throttlingCountsWhateverTheStatus() {
    var failure = Failure(.http429, "429")
    failure.retryAfterMs = 7_000
    let throttled = Interpretation.failed(failure, .retry(isThrottled: true))
    #expect(outcome(answer(200), throttled) == .throttled(retryAfterMs: 7_000))
  }

  /// The file does not depend on the answer; the host is busy all the same, for as long as it says.
  @Test(arguments: [429, 503, 509, 529]) func aBusyHostIsLeftAloneWhateverTheFileNeeds(_ status: Int) {
    var reply = answer(status)
    #expect(outcome(reply, .settled) == .throttled(retryAfterMs: nil))
    #expect(outcome(reply, .inconclusive) == .throttled(retryAfterMs: nil))
    reply.fields[.retryAfter] = "3600"
    #expect(outcome(reply, .inconclusive) == .throttled(retryAfterMs: 3_600_000))
  }

  /// An answer that makes the protocol wait says nothing about the health of its host.
  @Test func aServerThatIsStillProcessingIsNotBusy() {
    for status in [202, 404, 503] { #expect(outcome(answer(status), .notYet(afterMs: 7_000)) == .success) }
  }

  @Test func aToleratedFailureCountsForTheHostOnly() {
    let reset = Failure(.netReset, "reset")
    let busy = Failure(.http503, "503", retryAfterMs: 9_000)
    for meaning in [Interpretation.settled, .notYet(afterMs: 7_000)] {
      #expect(outcome(answer(503), meaning.with(tolerated: .answer)) == .success)
      let throttled = meaning.with(tolerated: .failure(busy, isThrottled: true))
      #expect(outcome(answer(503), throttled) == .throttled(retryAfterMs: 9_000))
      #expect(outcome(TransferReply(), meaning.with(tolerated: .failure(reset))) == .noConnection)
      var lost = TransferReply()
      (lost.requestMayHaveArrived, lost.curlCode) = (true, 56)
      #expect(outcome(lost, meaning.with(tolerated: .failure(reset))) == .lost)
      // Its header arrived, and a part of its body.
      lost.status = 200
      #expect(outcome(lost, meaning.with(tolerated: .failure(reset))) == .lost)
    }
  }

  /// A request without an answer never counts as a success, however the protocol interprets it.
  @Test func aLostAnswerIsNeverASuccess() {
    var lost = TransferReply()
    (lost.requestMayHaveArrived, lost.curlCode) = (true, 56)
    for meaning in [Interpretation.settled, .inconclusive, .absent, .notYet(afterMs: 7_000)] {
      #expect(outcome(lost, meaning) == .lost)
    }
  }

  /// The header of an answer arrived, and its connection was lost before the first byte of its content.
  @Test func anAnswerWithoutItsBodyIsALoss() {
    var reply = answer(206)
    (reply.curlCode, reply.isBodyTruncated) = (56, true)
    let failure = reply.answerFailure ?? Failure(.engineBug, "")
    #expect(outcome(reply, .failed(failure, .retry(isThrottled: false))) == .lost)
    // The error is what counts of an error answer.
    reply.status = 404
    #expect(outcome(reply, .failed(Failure(.http404, "404"), .permanent)) == .success)
  }

  @Test func withoutAnAnswerItDependsOnWhatWentOut() {
    let network = Interpretation.failed(Failure(.netReset, "reset"), .retry(isThrottled: false))
    var reply = TransferReply()
    reply.curlCode = 7
    #expect(outcome(reply, network) == .noConnection)
    reply.requestMayHaveArrived = true
    #expect(outcome(reply, network) == .lost)
    let source = Interpretation.failed(Failure(.sourceIO, "read error"), .permanent)
    #expect(outcome(reply, source) == .failure)
  }

  @Test func aBodyThatCouldNotBeReadSaysNothingAboutTheHost() {
    var reply = answer(200)
    reply.bodyFailure = Failure(.sourceIO, "read error")
    #expect(outcome(reply, failed) == .interrupted)
  }

  /// Bytes of a download arrived and were kept: the protocol reports that it advanced.
  @Test func aDownloadThatIsCutOffIsALoss() {
    var reply = answer(206)
    (reply.bytesReceived, reply.curlCode, reply.isBodyTruncated) = (10, 18, true)
    #expect(outcome(reply, .advanced(acked: 10)) == .lost)
    reply.isCancelled = true
    #expect(outcome(reply, .advanced(acked: 10)) == .success)
  }

  private func outcome(_ reply: TransferReply, _ meaning: Interpretation) -> HostGate.Outcome {
    HostGate.Outcome(reply, meaning, wallMs: 0)
  }

  private func answer(_ status: Int) -> TransferReply {
    var reply = TransferReply()
    reply.status = status
    reply.requestMayHaveArrived = true
    return reply
  }
}
