/// Options of a run of the engine.
public struct RunOptions: Sendable {
  /// Number of concurrent connections; nil for the default.
  public var workers: Int?
  /// Constant limit in bytes per second; nil for no limit.
  public var rate: Int64?
  /// Limits in bytes per second by day of the week and time of day; nil for ``rate``.
  public var rates: RateTimetable?
  /// Engines on this host (each with its own ledger) that name the same group share ``rate``; if their rates differ,
  /// the lowest applies. Up to 64 characters of `A–Z a–z 0–9 . _ -`; nil to not share the rate.
  public var rateGroup: String?
  /// How long running requests may continue after a drain is requested, in milliseconds.
  public var drainMs: Int64
  /// How long results wait in memory while the ledger's disk is full or failing, in milliseconds.
  public var diskWaitMs: Int64 = 300_000
  /// The minimum interval between two calls of `progress`, in milliseconds.
  public var progressEveryMs: Int64
  /// The run ends after this time, in milliseconds, even if work is left, and starts nothing that cannot end by then;
  /// nil for no limit. Requests still being sent then get ``drainMs``.
  public var maxDurationMs: Int64?
  /// The run ends, even if work is left, before its bodies exceed this number of bytes; nil for no limit.
  public var maxBytes: Int64?
  /// Does not end while a source may settle within ten minutes. Does not wait again for one that changes meanwhile.
  public var waitsForSettling = true
  /// The batches for which the run is started: once their files have ended, it does not wait for files of other batches
  /// that cannot be sent at the moment. If nil, it waits for all.
  public var awaited: Set<BatchID>?
  /// Starts no file; only ends upload sessions on servers that are marked for it.
  public var onlyEndsSessions = false
  /// Jobs whose files are left to their own runs, because this one has not their limits.
  package var leftJobs: Set<String> = []
  /// The process exists only for this run, so its limit of open files may be raised.
  package var ownsProcess = false
  /// The engine's place in the queue for the ledger, if its turn has come.
  package var turn: EngineTurn?
  /// Delivers the callbacks of this run and of others of the caller, who finishes them. If nil, this run waits for its
  /// callbacks at its end.
  package var callbacks: RunCallbacks?
  /// Called when the engine has ended and has released its lock, before callbacks are waited for.
  package var whenEnded: (@Sendable () -> Void)?
  /// Continues with a copy of a ledger as if it were the original, trusting that the original has sent nothing since.
  public var trustsCopy = false
  /// The command line, to be recorded; the caller has removed secrets.
  public var argv: [String]

  public init(
    workers: Int? = nil, rate: Int64? = nil, drainMs: Int64 = 30_000,
    progressEveryMs: Int64 = 100, argv: [String] = []
  ) {
    self.workers = workers
    self.rate = rate
    self.drainMs = drainMs
    self.progressEveryMs = max(1, progressEveryMs)
    self.argv = argv
  }
}
