/// How a run of the engine is to work.
public struct RunOptions: Sendable {
  /// Connections at a time; nil for the default.
  public var workers: Int?
  /// Bytes a second, all the time; nil for no limit.
  public var rate: Int64?
  /// Bytes a second by the day of the week and the time of day; nil for ``rate``.
  public var rates: RateTimetable?
  /// Engines of this host, each with a ledger of its own, that name the same group share ``rate``; if they name
  /// different ones, the smallest counts. Up to 64 of `A–Z a–z 0–9 . _ -`; nil for a rate of its own.
  public var rateGroup: String?
  /// After a drain is asked for, requests that run are given so long, in milliseconds.
  public var drainMs: Int64
  /// While the ledger's disk is full or fails, results wait in memory for so long, in milliseconds.
  public var diskWaitMs: Int64 = 300_000
  /// Between two calls of `progress`, in milliseconds, at least.
  public var progressEveryMs: Int64
  /// The run ends with work left after so long, in milliseconds, and begins nothing before that cannot end by then; nil
  /// for no limit. What is still being sent then gets ``drainMs``.
  public var maxDurationMs: Int64?
  /// The run ends with work left before its bodies would have more bytes; nil for no limit.
  public var maxBytes: Int64?
  /// Does not end while a source may settle within ten minutes. One that changes meanwhile is not waited for again.
  public var waitsForSettling = true
  /// Begins no file: only ends upload sessions at their servers that are marked for it.
  public var onlyEndsSessions = false
  /// The process is there for this run: its limit of open files may be raised.
  package var ownsProcess = false
  /// A place in the queue for the ledger whose turn has come.
  package var turn: EngineTurn?
  /// Goes on with a copy of a ledger as with the ledger itself: its original sent nothing since.
  public var trustsCopy = false
  /// The command line, for the record; the caller has taken secrets out.
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
