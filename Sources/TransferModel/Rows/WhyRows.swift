/// What can be asked where its time went.
public enum WhySubject: Sendable, Hashable, CustomStringConvertible {
  case file(FileID), batch(BatchID), run(RunID)

  /// As people type it.
  public var description: String {
    switch self {
    case .file(let id): id.description
    case .batch(let id): id.description
    case .run(let id): id.description
    }
  }
}

/// A file, batch or run with what bounds its wall time. Times are milliseconds since 1970 UTC.
public struct WhyRow: Sendable, Hashable {
  public var subject: WhySubject
  /// The path of a file, the name of a batch, the machine of a run.
  public var name: NameBytes?
  /// Of a file; how a run ended; nil of a batch.
  public var state: String?
  /// Why a file is where it is.
  public var cause: String?
  public var isDownload = false
  /// The size of the file, or of all files of the batch.
  public var bytes: Int64?
  /// Files of a batch.
  public var files: Int?
  /// When it was recorded, or a run began.
  public var fromMs: Int64
  /// When it came to rest; nil while it goes on.
  public var toMs: Int64?
  /// The batch whose host it is about, and its rate limit in bytes a second.
  public var batch: BatchID?
  public var rate: Int64?

  public init(subject: WhySubject, fromMs: Int64) { (self.subject, self.fromMs) = (subject, fromMs) }
}

/// When an engine run was alive, by the clock of its rows.
public struct RunLife: Sendable, Hashable {
  public var id: RunID
  public var startedMs: Int64
  /// Its end; of a run that crashed or has not ended, its last sign of life.
  public var lastMs: Int64
  public var isOpen: Bool
  public var isCrashed: Bool
  /// How far the wall clock was moved while it ran, in milliseconds; its rows follow the clock as it was at its start.
  public var clockMovedMs: Int64
  /// Processor time of its process by its last sign of life; nil where it was not recorded.
  public var processorMs: Int64?

  public init(
    id: RunID, startedMs: Int64, lastMs: Int64, isOpen: Bool, isCrashed: Bool, clockMovedMs: Int64 = 0,
    processorMs: Int64? = nil
  ) {
    (self.id, self.startedMs, self.lastMs) = (id, startedMs, lastMs)
    (self.isOpen, self.isCrashed) = (isOpen, isCrashed)
    (self.clockMovedMs, self.processorMs) = (clockMovedMs, processorMs)
  }
}

/// What else was asked of a host in some time.
public struct HostActivity: Sendable, Hashable {
  public var host: String
  /// Attempts that began in that time, for other files, or for files of other batches.
  public var others: Int64 = 0
  /// Those of them that ended with retry, fatal or unknown; and those that were answered 429 and 503.
  public var failed: Int64 = 0
  public var tooMany: Int64 = 0
  public var unavailable: Int64 = 0
  /// When the host had asked us to wait.
  public var waits: [TimeSpan] = []

  public init(host: String) { self.host = host }
}
