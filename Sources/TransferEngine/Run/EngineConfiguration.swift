public import TransferModel
public import TransferProtocols

/// How an engine works. All of it may differ from run to run; what must not is stored with the batch.
public struct EngineConfiguration: Sendable {
  /// Connections at a time, over all destinations.
  public var workers: Int
  /// A host begins with few requests at a time, and gets more while that helps; else with `workers` at once.
  public var startsSlowly = false
  /// Chunks of one file at a time.
  public var chunksPerFile: Int
  /// Files with an upload session at a time.
  public var sessionsAtOnce: Int
  public var retry: RetryPolicy
  /// Where copies of sources are kept; nil when no file has one.
  public var copies: StagedCopies?
  /// False only ends sessions at servers; no file is begun.
  public var claimsFiles = true
  /// Bytes a second over all connections; nil for no limit.
  public var rate: Int64?
  /// Threads that open, check and digest sources.
  public var preparingThreads: Int
  /// After a drain is asked for, running requests may go on so long, in milliseconds.
  public var drainMs: Int64
  /// While the ledger's disk is full or fails, results are kept in memory and committed again for so long, in milliseconds.
  public var diskWaitMs: Int64
  /// When nothing can be done for longer than this, in milliseconds, the run ends with work left.
  public var patienceMs: Int64
  /// The run ends with work left when all that is left is for hosts that have refused connections through so many openings
  /// of their breakers.
  public var breakerOpensBeforeGivingUp: Int
  /// A request that ends a file and has no answer for so long, in milliseconds, is asked about while it is awaited, and again after
  /// twice as long.
  public var askAfterMs: Int64
  /// Between two reports of progress, in milliseconds.
  public var progressEveryMs: Int64

  public init(workers: Int = 16) {
    self.workers = workers
    chunksPerFile = max(1, min(8, workers))
    sessionsAtOnce = max(4, workers / 2)
    retry = .standard
    rate = nil
    preparingThreads = 1
    drainMs = 30_000
    diskWaitMs = 300_000
    patienceMs = 600_000
    breakerOpensBeforeGivingUp = 6
    askAfterMs = 60_000
    progressEveryMs = 100
  }

  /// Under a rate no more bodies run than end within seconds: what is cut off was not sent in vain then.
  var bytesAtOnce: Int64? {
    rate.map { $0.multipliedReportingOverflow(by: 10) }.map { $0.overflow ? .max : $0.partialValue }
  }

  /// As many connections as turn out to be worth while.
  public static var chosen: EngineConfiguration {
    var configuration = EngineConfiguration(workers: 64)
    configuration.startsSlowly = true
    configuration.sessionsAtOnce = 8
    return configuration
  }
}

/// A batch's destination, ready to be used by an engine.
public struct ResolvedDestination: Sendable {
  public var uploadProtocol: any UploadProtocol
  public var credentials: any CredentialSource
  public var transport: any Transport
  /// Requests with the same host share concurrency, breaker and retry budget.
  public var host: String

  public init(
    uploadProtocol: any UploadProtocol, credentials: any CredentialSource, transport: any Transport, host: String
  ) {
    self.uploadProtocol = uploadProtocol
    self.credentials = credentials
    self.transport = transport
    self.host = host
  }
}

/// Makes what a batch needs from its frozen settings. Called on the engine's thread, once a batch and run.
public protocol DestinationResolver: Sendable {
  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination
}

/// What a run tells while it works. Called on the engine's thread: return soon.
public struct EngineObserver: Sendable {
  /// nil when nobody listens; then nothing is counted.
  public var progress: (@Sendable (ProgressSnapshot) -> Void)?
  public var notice: @Sendable (EngineNotice) -> Void

  public init(
    progress: (@Sendable (ProgressSnapshot) -> Void)?, notice: @escaping @Sendable (EngineNotice) -> Void
  ) {
    self.progress = progress
    self.notice = notice
  }
}

public enum EngineNotice: Sendable {
  case failed(path: NameBytes, Failure)
  case unknown(path: NameBytes, Failure)
  case retrying(path: NameBytes, Failure, inMs: Int64)
  case sourceChanged(path: NameBytes)
  case recovered(attempts: Int, files: Int, unknown: Int)
  case draining(requests: Int)
  /// The ledger's disk is full or fails: nothing new begins, and results wait in memory for up to so long.
  case diskTrouble(TransferError, waitMs: Int64)
  /// A host refuses connections: nothing is sent to it for so long.
  case circuitOpened(host: String, forMs: Int64)
  /// It answers again.
  case circuitClosed(host: String)
}

/// How a run ended.
public struct EngineSummary: Sendable, Hashable {
  public var filesDone = 0
  public var filesFailed = 0
  public var filesUnknown = 0
  /// Failed for good because the server's content differs from the source.
  public var filesMismatched = 0
  /// Files that can still be done: pending, waiting, paused.
  public var filesLeft = 0
  /// Of those, paused.
  public var filesPaused = 0
  public var bytesAcked: Int64 = 0
  /// Body bytes of all attempts, repeats included.
  public var bytesSent: Int64 = 0
  public var retries = 0
  public var wallMs: Int64 = 0
  public var stop: StopCause?
  /// The hosts that took no connections, when that ended the run.
  public var unreachable: [String] = []
  /// Batches of which nothing could be sent, and why.
  public var blocked: [BatchID: TransferError] = [:]

  public init() {}
}

public enum StopCause: String, Sendable, Codable {
  /// Asked to stop; what ran was finished.
  case drained
  /// Asked to stop at once.
  case interrupted
  /// The hosts of all that is left take no connections.
  case unreachable
  /// What is left is not due for a long time.
  case notDue
  /// What is left was paused by people.
  case paused
  /// The deadline of what is left has passed.
  case deadline
}

/// Tells a running engine to stop; from any thread, any number of times.
public final class StopSignal: Sendable {
  enum Wish: Int, Sendable { case drain, now }
  private struct State {
    var wish: Wish?
    var wake: (@Sendable (Wish) -> Void)?
  }
  private let state = Lock(State())

  public init() {}

  /// Finishes what runs, begins nothing new.
  public func drain() { ask(.drain) }
  /// Ends what runs; nothing is lost.
  public func stopNow() { ask(.now) }

  private func ask(_ wish: Wish) {
    let wake = state.withLock { state in
      if (state.wish?.rawValue ?? -1) < wish.rawValue { state.wish = wish }
      return state.wake
    }
    wake?(wish)
  }

  /// Whether anything was asked so far.
  var isAsked: Bool { state.withLock { $0.wish != nil } }

  /// Whether an engine follows; before that there is nothing to stop but the process.
  public var isHeard: Bool { state.withLock { $0.wake != nil } }

  /// Calls `wake` at each wish from now on, and at once when there was one already.
  func onWish(_ wake: @escaping @Sendable (Wish) -> Void) {
    let earlier = state.withLock { state in
      state.wake = wake
      return state.wish
    }
    if let earlier { wake(earlier) }
  }
}
