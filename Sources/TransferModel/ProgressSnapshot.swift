/// The progress of a run at one moment: a value for display, made at most ten times a second and never stored.
///
/// Bytes are body bytes. `bytesAcked` decreases only for chunks that the server lost; a failing attempt reduces
/// `bytesInFlight`.
public struct ProgressSnapshot: Sendable, Hashable {
  /// Files that this run has ended, and those still to end; files added meanwhile increase it.
  public var filesTotal = 0
  public var filesDone = 0
  public var filesFailed = 0
  public var filesUnknown = 0
  /// Files with requests that are running or in backoff.
  public var active = 0
  /// Requests in backoff; of files waiting in the ledger only the newest thousand count.
  public var retrying = 0
  /// Running requests.
  public var sending = 0
  /// False before the first count, and while a listing may still add files.
  public var totalIsKnown = true
  public var bytesTotal: Int64 = 0
  /// Files to fetch of which the size is not known yet: they are not in ``bytesTotal``.
  package var sizesUnknown = 0
  /// Acknowledged bytes of all files in the total, sent by this and earlier runs.
  public var bytesAcked: Int64 = 0
  /// The part of `bytesAcked` that earlier runs sent.
  public var bytesEarlier: Int64 = 0
  /// Sent by running requests and not acknowledged yet.
  public var bytesInFlight: Int64 = 0
  /// Unacknowledged bytes of failed and unknown files, which this run will not send.
  public var bytesGivenUp: Int64 = 0
  /// Rate limit of all connections together, in bytes per second; nil for none.
  public var rateLimit: Int64?
  /// If only answers are still missing, how long the oldest has been awaited; nil otherwise.
  public var waitingForServerMs: Int64?
  /// Since the beginning of the run.
  public var elapsedMs: Int64 = 0
  /// The files to display: just failed, in backoff, stalled, then by remaining bytes. At most 64.
  public var files: [FileProgress] = []

  package init() {}

  /// Acknowledged and in flight; the whole only when all of it is acknowledged.
  public var bytesMoved: Int64 { moved(bytesAcked, bytesInFlight, of: bytesTotal) }
  /// Bytes that this run still has to send.
  public var bytesLeft: Int64 { max(0, bytesTotal - bytesMoved - bytesGivenUp) }
}

/// One file of a ``ProgressSnapshot``.
public struct FileProgress: Sendable, Hashable {
  public enum Phase: Sendable, Hashable {
    case sending
    /// No byte has moved for `forMs`.
    case stalled(forMs: Int64)
    /// The next request is sent in `inMs` milliseconds; it is attempt `number` of `limit`.
    case retrying(inMs: Int64, ErrorCode, number: Int, limit: Int)
    /// All bytes are acknowledged; the server assembles the file or is queried for the result.
    case finishing
    /// The same for a longer time; or all bytes were sent, and the answer that acknowledges the last of them has been
    /// awaited for `forMs`.
    case waitingForServer(forMs: Int64)
    /// Ended a few seconds ago.
    case failed(ErrorCode)
  }

  public var id: FileID
  public var path: NameBytes
  public var bytesTotal: Int64
  public var bytesAcked: Int64
  public var bytesInFlight: Int64
  public var phase: Phase

  package init(
    id: FileID, path: NameBytes, bytesTotal: Int64, bytesAcked: Int64, bytesInFlight: Int64 = 0, phase: Phase
  ) {
    self.id = id
    self.path = path
    self.bytesTotal = bytesTotal
    self.bytesAcked = bytesAcked
    self.bytesInFlight = bytesInFlight
    self.phase = phase
  }

  /// Acknowledged and in flight; the whole only when all of it is acknowledged.
  public var bytesMoved: Int64 { moved(bytesAcked, bytesInFlight, of: bytesTotal) }
}

/// Bytes in flight may still be in the buffers of this machine, which accept megabytes at once: so the last hundredth
/// of the unacknowledged bytes is not shown as moved before it is acknowledged.
private func moved(_ acked: Int64, _ inFlight: Int64, of total: Int64) -> Int64 {
  let rest = max(0, total -| acked)
  let hundredth = rest / 100 + (rest % 100 > 0 ? 1 : 0)
  return min(acked, total) + min(max(inFlight, 0), rest - hundredth)
}
