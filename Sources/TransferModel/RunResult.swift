/// Why a run ended before everything was done.
public enum StopCause: String, Sendable, Codable {
  /// Stopped on request; running requests were finished.
  case drained
  /// Stopped immediately on request.
  case interrupted
  /// All remaining files are for hosts that accept no connections.
  case unreachable
  /// The remaining files are not due for a long time.
  case notDue = "not_due"
  /// The remaining files were paused by people.
  case paused
  /// The deadline of the remaining files has passed.
  case deadline
  /// The limit of the run was reached: its time, or its bytes.
  case limit
  /// The quotas of their jobs leave no room for the remaining files in this period.
  case quota
  /// The remaining files were still being written.
  case settling
}

/// How a run ended. Counts are files unless they say otherwise.
public struct RunResult: Sendable, Hashable {
  public var done = 0
  public var failed = 0
  public var unknown = 0
  /// Of the failed: the server's content differs from the source.
  public var mismatched = 0
  /// Files that can still become done: pending, waiting, paused.
  public var left = 0
  /// Of those left: paused by people.
  public var paused = 0
  public var bytesAcked: Int64 = 0
  /// Body bytes of all attempts, repeats included.
  public var bytesTransferred: Int64 = 0
  /// Bytes of downloads that existed locally and were not fetched.
  public var bytesReused: Int64 = 0
  /// Attempts that were repeated.
  public var retries = 0
  public var wallMs: Int64 = 0
  public var stoppedBy: StopCause?
  /// The hosts that accepted no connections, if that ended the run.
  public var unreachable: [String] = []
  /// Batches with files that wait for the next run, with the failure of the first of them: the command gave no URL, or
  /// the target disk is full.
  package var waiting: [BatchID: Failure] = [:]
  /// Of those left, by batch: files that no run with the same limit in bytes can transfer, because a body of theirs is
  /// longer. At least so many: a file that is sent in parts is examined when it was claimed.
  package var tooLong: [BatchID: Int] = [:]
  /// Batches that could not be sent, with the reason: no credentials (`.auth`), unusable settings (`.config`).
  public var blocked: [BatchID: TransferError] = [:]
  /// Batches with a file whose failure the ledger refused to record, with that error. Their other files were sent.
  public var unrecorded: [BatchID: TransferError] = [:]

  /// The error of the first batch that could not be sent; else of the first with an unrecorded failure.
  public var error: TransferError? {
    (blocked.min { $0.key < $1.key } ?? unrecorded.min { $0.key < $1.key })?.value
  }

  package init() {}
}
