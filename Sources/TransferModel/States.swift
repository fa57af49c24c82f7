/// The state of a file. The reason is the separate column `cause`.
public enum FileState: String, Sendable, CaseIterable, Codable {
  /// Seen once; becomes pending when a later check finds it unchanged. Next: pending, cancelled, superseded.
  case settling
  /// Waiting for an engine, or until `not_before`. Next: active, paused, cancelled, failed, superseded.
  case pending
  /// An engine works on it. Next: finishing, done (protocols without a finish step), pending, failed, unknown, paused,
  /// cancelled, superseded.
  case active
  /// Every chunk is stored; the finish step runs. Next: done, pending, active, failed, unknown, superseded, cancelled.
  case finishing
  /// The server confirmed all of it; a receipt says how. Terminal.
  case done
  /// Stopped by a person. Next: pending, cancelled.
  case paused
  /// Gave up. Next: pending (retry).
  case failed
  /// Cancelled by a person. Next: pending (retry).
  case cancelled
  /// The answer to a request that must not be repeated was lost. Next: pending (retry, by a person), done, cancelled.
  case unknown
  /// Replaced by a newer generation of the same source, or by another file that has delivered the same content; a
  /// listing is replaced by its files. Terminal.
  case superseded

  /// Ended, unless a person continues it.
  public var isAtRest: Bool {
    switch self {
    case .done, .failed, .cancelled, .unknown, .superseded: true
    case .settling, .pending, .active, .finishing, .paused: false
    }
  }
}

/// The state of a chunk.
package enum ChunkState: String, Sendable, CaseIterable, Codable {
  /// May be sent now.
  case pending
  /// Exactly one attempt is open for it.
  case inFlight = "in_flight"
  /// The server acknowledged it.
  case done
  /// Backing off until `not_before`.
  case waiting
  case failed
  case unknown
}

/// How a request ended.
package enum AttemptOutcome: String, Sendable, CaseIterable, Codable {
  case open
  case ok
  /// Failed; another attempt may succeed.
  case retry
  case fatal
  /// The answer was lost and the result cannot be queried.
  case unknown
  /// Stopped by us: drain, pause, cancel, shutdown. It does not count against the file.
  case interrupted
  /// The engine crashed while it was open; found by the next run.
  case crashed
}

/// The state of an upload session on a server.
package enum SessionState: String, Sendable, CaseIterable, Codable {
  /// The create request may be in flight; the server may or may not have created the session.
  case intended
  case open
  case completed
  case aborted
  /// The server no longer knows it, or cannot be told to abort it.
  case gone
}

/// What a request was for.
package enum AttemptOperation: String, Sendable, CaseIterable, Codable {
  case create, probe, prepare, part, finish, save, verify, abort, get
}

/// Requests that must precede the body of a chunk.
package struct ChunkOpening: Sendable, Hashable {
  /// `prepare`, while the server has nothing of the chunk.
  package var prepares: Bool
  /// `probe`, after a request for the chunk whose answer was lost.
  package var probesUncertain: Bool

  package init(prepares: Bool, probesUncertain: Bool) {
    self.prepares = prepares
    self.probesUncertain = probesUncertain
  }

  package static let none = ChunkOpening(prepares: false, probesUncertain: false)
}

/// How the server confirmed a done file; strongest first.
package enum Confirmation: String, Sendable, CaseIterable, Codable {
  /// The server reported a digest of the content that equals ours.
  case digest
  /// The server's ETag equals the MD5 that we computed.
  case etag
  /// The server reported the right size.
  case size
  /// The server answered with success, and nothing more.
  case none
}

extension FileState {
  /// Of files that an engine still has to finish.
  package static let left: [FileState] = [.settling, .pending, .active, .finishing, .paused]
}
