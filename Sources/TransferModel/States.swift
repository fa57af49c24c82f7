/// Where a file is. Why it is there is the separate column `cause`.
public enum FileState: String, Sendable, CaseIterable, Codable {
  /// Seen once; admitted when a later look finds it unchanged. Next: pending, cancelled, superseded.
  case settling
  /// Waiting for an engine, or (with `not_before`) for its time. Next: active, paused, cancelled, failed, superseded.
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
  /// A request that must not be repeated lost its answer. Next: pending (retry, by a person), done, cancelled.
  case unknown
  /// A newer generation of the same source took its place; of a listing, the files that it named. Terminal.
  case superseded

  /// Ended, until a person asks for more.
  public var isAtRest: Bool {
    switch self {
    case .done, .failed, .cancelled, .unknown, .superseded: true
    case .settling, .pending, .active, .finishing, .paused: false
    }
  }
}

/// Where a byte range of a file is.
public enum ChunkState: String, Sendable, CaseIterable, Codable {
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
public enum AttemptOutcome: String, Sendable, CaseIterable, Codable {
  case open
  case ok
  /// Failed in a way that another attempt may cure.
  case retry
  case fatal
  /// The answer was lost and the protocol has no way to ask.
  case unknown
  /// We stopped it: drain, pause, cancel, shutdown. Not the server's fault; it does not count against the file.
  case interrupted
  /// The engine died while it was open; found by the next one.
  case crashed
}

/// Where an upload session at a server is.
public enum SessionState: String, Sendable, CaseIterable, Codable {
  /// The create call may be on its way; the server may or may not know us.
  case intended
  case open
  case completed
  case aborted
  /// The server forgot it, or will not be told that it ended; what it keeps of it is its own affair.
  case gone
}

/// What a request was for.
public enum AttemptOperation: String, Sendable, CaseIterable, Codable {
  case create, probe, prepare, part, finish, save, verify, abort, get
}

/// What has to go ahead of the body of a chunk, as a request of its own.
public struct ChunkOpening: Sendable, Hashable {
  /// `prepare`, while nothing is known of the chunk at the server.
  public var prepares: Bool
  /// `probe`, after a request for the chunk whose answer was lost.
  public var probesUncertain: Bool

  public init(prepares: Bool, probesUncertain: Bool) {
    self.prepares = prepares
    self.probesUncertain = probesUncertain
  }

  public static let none = ChunkOpening(prepares: false, probesUncertain: false)
}

/// How a done file was proved to be at the server; strongest first.
public enum Confirmation: String, Sendable, CaseIterable, Codable {
  /// The server reported a digest of the content that equals ours.
  case digest
  /// The server's ETag equals the MD5 that we computed.
  case etag
  /// The server reported the right size.
  case size
  /// The server answered with success, and nothing more.
  case none
}
