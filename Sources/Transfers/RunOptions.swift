import TransferEngine
/// How a run of the engine is to work.
public struct RunOptions: Sendable {
  public var storePath: String
  /// Connections at a time; nil for the default.
  public var workers: Int?
  /// Bytes a second; nil for no limit.
  public var rate: Int64?
  /// The command line, for the record; the caller has taken secrets out.
  public var argv: [String]

  public init(storePath: String, workers: Int? = nil, rate: Int64? = nil, argv: [String]) {
    self.storePath = storePath
    self.workers = workers
    self.rate = rate
    self.argv = argv
  }
}

/// Tells a running engine to stop; from any thread, any number of times.
public final class StopSignal: Sendable {
  let inner = TransferEngine.StopSignal()

  public init() {}

  /// Finishes what runs, begins nothing new.
  public func drain() { inner.drain() }
  /// Ends what runs; nothing is lost.
  public func stopNow() { inner.stopNow() }
}

/// Why a run ended before everything was done.
public enum StopCause: String, Sendable, Codable {
  /// Asked to stop; what ran was finished.
  case drained
  /// Asked to stop at once.
  case interrupted
  /// Every destination refuses connections.
  case unreachable
  /// What is left is not due for a long time.
  case notDue = "not_due"
  /// What is left was paused by people.
  case paused
}

/// How a run ended. Counts are files unless they say otherwise.
public struct RunResult: Sendable, Hashable {
  public var done = 0
  public var failed = 0
  public var unknown = 0
  /// Of the failed: the server's content differs from the source.
  public var mismatched = 0
  /// Can still be done: pending, waiting, paused.
  public var left = 0
  /// Of those left: paused by people.
  public var paused = 0
  public var bytesAcked: Int64 = 0
  /// Body bytes of all attempts, repeats included.
  public var bytesSent: Int64 = 0
  /// Attempts that were repeated.
  public var retries = 0
  public var wallMs: Int64 = 0
  public var stoppedBy: StopCause?

  public init() {}
}

/// Where a run stands.
public struct ProgressSnapshot: Sendable, Hashable {
  public var filesTotal = 0
  public var filesDone = 0
  public var filesFailed = 0
  /// Files in work.
  public var active = 0
  public var bytesTotal: Int64 = 0
  public var bytesAcked: Int64 = 0
  /// Sent and not acknowledged yet.
  public var bytesInFlight: Int64 = 0
  /// Requests that wait for their backoff.
  public var retrying = 0
  public var elapsedMs: Int64 = 0

  public init() {}

  public init(
    filesTotal: Int, filesDone: Int, filesFailed: Int, active: Int, bytesTotal: Int64, bytesAcked: Int64,
    bytesInFlight: Int64, retrying: Int, elapsedMs: Int64
  ) {
    self.filesTotal = filesTotal
    self.filesDone = filesDone
    self.filesFailed = filesFailed
    self.active = active
    self.bytesTotal = bytesTotal
    self.bytesAcked = bytesAcked
    self.bytesInFlight = bytesInFlight
    self.retrying = retrying
    self.elapsedMs = elapsedMs
  }
}
