import TransferLedger
import TransferModel
import TransferProtocols

extension AttemptResult {
  /// How many bytes of an error answer are kept.
  static let excerptLimit = 4 << 10

  /// What is recorded of an attempt that ended with `meaning`.
  init(_ meaning: Interpretation, _ reply: TransferReply?, _ retry: RetryDecision, wallMs: Int64) {
    self.init(outcome: .ok)
    if let reply { fill(from: reply) }
    if case .notYet = meaning.outcome { outcome = .retry }
    guard case .failed(let failure, let remedy) = meaning.outcome else { return }
    outcome = FileMachine.outcome(failure, remedy, retry)
    code = failure.code
    message = failure.message
    systemError = failure.systemError ?? systemError
    retryAfterMs = failure.retryAfterMs
    if outcome == .retry && remedy.isRetry { backoffMs = max(0, retry.notBeforeMs - wallMs) }
    if remedy == .probe { mayHaveArrived = true }
    if let reply, !reply.body.isEmpty { replyExcerpt = Array(reply.body.prefix(Self.excerptLimit)) }
  }

  /// The figures of the transport.
  mutating func fill(from reply: TransferReply) {
    httpStatus = reply.status == 0 ? nil : reply.status
    curlCode = reply.curlCode == 0 ? nil : reply.curlCode
    systemError = reply.systemError == 0 ? nil : reply.systemError
    bytesTransferred = reply.bytesMoved
    timing = reply.timing
    remoteIP = reply.remoteIP
    httpVersion = reply.httpVersion
    requestID = reply.serverRequestID
    // With an answer nothing is in doubt.
    mayHaveArrived = !reply.isAnswered && reply.requestMayHaveArrived
  }
}
