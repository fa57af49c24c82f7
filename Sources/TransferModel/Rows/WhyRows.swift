/// The subject of `why`.
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

/// A file, batch or run with the bounds of its wall time. Times are milliseconds since 1970 UTC.
public struct WhyRow: Sendable, Hashable {
  public var subject: WhySubject
  /// The path of a file, the name of a batch, the machine of a run.
  public var name: NameBytes?
  /// The state of a file, or how a run ended; nil for a batch.
  public var state: String?
  /// The cause of a file's state.
  public var cause: String?
  public var isDownload = false
  /// The size of the file, or of all files of the batch.
  public var bytes: Int64?
  /// Files of a batch.
  public var files: Int?
  /// When it was recorded, or a run began.
  public var fromMs: Int64
  /// When it ended; nil if it has not ended.
  public var toMs: Int64?
  /// The batch whose host is examined, and its rate limit in bytes per second.
  public var batch: BatchID?
  public var rate: Int64?

  public init(subject: WhySubject, fromMs: Int64) { (self.subject, self.fromMs) = (subject, fromMs) }
}

/// The life span of an engine run, by the clock of its rows.
public struct RunLife: Sendable, Hashable {
  public var id: RunID
  public var startedMs: Int64
  /// Its end; for a crashed or running one its last heartbeat.
  public var lastMs: Int64
  public var isOpen: Bool
  public var isCrashed: Bool
  /// By how much the wall clock was set while it ran, in milliseconds; its rows follow the clock of its start.
  public var clockMovedMs: Int64
  /// CPU time of its process at its last heartbeat; nil if not recorded.
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

/// Other activity at a host in a time span.
public struct HostActivity: Sendable, Hashable {
  public var host: String
  /// Attempts that began in that time, for other files, or for files of other batches.
  public var others: Int64 = 0
  /// Those of them that ended with retry, fatal or unknown; and those answered with 429 and 503.
  public var failed: Int64 = 0
  public var tooMany: Int64 = 0
  public var unavailable: Int64 = 0
  /// Spans of waits requested by the host.
  public var waits: [TimeSpan] = []

  public init(host: String) { self.host = host }
}
