import TransferModel

/// The queries about one finishing request: when the next is due, and the state of the current one. A value; times are
/// milliseconds of the boot clock.
struct Inquiry: Sendable {
  private var dueMs: Int64
  /// Doubled with each query.
  private var intervalMs: Int64
  private var isAsking = false
  /// The current query, once it is begun.
  private(set) var question: PendingRequest.ID?
  /// The answer that arrived while the query was running.
  private(set) var held: TransferReply?
  /// The query found the file.
  private(set) var isFound = false

  /// The request was sent.
  init(everyMs: Int64, nowMs: Int64) { (dueMs, intervalMs) = (nowMs + everyMs, everyMs) }

  func isDue(nowMs: Int64) -> Bool { nowMs >= dueMs && !isAsking && held == nil && !isFound }

  /// A query was requested from the ledger.
  mutating func ask() { isAsking = true }

  /// The query is durable.
  mutating func begin(_ question: PendingRequest.ID) { self.question = question }

  /// Whether the reply has to wait: it may release the file, and no attempt may be open then.
  mutating func holds(_ reply: TransferReply) -> Bool {
    guard isAsking else { return false }
    held = reply
    return true
  }

  /// The query was answered, or failed. Returns the reply that waited for it.
  mutating func end(isFound: Bool, nowMs: Int64) -> TransferReply? {
    defer { (isAsking, question, held) = (false, nil, nil) }
    self.isFound = isFound
    intervalMs *= 2
    dueMs = nowMs + intervalMs
    return held
  }
}
