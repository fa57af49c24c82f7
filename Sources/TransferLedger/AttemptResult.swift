public import TransferModel

/// The data that is recorded when an attempt ends.
public struct AttemptResult: Sendable {
  package var outcome: AttemptOutcome
  public var code: ErrorCode?
  /// One line, secrets masked; nil on success.
  public var message: String?
  public var httpStatus: Int?
  public var curlCode: Int32?
  public var systemError: Int32?
  /// Bytes of the file handed to the system; the bodies of control requests do not count.
  public var bytesTransferred: Int64
  /// Body bytes that the answer acknowledged.
  public var bytesAcked: Int64
  package var timing: TransferReply.Timing
  public var remoteIP: String
  public var httpVersion: String
  public var requestID: String
  public var retryAfterMs: Int64?
  /// The backoff before the next attempt.
  public var backoffMs: Int64?
  /// First 4 KiB of an error answer, secrets masked.
  public var replyExcerpt: [UInt8]?
  /// The request may have reached the server.
  public var mayHaveArrived: Bool
  /// What the request read from the file; nil if that is recorded with its chunk.
  public var sent: SentContent.Piece?
  /// Host and port of the mirror that it was sent to; nil if it was sent to the server of its destination.
  public var mirror: String?
  /// When it ended; nil for now.
  var endedMs: Int64?

  package init(outcome: AttemptOutcome, code: ErrorCode? = nil, message: String? = nil) {
    self.outcome = outcome
    self.code = code
    self.message = message
    httpStatus = nil
    curlCode = nil
    systemError = nil
    bytesTransferred = 0
    bytesAcked = 0
    timing = TransferReply.Timing()
    remoteIP = ""
    httpVersion = ""
    requestID = ""
    retryAfterMs = nil
    backoffMs = nil
    replyExcerpt = nil
    mayHaveArrived = false
  }
}

/// Whether a named transition changed its row.
public enum TransitionResult: Sendable, Hashable {
  case applied
  /// The row was not in a state from which the transition starts; holds its state, `nil` if there is no such row or it
  /// belongs to another run.
  case lost(to: String?)

  public var isApplied: Bool { self == .applied }
}
