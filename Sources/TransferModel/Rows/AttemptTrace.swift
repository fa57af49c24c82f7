/// The times of an attempt that show where its time went, in milliseconds. Those of its request count from the moment
/// at which the transport began it, and are nil if it did not get there.
public struct AttemptTrace: Sendable, Hashable {
  public var file: FileID
  /// nil for requests about the whole file.
  public var chunk: ChunkID?
  public var run: RunID
  public var operation: AttemptOperation
  public var outcome: AttemptOutcome
  public var isDownload = false
  /// Milliseconds since 1970 UTC: when the row was opened and closed. The request itself is shorter than that: it waits
  /// for a connection first.
  public var startedMs: Int64
  public var endedMs: Int64?
  public var errorCode: String?
  public var httpStatus: Int64?
  public var bytesTransferred: Int64 = 0
  public var bytesAcked: Int64 = 0
  /// From the name to the TCP connection; hardly more than one round trip.
  public var dialMs: Int64?
  /// Until the connection could be used: name, TCP and TLS. nil if an existing connection was used.
  public var connectMs: Int64?
  /// Until the last byte of the body was handed over.
  public var sentMs: Int64?
  public var firstByteMs: Int64?
  public var totalMs: Int64?
  /// How long our own rate limits delayed the body.
  public var heldMs: Int64 = 0
  /// The wait requested by the server, and the chosen wait.
  public var retryAfterMs: Int64?
  public var backoffMs: Int64?
  public var remoteIP: String?

  public init(
    file: FileID, chunk: ChunkID?, run: RunID, operation: AttemptOperation, outcome: AttemptOutcome, startedMs: Int64,
    endedMs: Int64?
  ) {
    (self.file, self.chunk, self.run) = (file, chunk, run)
    (self.operation, self.outcome) = (operation, outcome)
    (self.startedMs, self.endedMs) = (startedMs, endedMs)
  }
}

/// A time span in milliseconds since 1970 UTC, half-open; empty unless it ends after it begins.
public struct TimeSpan: Sendable, Hashable {
  public var fromMs, toMs: Int64
  public init(_ fromMs: Int64, _ toMs: Int64) { (self.fromMs, self.toMs) = (fromMs, toMs) }
  public var lengthMs: Int64 { max(0, toMs -| fromMs) }
}

/// A decision by a person, or by the engine for a person, about waiting files.
public struct FileDecision: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable {
    case paused, resumed, cancelled
    /// Ended files were queued again, or declared done.
    case retried, resolved
  }

  public var kind: Kind
  /// Milliseconds since 1970 UTC.
  public var atMs: Int64
  /// Numbers of the files, ascending.
  public var files: [ClosedRange<Int64>]

  public init(_ kind: Kind, atMs: Int64, files: [ClosedRange<Int64>]) {
    (self.kind, self.atMs, self.files) = (kind, atMs, files)
  }
}
