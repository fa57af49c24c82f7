/// The reaction to an answer.
struct ProfileRule: Sendable, Hashable {
  enum Action: String, Sendable, Hashable, CaseIterable {
    /// The step counts as successful.
    case ok
    case retry
    /// Like `retry`, at the time that the server specified.
    case retryAfter = "retry_after"
    /// Query what the server has, then continue.
    case reprobe
    /// The server already has this chunk.
    case skipChunk = "skip_chunk"
    /// Continue at the offset in `set.offset`.
    case setOffset = "set_offset"
    case restartSession = "restart_session"
    case refreshAuth = "refresh_auth"
    /// Run `prepare_chunk` again.
    case prepareAgain = "prepare_again"
    /// Create the parent folders with `make_parent`, then repeat the step.
    case makeParents = "make_parents"
    /// Send smaller chunks in a new session.
    case shrinkChunk = "shrink_chunk"
    case fail
  }

  var condition: Condition
  var action: Action
  var offset: Extraction?
  /// How often it is applied, for one chunk or step; then the next matching rule is used.
  var most: Int?
  /// Milliseconds to wait before the next attempt.
  var delayMs: Int64?
  var note: String
}
