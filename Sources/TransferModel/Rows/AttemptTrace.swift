/// The times of an attempt that show where its time went, in milliseconds. Those of its request count from the moment
/// at which the transport began it, and are nil if it did not get there.
package struct AttemptTrace: Sendable, Hashable {
  package var file: FileID
  /// nil for requests about the whole file.
  package var chunk: ChunkID?
  package var run: RunID
  package var operation: AttemptOperation
  package var outcome: AttemptOutcome
  package var isDownload = false
  /// Milliseconds since 1970 UTC: when the row was opened and closed. The request itself is shorter than that: it waits
  /// for a connection first.
  package var startedMs: Int64
  package var endedMs: Int64?
  package var errorCode: String?
  package var httpStatus: Int64?
  package var bytesTransferred: Int64 = 0
  package var bytesAcked: Int64 = 0
  /// From the name to the TCP connection; hardly more than one round trip.
  package var dialMs: Int64?
  /// Until the connection could be used: name, TCP and TLS. nil if an existing connection was used.
  package var connectMs: Int64?
  /// Until the last byte of the body was handed over.
  package var sentMs: Int64?
  package var firstByteMs: Int64?
  package var totalMs: Int64?
  /// How long our own rate limits delayed the body.
  package var heldMs: Int64 = 0
  /// The wait requested by the server, and the chosen wait.
  package var retryAfterMs: Int64?
  package var backoffMs: Int64?
  package var remoteIP: String?

  package init(
    file: FileID, chunk: ChunkID?, run: RunID, operation: AttemptOperation, outcome: AttemptOutcome, startedMs: Int64,
    endedMs: Int64?
  ) {
    (self.file, self.chunk, self.run) = (file, chunk, run)
    (self.operation, self.outcome) = (operation, outcome)
    (self.startedMs, self.endedMs) = (startedMs, endedMs)
  }
}

/// A time span in milliseconds since 1970 UTC, half-open; empty unless it ends after it begins.
package struct TimeSpan: Sendable, Hashable {
  package var fromMs, toMs: Int64
  package init(_ fromMs: Int64, _ toMs: Int64) { (self.fromMs, self.toMs) = (fromMs, toMs) }
  package var lengthMs: Int64 { max(0, toMs -| fromMs) }
}

/// A decision by a person, or by the engine for a person, about waiting files.
package struct FileDecision: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    case paused, resumed, cancelled
    /// Ended files were queued again, or declared done.
    case retried, resolved
  }

  package var kind: Kind
  /// Milliseconds since 1970 UTC.
  package var atMs: Int64
  /// Numbers of the files, ascending.
  package var files: [ClosedRange<Int64>]

  package init(_ kind: Kind, atMs: Int64, files: [ClosedRange<Int64>]) {
    (self.kind, self.atMs, self.files) = (kind, atMs, files)
  }
}
