/// What is done about an answer.
struct ProfileRule: Sendable, Hashable {
  enum Action: String, Sendable, Hashable, CaseIterable {
    /// The step is done, as if it had succeeded.
    case ok
    case retry
    /// Like `retry`, when the server said.
    case retryAfter = "retry_after"
    /// Ask what the server has, then go on.
    case reprobe
    /// The server has this chunk already.
    case skipChunk = "skip_chunk"
    /// Go on where `set.offset` says.
    case setOffset = "set_offset"
    case restartSession = "restart_session"
    case refreshAuth = "refresh_auth"
    /// Run `prepare_chunk` again.
    case prepareAgain = "prepare_again"
    /// Make the folders on the way with `make_parent`, then the same again.
    case makeParents = "make_parents"
    /// Send smaller chunks in a new session.
    case shrinkChunk = "shrink_chunk"
    case fail
  }

  var condition: Condition
  var action: Action
  var offset: Extraction?
  /// How often, for one chunk or step; then the next rule that matches is taken.
  var most: Int?
  /// Milliseconds to wait before.
  var delayMs: Int64?
  var note: String
}
