public import TransferModel
public import TransferProtocols

/// Configuration of an engine. It may differ between runs; settings that must not differ are stored with the batch.
public struct EngineConfiguration: Sendable {
  /// Concurrent connections, over all destinations.
  public var workers: Int
  /// A host begins with few concurrent requests and gets more while that increases throughput; if false, it starts with
  /// `workers`.
  public var startsSlowly = false
  /// Concurrent chunks of one file.
  public var chunksPerFile: Int
  /// Files with an upload session at the same time.
  public var sessionsAtOnce: Int
  package var retry: RetryPolicy
  /// The folder of staged copies; nil if no file has one.
  public var copies: StagedCopies?
  /// If false, the run only aborts sessions on servers; no file is begun.
  public var claimsFiles = true
  /// The batches for which the run was started: once their files have ended, the run does not wait for those of others.
  /// If nil, it waits for all.
  public var awaited: Set<BatchID>?
  /// Jobs whose files are left to their own runs, because this run has not their limits: none is begun.
  package var leftJobs: Set<String> = []
  /// The run does not end while a source may settle within ``patienceMs``.
  public var waitsForSettling = true
  /// Time limit of the run, in milliseconds: no request begins that cannot end within it; nil for no limit.
  public var maxDurationMs: Int64?
  /// Body bytes that the run may move; nil for no limit.
  public var maxBytes: Int64?
  /// Rate limit of all connections together.
  public var rate: RateTimetable
  /// The group of engines on this host that share ``rate``; nil if the rate is not shared.
  public var sharedRate: SharedRate?
  /// Threads that open, check and digest sources.
  public var preparingThreads: Int
  /// How long running requests may continue after a drain is requested, in milliseconds.
  public var drainMs: Int64
  /// How long results are kept in memory and committed again while the ledger's disk is full or fails, in milliseconds.
  public var diskWaitMs: Int64
  /// How long an unavailable credential service is retried, in milliseconds.
  public var credentialWaitMs: Int64
  /// If nothing can be done for longer than this, in milliseconds, the run ends with work left.
  public var patienceMs: Int64
  /// The run ends with work left if the remaining files are all for hosts whose circuit breakers have opened this many
  /// times because of refused connections.
  public var breakerOpensBeforeGivingUp: Int
  /// When a finishing request has had no answer for this time, in milliseconds, its result is queried while it is
  /// running, and again after twice as long.
  public var askAfterMs: Int64
  /// Maximum number of descriptors of this process; nil for the limit of the system.
  var openFileLimit: Int?
  /// The system calls that sync partial files.
  var syncs = FileSyncs.system
  /// Whether names that differ only in case are the same file in a target folder. Blocking.
  var ignoresCase: @Sendable (NameBytes) -> Bool = { LocalFolder($0).ignoresCase }
  /// Interval between progress reports, in milliseconds.
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

  /// The automatic configuration: as many connections as increase throughput.
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
  package var transport: any Transport
  /// The source of the URLs from which its files are requested; nil if they have their own.
  public var urls: (any URLSource)?
  /// Requests with the same host share concurrency, breaker and retry budget.
  public var host: String

  package init(
    transferProtocol: any TransferProtocol, credentials: any CredentialSource, transport: any Transport, host: String
  ) {
    self.transferProtocol = ProtocolInUse(transferProtocol)
    self.credentials = credentials
    self.transport = transport
    self.host = host
  }
}

/// Sets up the destination of a batch from its frozen settings. Called on the engine's thread, once for each batch and
/// run.
public protocol DestinationResolver: Sendable {
  func resolve(_ settings: BatchSettings) throws(TransferError) -> ResolvedDestination

  /// The host of the destination, as ``ResolvedDestination/host`` has it; without credentials or a transport.
  func host(of settings: BatchSettings) throws(TransferError) -> String
}

extension DestinationResolver {
  public func host(of settings: BatchSettings) throws(TransferError) -> String { try resolve(settings).host }
}

/// Callbacks of a running engine. Called on the engine's thread: return quickly.
public struct EngineObserver: Sendable {
  /// nil if there is no observer; then no progress is computed.
  public var progress: (@Sendable (ProgressSnapshot) -> Void)?
  public var notice: @Sendable (Notice) -> Void

  public init(
    progress: (@Sendable (ProgressSnapshot) -> Void)?, notice: @escaping @Sendable (Notice) -> Void
  ) {
    self.progress = progress
    self.notice = notice
  }
}
