import TransferEngine
public import TransferLedger
public import TransferModel

/// How a run of the engine is to work.
public struct RunOptions: Sendable {
  public var storePath: String
  /// Connections at a time; nil for the default.
  public var workers: Int?
  /// Bytes a second; nil for no limit.
  public var rate: Int64?
  /// After a drain is asked for, requests that run are given so long, in milliseconds.
  public var drainMs: Int64
  /// While the ledger's disk is full or fails, results wait in memory for so long, in milliseconds.
  public var diskWaitMs: Int64 = 300_000
  /// Between two calls of `progress`, in milliseconds, at least.
  public var progressEveryMs: Int64
  /// Begins no file: only ends upload sessions at their servers that are marked for it.
  public var onlyEndsSessions = false
  /// A place in the queue for the ledger whose turn has come.
  public var turn: EngineTurn?
  /// Goes on with a copy of a ledger as with the ledger itself: its original sent nothing since.
  public var trustsCopy = false
  /// The command line, for the record; the caller has taken secrets out.
  public var argv: [String]

  public init(
    storePath: String, workers: Int? = nil, rate: Int64? = nil, drainMs: Int64 = 30_000,
    progressEveryMs: Int64 = 100, argv: [String]
  ) {
    self.storePath = storePath
    self.workers = workers
    self.rate = rate
    self.drainMs = drainMs
    self.progressEveryMs = max(1, progressEveryMs)
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
  /// Whether an engine works that can be stopped; before that nothing was begun, and the process may simply end.
  public var isHeard: Bool { inner.isHeard }
}

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
  /// The hosts that took no connections, when that ended the run.
  public var unreachable: [String] = []
  /// Batches of which nothing could be sent, and why: no credentials (`.auth`), settings that cannot work (`.config`).
  public var blocked: [BatchID: TransferError] = [:]

  public init() {}
}
