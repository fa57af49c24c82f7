/// Where a run stands at one moment: a value for people, made at most ten times a second and never stored.
///
/// Bytes are body bytes. `bytesAcked` never goes back but for chunks that the server lost; `bytesInFlight` is what an
/// attempt that fails takes away again.
public struct ProgressSnapshot: Sendable, Hashable {
  /// Files that this run has ended, and those that it has still to end; files added meanwhile enlarge it.
  public var filesTotal = 0
  public var filesDone = 0
  public var filesFailed = 0
  public var filesUnknown = 0
  /// Files with requests that run or back off.
  public var active = 0
  /// Requests that wait for their backoff; of files that wait in the ledger the newest thousand count.
  public var retrying = 0
  /// Requests at the servers now.
  public var sending = 0
  /// False before the first count, and while a folder is listed, which may name more.
  public var totalIsKnown = true
  public var bytesTotal: Int64 = 0
  /// Of all files of the total, by this run and by earlier ones.
  public var bytesAcked: Int64 = 0
  /// The part of `bytesAcked` that earlier runs sent.
  public var bytesEarlier: Int64 = 0
  /// Sent by running requests and not acknowledged yet.
  public var bytesInFlight: Int64 = 0
  /// Not acknowledged bytes of failed and unknown files: nobody will send them in this run.
  public var bytesGivenUp: Int64 = 0
  /// The limit of all connections together in bytes a second; nil for none.
  public var rateLimit: Int64?
  /// Nothing is left to be sent but answers to be awaited, the first of them for so long; nil otherwise.
  public var waitingForServerMs: Int64?
  /// Since the beginning of the run.
  public var elapsedMs: Int64 = 0
  /// The files that are worth a line: just failed, backing off, stalled, then by what is left of them. At most 64.
  public var files: [FileProgress] = []

  public init() {}

  /// Acknowledged and in flight; the whole only when all of it is acknowledged.
  public var bytesMoved: Int64 { moved(bytesAcked, bytesInFlight, of: bytesTotal) }
  /// What this run still has to send.
  public var bytesLeft: Int64 { max(0, bytesTotal - bytesMoved - bytesGivenUp) }
}

/// One file of a ``ProgressSnapshot``.
public struct FileProgress: Sendable, Hashable {
  public enum Phase: Sendable, Hashable {
    case sending
    /// No byte has moved for so long.
    case stalled(forMs: Int64)
    /// The next request goes out in so many milliseconds; it is try `number` of `limit`.
    case retrying(inMs: Int64, ErrorCode, number: Int, limit: Int)
    /// All bytes are acknowledged; the server puts them together or is asked for the result.
    case finishing
    /// The same for more than a moment; or all bytes have gone out, and the answer that acknowledges the last of them
    /// has been awaited for so long.
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

  public init(
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

/// What is in flight may still lie in the buffers of this machine, which take megabytes at once: the last hundredth of
/// what is not acknowledged is not shown as moved before it is.
private func moved(_ acked: Int64, _ inFlight: Int64, of total: Int64) -> Int64 {
  let rest = max(0, total - acked)
  return min(acked, total) + min(max(inFlight, 0), rest - (rest + 99) / 100)
}
