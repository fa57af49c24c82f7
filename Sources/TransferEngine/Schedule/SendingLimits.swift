import TransferModel

/// The limits of a run and of its batches: concurrent requests, bytes of bodies, and the time by which bodies must end.
/// A value of the ``Scheduler``.
struct SendingLimits: Sendable {
  /// The limit of a batch.
  private struct Share: Sendable {
    var limit: Int
    var sending: Int
  }

  private var shares: [BatchID: Share] = [:]
  /// The time by which bodies of a batch must end.
  private var ends: [BatchID: Int64] = [:]
  /// The time by which all bodies must end, and how many bytes of bodies may still move; nil for no limit.
  private var endMs: Int64?
  private(set) var allowance: ByteAllowance?
  /// The byte limit of the whole run.
  private(set) var mostBytes: Int64?
  /// Limit of the total length of running bodies; nil for no limit. A single body of any length is always allowed.
  var bytesAtOnce: Int64?
  private var sendingBytes: Int64 = 0

  init(bytesAtOnce: Int64?) { self.bytesAtOnce = bytesAtOnce }

  /// Whether the run itself must end at some time.
  var hasEnd: Bool { endMs != nil }
  /// Whether any body must end by some time.
  var hasAnyEnd: Bool { hasEnd || !ends.isEmpty }

  /// Limits for all batches together.
  mutating func set(endMs: Int64?, bytes: Int64?) {
    (self.endMs, allowance, mostBytes) = (endMs, bytes.map(ByteAllowance.init), bytes)
  }

  var bytesLeft: Int64? { allowance?.left }

  /// The machine slept, which does not count: bodies may end later by this.
  mutating func slept(ms: Int64) { endMs = endMs.map { $0 +| ms } }

  /// Limits the concurrent requests of a batch; nil for no limit of its own. `sending` of them are already running.
  mutating func setShare(_ limit: Int?, of batch: BatchID, sending: Int) {
    shares[batch] = limit.map { Share(limit: max(1, $0), sending: sending) }
  }

  /// Sets the time by which bodies must end, by batch.
  mutating func setEnds(_ ends: [BatchID: Int64]) { self.ends = ends }

  /// Whether a request may begin, as far as its batch, its length and the time are concerned.
  func allow(_ waiting: HostQueue.Waiting, canEnd: (_ byMs: Int64) -> Bool) -> Bool {
    waiting.bytes <= bytesLeft ?? .max && (endMs.map(canEnd) ?? true)
      && (shares.isEmpty || shares[waiting.batch].map { $0.sending < $0.limit } ?? true)
      && (ends.isEmpty || ends[waiting.batch].map(canEnd) ?? true)
  }

  /// Whether its body may run beside those that are running.
  func fits(_ waiting: HostQueue.Waiting) -> Bool {
    guard let bytesAtOnce, sendingBytes > 0 else { return true }
    return waiting.bytes <= bytesAtOnce - sendingBytes
  }

  /// A request begins.
  mutating func began(_ waiting: HostQueue.Waiting) {
    if !shares.isEmpty { shares[waiting.batch]?.sending += 1 }
    sendingBytes += waiting.bytes
    allowance?.begin(waiting.bytes)
  }

  /// A request with a body of `length` has ended; `bytes` moved, for which its answer has taken `taken` more.
  mutating func ended(_ batch: BatchID, bytes: Int64, length: Int64, taken: Int64 = 0) {
    sendingBytes -= length
    allowance?.giveBack(max(0, length + taken - bytes))
    if !shares.isEmpty { shares[batch]?.sending -= 1 }
  }
}
