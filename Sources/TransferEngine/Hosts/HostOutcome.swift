import TransferModel
import TransferProtocols

extension HostGate.Outcome {
  /// The outcome for the host of a reply that was interpreted as `meaning`.
  init(_ reply: TransferReply, _ meaning: Interpretation) {
    if case .failed(let failure, .elsewhere) = meaning.outcome, failure.code != .httpRedirect {
      // The file continues at another place. Files that need this place detect its state themselves.
      self = .interrupted
    } else if reply.bodyFailure != nil {
      self = .interrupted
    } else if !reply.isAnswered && !reply.requestMayHaveArrived {
      self = .noConnection
    } else if reply.bytesReceived > 0, let failure = reply.answerFailure, !reply.isCancelled {
      self = failure.code.blame == .network ? .lost : .failure
    } else if case .failed(let failure, let remedy) = meaning.outcome {
      self.init(reply, failure, remedy)
    } else if reply.status == 429 || reply.status == 503 {
      // The file does not depend on this answer, or the query is repeated later; the host asks for fewer requests.
      let afterMs: Int64? = if case .notYet(let afterMs) = meaning.outcome { afterMs } else { nil }
      self = .throttled(retryAfterMs: afterMs)
    } else {
      self = .success
    }
  }

  private init(_ reply: TransferReply, _ failure: Failure, _ remedy: Remedy) {
    if case .retry(isThrottled: true) = remedy {
      self = .throttled(retryAfterMs: failure.retryAfterMs)
    } else if reply.isAnswered {
      self = reply.status >= 500 ? .failure : .success
    } else {
      self = failure.code.blame == .network ? .lost : .failure
    }
  }
}
