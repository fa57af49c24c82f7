/// Why a run ended before everything was done.
public enum StopCause: String, Sendable, Codable {
  /// Asked to stop; what ran was finished.
  case drained
  /// Asked to stop at once.
  case interrupted
  /// The hosts of all that is left take no connections.
  case unreachable
  /// What is left is not due for a long time.
  case notDue = "not_due"
  /// What is left was paused by people.
  case paused
  /// The deadline of what is left has passed.
  case deadline
  /// The limit of the run was reached: its time, or its bytes.
  case limit
  /// What is left was still being written.
  case settling
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
  public var bytesTransferred: Int64 = 0
  /// Bytes of downloads that were here already and were not fetched.
  public var bytesReused: Int64 = 0
  /// Attempts that were repeated.
  public var retries = 0
  public var wallMs: Int64 = 0
  public var stoppedBy: StopCause?
  /// The hosts that took no connections, when that ended the run.
  public var unreachable: [String] = []
  /// Batches of which nothing could be sent, and why: no credentials (`.auth`), settings that cannot work (`.config`).
  public var blocked: [BatchID: TransferError] = [:]

  public init() {}
}
