import TransferModel
import TransferProtocols

extension HostGate.Outcome {
  /// The outcome for the host of a reply that was interpreted as `meaning`. `wallMs` is our clock, in milliseconds
  /// since 1970 UTC.
  init(_ reply: TransferReply, _ meaning: Interpretation, wallMs: Int64) {
    if case .failed(let failure, .elsewhere) = meaning.outcome, failure.code != .httpRedirect {
      // The file continues at another place. Files that need this place detect its state themselves.
      self = .interrupted
    } else if reply.bodyFailure != nil || reply.transportFailure?.code == .localFDLimit {
      // The fault is on this machine.
      self = .interrupted
    } else if reply.proxyRefusal != nil {
      // The proxy is reachable, and nothing is known about the host.
      self = .failure
    } else if !reply.isAnswered && !reply.requestMayHaveArrived {
      self = .noConnection
    } else if reply.bytesReceived > 0, let failure = reply.answerFailure, !reply.isCancelled {
      self = failure.code.category == .network ? .lost : .failure
    } else if case .failed(let failure, let action) = meaning.outcome {
      self.init(reply, failure, action)
    } else if let tolerated = meaning.tolerated {
      switch tolerated {
      case .answer: self = .success
      case .failure(let failure, let isThrottled): self.init(reply, failure, .retry(isThrottled: isThrottled))
      }
    } else if !reply.isAnswered {
      self.init(lost: reply.transportFailure)
    } else if case .notYet = meaning.outcome {
      // The server is still processing, whichever status its protocol has for that.
      self = .success
    } else if StatusClass(reply.status) == .throttled {
      // The file does not depend on this answer; the host asks for fewer requests all the same.
      self = .throttled(retryAfterMs: RetryAfter.milliseconds(reply.fields, wallMs: wallMs))
    } else {
      self = .success
    }
  }

  private init(_ reply: TransferReply, _ failure: Failure, _ action: FailureAction) {
    if case .retry(isThrottled: true) = action {
      self = .throttled(retryAfterMs: failure.retryAfterMs)
    } else if !reply.isAnswered {
      self.init(lost: failure)
    } else if reply.answerFailure?.code.category == .network, failure.code.category == .network {
      // Its header arrived, and nothing of its body that could be used.
      self = .lost
    } else {
      self = reply.status >= 500 ? .failure : .success
    }
  }

  private init(lost failure: Failure?) { self = failure?.code.category == .network ? .lost : .failure }
}
