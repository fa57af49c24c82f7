import TransferModel

/// Of a request that ends a file: when the server is asked about it while its answer is awaited, and how the asking
/// stands. A value; times are milliseconds of the boot clock.
struct Inquiry: Sendable {
  private var dueMs: Int64
  /// Doubled with each question.
  private var intervalMs: Int64
  private var isAsking = false
  /// The question, once it is begun.
  private(set) var question: Job.ID?
  /// The answer that came while the question ran.
  private(set) var held: TransferReply?
  /// The question found the file.
  private(set) var isFound = false

  /// The request went out.
  init(everyMs: Int64, nowMs: Int64) { (dueMs, intervalMs) = (nowMs + everyMs, everyMs) }

  func isDue(nowMs: Int64) -> Bool { nowMs >= dueMs && !isAsking && held == nil && !isFound }

  /// A question is asked of the ledger.
  mutating func ask() { isAsking = true }

  /// The question is durable.
  mutating func begin(_ question: Job.ID) { self.question = question }

  /// Whether the reply has to wait: the file may leave the engine with it, and no attempt may be open then.
  mutating func holds(_ reply: TransferReply) -> Bool {
    guard isAsking else { return false }
    held = reply
    return true
  }

  /// The question was answered, or came to nothing. Returns the reply that waited for it.
  mutating func end(isFound: Bool, nowMs: Int64) -> TransferReply? {
    defer { (isAsking, question, held) = (false, nil, nil) }
    self.isFound = isFound
    intervalMs *= 2
    dueMs = nowMs + intervalMs
    return held
  }
}
