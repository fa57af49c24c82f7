/// The subject of `why`.
package enum WhySubject: Sendable, Hashable, CustomStringConvertible {
  case file(FileID), batch(BatchID), run(RunID)

  /// As people type it.
  package var description: String {
    switch self {
    case .file(let id): id.description
    case .batch(let id): id.description
    case .run(let id): id.description
    }
  }
}

/// A file, batch or run with the bounds of its wall time. Times are milliseconds since 1970 UTC.
package struct WhyRow: Sendable, Hashable {
  package var subject: WhySubject
  /// The path of a file, the name of a batch, the machine of a run.
  package var name: NameBytes?
  /// The state of a file, or how a run ended; nil for a batch.
  package var state: String?
  /// The cause of a file's state.
  package var cause: String?
  package var isDownload = false
  /// The size of the file, or of all files of the batch.
  package var bytes: Int64?
  /// Files of a batch.
  package var files: Int?
  /// When it was recorded, or a run began.
  package var fromMs: Int64
  /// When it ended; nil if it has not ended.
  package var toMs: Int64?
  /// The batch whose host is examined, and its rate limit in bytes per second.
  package var batch: BatchID?
  package var rate: Int64?

  package init(subject: WhySubject, fromMs: Int64) { (self.subject, self.fromMs) = (subject, fromMs) }
}

/// The life span of an engine run, by the clock of its rows.
package struct RunLife: Sendable, Hashable {
  package var id: RunID
  package var startedMs: Int64
  /// Its end; for a crashed or running one its last heartbeat.
  package var lastMs: Int64
  package var isOpen: Bool
  package var isCrashed: Bool
  /// By how much the wall clock was set while it ran, in milliseconds; its rows follow the clock of its start.
  package var clockMovedMs: Int64
  /// CPU time of its process at its last heartbeat; nil if not recorded.
  package var processorMs: Int64?

  package init(
    id: RunID, startedMs: Int64, lastMs: Int64, isOpen: Bool, isCrashed: Bool, clockMovedMs: Int64 = 0,
    processorMs: Int64? = nil
  ) {
    (self.id, self.startedMs, self.lastMs) = (id, startedMs, lastMs)
    (self.isOpen, self.isCrashed) = (isOpen, isCrashed)
    (self.clockMovedMs, self.processorMs) = (clockMovedMs, processorMs)
  }
}

/// Other activity at a host in a time span.
package struct HostActivity: Sendable, Hashable {
  package var host: String
  /// Attempts that began in that time, for other files, or for files of other batches.
  package var others: Int64 = 0
  /// Those of them that ended with retry, fatal or unknown; and those answered with 429 and 503.
  package var failed: Int64 = 0
  package var tooMany: Int64 = 0
  package var unavailable: Int64 = 0
  /// Spans of waits requested by the host.
  package var waits: [TimeSpan] = []

  package init(host: String) { self.host = host }
}
