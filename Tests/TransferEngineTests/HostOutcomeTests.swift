import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

/// What a reply says about its host.
@Suite struct HostOutcomeTests {
  private let failed = Interpretation.failed(Failure(.http5xx, "503"), .retry(isThrottled: false))

  @Test func anAnswerOfSuccessIsASuccess() {
    #expect(HostGate.Outcome(answer(200), .failed(Failure(.http4xx, "400"), .permanent)) == .success)
    #expect(HostGate.Outcome(answer(503), failed) == .failure)
  }

  @Test func throttlingCountsWhateverTheStatus() {
    var failure = Failure(.http429, "429")
    failure.retryAfterMs = 7_000
    let throttled = Interpretation.failed(failure, .retry(isThrottled: true))
    #expect(HostGate.Outcome(answer(200), throttled) == .throttled(retryAfterMs: 7_000))
  }

  /// The file can do without the answer; the host is busy all the same.
  @Test func aBusyHostIsLeftAloneWhateverTheFileNeeds() {
    #expect(HostGate.Outcome(answer(429), .notYet(afterMs: 7_000)) == .throttled(retryAfterMs: 7_000))
    #expect(HostGate.Outcome(answer(503), .settled) == .throttled(retryAfterMs: nil))
    #expect(HostGate.Outcome(answer(202), .notYet(afterMs: 7_000)) == .success)
  }

  @Test func withoutAnAnswerItDependsOnWhatWentOut() {
    let network = Interpretation.failed(Failure(.netReset, "reset"), .retry(isThrottled: false))
    var reply = TransferReply()
    reply.curlCode = 7
    #expect(HostGate.Outcome(reply, network) == .noConnection)
    reply.requestMayHaveArrived = true
    #expect(HostGate.Outcome(reply, network) == .lost)
    let source = Interpretation.failed(Failure(.sourceIO, "read error"), .permanent)
    #expect(HostGate.Outcome(reply, source) == .failure)
  }

  @Test func aBodyThatCouldNotBeReadSaysNothingAboutTheHost() {
    var reply = answer(200)
    reply.bodyFailure = Failure(.sourceIO, "read error")
    #expect(HostGate.Outcome(reply, failed) == .interrupted)
  }

  /// Bytes of a download arrived and were kept: the protocol reports that it advanced.
  @Test func aDownloadThatIsCutOffIsALoss() {
    var reply = answer(206)
    (reply.bytesReceived, reply.curlCode, reply.isBodyTruncated) = (10, 18, true)
    #expect(HostGate.Outcome(reply, .advanced(acked: 10)) == .lost)
    reply.isCancelled = true
    #expect(HostGate.Outcome(reply, .advanced(acked: 10)) == .success)
  }

  private func answer(_ status: Int) -> TransferReply {
    var reply = TransferReply()
    reply.status = status
    reply.requestMayHaveArrived = true
    return reply
  }
}
