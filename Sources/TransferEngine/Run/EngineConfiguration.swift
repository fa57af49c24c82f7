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
  /// Does not end while a source may settle within ``patienceMs``.
  public var waitsForSettling = true
  /// The run begins nothing that cannot end within so long, in milliseconds; nil for no limit.
  public var maxDurationMs: Int64?
  /// Body bytes that the run may move; nil for no limit.
  public var maxBytes: Int64?
  /// Of all connections together.
  public var rate: RateTimetable
  /// Threads that open, check and digest sources.
  public var preparingThreads: Int
  /// After a drain is asked for, running requests may go on so long, in milliseconds.
  public var drainMs: Int64
  /// While the ledger's disk is full or fails, results are kept in memory and committed again for so long, in
  /// milliseconds.
  public var diskWaitMs: Int64
  /// A service that gives a credential and is away is asked again for so long, in milliseconds.
  public var credentialWaitMs: Int64
  /// When nothing can be done for longer than this, in milliseconds, the run ends with work left.
  public var patienceMs: Int64
  /// The run ends with work left when all that is left is for hosts that have refused connections through so many
  /// openings of their breakers.
  public var breakerOpensBeforeGivingUp: Int
  /// A request that ends a file and has no answer for so long, in milliseconds, is asked about while it is awaited, and
  /// again after twice as long.
  public var askAfterMs: Int64
  /// Between two reports of progress, in milliseconds.
  public var progressEveryMs: Int64

  public init(workers: Int = 16) {
    self.workers = workers
    chunksPerFile = max(1, min(8, workers))
    sessionsAtOnce = max(4, workers / 2)
    retry = .standard
    rate = RateTimetable(nil)
    preparingThreads = 1
    drainMs = 30_000
    diskWaitMs = 300_000
    credentialWaitMs = 300_000
    patienceMs = 600_000
    breakerOpensBeforeGivingUp = 6
    askAfterMs = 60_000
    progressEveryMs = 100
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
  public var transferProtocol: ProtocolInUse
  public var credentials: any CredentialSource
  public var transport: any Transport
  /// What gives the URLs that its files are asked for at; nil where they have their own.
  public var urls: (any URLSource)?
  /// Requests with the same host share concurrency, breaker and retry budget.
  public var host: String

  public init(
    transferProtocol: any TransferProtocol, credentials: any CredentialSource, transport: any Transport, host: String
  ) {
    self.transferProtocol = ProtocolInUse(transferProtocol)
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
  public var notice: @Sendable (Notice) -> Void

  public init(
    progress: (@Sendable (ProgressSnapshot) -> Void)?, notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.progress = progress
    self.notice = notice
  }
}
