import TransferLedger
import TransferModel
import TransferProtocols

extension AttemptResult {
  /// Maximum number of bytes of an error answer that are kept.
  static let excerptLimit = 4 << 10

  /// The recorded result of an attempt that ended with `meaning`.
  init(_ meaning: Interpretation, _ reply: TransferReply?, _ retry: RetryDecision, wallMs: Int64) {
    self.init(outcome: .ok)
    if let reply { fill(from: reply) }
    if case .notYet = meaning.outcome { outcome = .retry }
    guard case .failed(let failure, let action) = meaning.outcome else { return }
    outcome = FailedAttempt.outcome(failure, action, retry)
    // Following a redirect is not an error, and neither is a duplicate that need not be sent.
    let isNone = action == .elsewhere && failure.code == .httpRedirect || failure.code == .policyDuplicate
    code = isNone ? nil : failure.code
    message = failure.message
    systemError = failure.systemError ?? systemError
    retryAfterMs = failure.retryAfterMs
    if outcome == .retry && action.isRetry { backoffMs = max(0, retry.notBeforeMs - wallMs) }
    if action == .probe { mayHaveArrived = true }
    if let reply, !reply.body.isEmpty { replyExcerpt = Array(reply.body.prefix(Self.excerptLimit)) }
  }

  /// The received part of its answer is kept.
  mutating func brokeOff(_ failure: Failure, _ reply: TransferReply?) {
    outcome = reply?.isCancelled == true ? .interrupted : .retry
    (code, message) = (failure.code, failure.message)
  }

  /// A part of the requested range is stored; the rest is requested again.
  private mutating func endedEarly(_ reply: TransferReply?) {
    let text = "the body ended after \(bytesTransferred) bytes"
    brokeOff(reply?.answerFailure ?? Failure(.netReset, text), reply)
  }

  /// Copies the values that the transport measured.
  mutating func fill(from reply: TransferReply) {
    httpStatus = reply.status == 0 ? nil : reply.status
    curlCode = reply.curlCode == 0 ? nil : reply.curlCode
    systemError = reply.systemError == 0 ? nil : reply.systemError
    bytesTransferred = reply.bytesMoved
    timing = reply.timing
    remoteIP = reply.remoteIP
    httpVersion = reply.httpVersion
    requestID = reply.serverRequestID
    // If there is an answer, the effect of the request is known.
    mayHaveArrived = !reply.isAnswered && reply.requestMayHaveArrived
  }

  /// Counts the bytes of the file that the request moved; `acked` bytes more are stored than before.
  mutating func count(
    _ acked: Int64, of step: BegunRequest, _ range: ByteRange?, _ meaning: Interpretation, _ reply: TransferReply?
  ) {
    guard let range else {
      bytesTransferred = 0
      return
    }
    // Without bytes that the server sent before the range, and those of pieces that were stored earlier. The first
    // answer of a download may bring more than was requested.
    let isFirst = if case .begun = meaning.outcome { true } else { false }
    let most = isFirst ? bytesTransferred : min(bytesTransferred, range.length)
    bytesAcked = max(0, min(acked, most))
    if case .pieceStored = meaning.outcome { bytesAcked = min(meaning.received ?? most, most) }
    if step.isFound { (bytesAcked, message) = (0, "not sent: the server's list of parts has it") }
    // The server stored less than was sent, or sent less than was requested: the rest is transferred again.
    if case .begun = meaning.outcome, let failure = reply?.answerFailure { brokeOff(failure, reply) }
    if case .pieceStored = meaning.outcome, meaning.received != nil { return endedEarly(reply) }
    guard case .advanced(let through) = meaning.outcome, acked < range.length else { return }
    outcome = reply?.isCancelled == true ? .interrupted : .retry
    if let failure = reply?.answerFailure { brokeOff(failure, reply) }
    if let failure = step.tinyProgress(to: through) {
      (code, message) = (failure.code, failure.message)
    }
  }
}
