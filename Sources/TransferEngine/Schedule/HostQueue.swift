import TransferModel

/// The waiting requests of one host, with the gate for those that run. A value of the ``Scheduler``.
struct HostQueue: Sendable {
  struct Waiting: Sendable {
    let request: Scheduler.RequestID
    let batch: BatchID
    let bytes: Int64
  }

  var gate: HostGate
  /// It has files to send, but none of their requests may be ready yet.
  var isAwaited = false
  private var urgent = FIFO<Waiting>()
  private var ready = FIFO<Waiting>()
  /// Bytes per millisecond, and how many bytes of running bodies were sent at that time; known only while some batch
  /// has a deadline.
  private var pace: (bytesPerMs: Double, inFlight: Int64)?

  init(_ gate: HostGate) { self.gate = gate }

  var count: Int { urgent.count + ready.count }
  var isEmpty: Bool { urgent.isEmpty && ready.isEmpty }

  /// Whether each waiting request has a body longer than this.
  func areAllLonger(than bytes: Int64) -> Bool { urgent.isEmpty && ready.first(where: { $0.bytes <= bytes }) == nil }

  /// How many waiting bodies are longer than this.
  func count(longerThan bytes: Int64) -> Int { ready.count { $0.bytes > bytes } }

  mutating func append(_ waiting: Waiting, isUrgent: Bool) {
    if isUrgent { urgent.append(waiting) } else { ready.append(waiting) }
  }

  /// Removes and returns the requests for which `belongs` is true.
  mutating func removeAll(where belongs: (Scheduler.RequestID) -> Bool) -> [Scheduler.RequestID] {
    (urgent.removeAll { belongs($0.request) } + ready.removeAll { belongs($0.request) }).map(\.request)
  }

  /// Removes and returns the next request: an urgent one first, whatever the gate and the limit of bytes say; else the
  /// next one that the limits and the gate allow. Those for which `isHeld` is true are passed over.
  mutating func popFirst(
    _ limits: SendingLimits, nowMs: Int64, holding isHeld: (Scheduler.RequestID) -> Bool
  ) -> Waiting? {
    let host = self
    func mayGo(_ waiting: Waiting) -> Bool {
      limits.allow(waiting) { host.canEnd(waiting.bytes, by: $0, nowMs: nowMs) } && !isHeld(waiting.request)
    }
    if let next = urgent.popFirst(where: mayGo) { return next }
    // The next one waits until it fits: if shorter ones could overtake it, it would wait forever.
    guard let next = ready.first(where: mayGo), limits.fits(next), gate.takes(next.bytes, nowMs: nowMs) else {
      return nil
    }
    return ready.popFirst(where: mayGo)
  }

  // MARK: - Throughput

  /// Measures the throughput of the host, or forgets it. `inFlight` is the number of body bytes sent so far.
  mutating func measurePace(isNeeded: Bool, inFlight: Int64, nowMs: Int64) {
    let bytesPerMs = isNeeded ? gate.line.bytesPerMs(inFlight: inFlight, nowMs: nowMs) : nil
    pace = bytesPerMs.map { ($0, inFlight) }
  }

  /// Whether a body of `bytes` ends in time after all running ones. If nothing is running it may always be tried: the
  /// rate was measured with other bodies, and nothing else would measure it again.
  private func canEnd(_ bytes: Int64, by endMs: Int64, nowMs: Int64) -> Bool {
    guard bytes > 0, gate.line.sendingBytes > 0, let pace else { return true }
    let ahead = max(0, gate.line.sendingBytes - pace.inFlight)
    return Double(ahead + bytes) <= pace.bytesPerMs * Double(endMs - nowMs)
  }

  // MARK: - Connections

  /// Connections that the host uses, or would use if there were enough.
  func wanted(nowMs: Int64) -> Int {
    guard gate.opensAtMs(nowMs: nowMs) == nil else { return gate.sending }
    if gate.window?.isFull == true { return gate.sending + urgent.count }
    let isToCome = isAwaited && isEmpty
    return max(gate.sending, min(gate.isOpen ? 1 : gate.limit, gate.sending + count + (isToCome ? 1 : 0)))
  }

  /// Connections of its share that the host does not use yet, and would use.
  func unusedPlaces(fair: Int, nowMs: Int64) -> Int { max(0, min(fair, wanted(nowMs: nowMs)) - gate.sending) }
}
