import TransferModel

/// Decides which begun request is sent next: fair across hosts, urgent (control) requests first, then in claim order
/// (by priority). A batch that has reached its limit of concurrent requests is skipped. A host may use connections that
/// others do not need, but each keeps its share available, because requests without an answer keep their connections
/// for long. A value; it holds no bodies and does no I/O.
struct Scheduler: Sendable {
  typealias RequestID = UInt64

  let workers: Int
  /// The initial concurrency of a new host.
  private let newConcurrency: @Sendable (_ host: String, _ workers: Int) -> Concurrency
  private var hosts: [String: HostQueue] = [:]
  /// Order in which hosts take turns.
  private var turn: [String] = []
  private var nextTurn = 0
  private var limits: SendingLimits
  private(set) var sendingCount = 0
  private(set) var readyCount = 0

  init(
    workers: Int, bytesAtOnce: Int64? = nil,
    newConcurrency: @escaping @Sendable (_ host: String, _ workers: Int) -> Concurrency = {
      Concurrency(first: Concurrency.usualFirst, highest: $1, isExplicit: false)
    }
  ) {
    self.workers = max(1, workers)
    limits = SendingLimits(bytesAtOnce: bytesAtOnce)
    self.newConcurrency = newConcurrency
  }

  // MARK: - Requests

  /// Hosts with files to send, begun or not.
  mutating func expect(hosts names: Set<String>) {
    for name in names { addHost(name) }
    for name in turn { hosts[name]!.isAwaited = names.contains(name) }
  }

  /// A request is prepared and waits for a connection.
  mutating func requestIsReady(_ request: RequestID, host: String, batch: BatchID, isUrgent: Bool, bytes: Int64 = 0) {
    addHost(host)
    readyCount += 1
    hosts[host]!.append(HostQueue.Waiting(request: request, batch: batch, bytes: bytes), isUrgent: isUrgent)
  }

  /// Removes and returns the next request that may be sent now; call until nil. Those for which `isHeld` is true stay.
  mutating func takeNext(nowMs: Int64, holding isHeld: (RequestID) -> Bool = { _ in false }) -> RequestID? {
    guard sendingCount < workers, readyCount > 0 else { return nil }
    let shares = connectionShares(nowMs: nowMs)
    for step in 0..<turn.count {
      let index = (nextTurn + step) % turn.count
      let name = turn[index]
      guard hosts[name]!.gate.allowsAnother(nowMs: nowMs), leavesRoom(hosts[name]!, shares, nowMs: nowMs),
        let next = hosts[name]!.popFirst(limits, nowMs: nowMs, holding: isHeld)
      else { continue }
      limits.began(next)
      nextTurn = (index + 1) % turn.count
      hosts[name]!.gate.started(next.request, length: next.bytes, nowMs: nowMs)
      sendingCount += 1
      readyCount -= 1
      return next.request
    }
    return nil
  }

  /// A sent request has ended; its connection is free.
  mutating func requestEnded(
    _ request: RequestID, host: String, batch: BatchID, _ outcome: HostGate.Outcome, bytes: Int64 = 0,
    length: Int64 = 0, taken: Int64 = 0, nowMs: Int64
  ) {
    sendingCount -= 1
    limits.ended(batch, bytes: bytes, length: length, taken: taken)
    hosts[host]?.gate.ended(request, outcome, bytes: bytes, length: length, nowMs: nowMs)
  }

  /// Removes and returns all waiting requests: nothing more will be sent.
  mutating func takeAllReady() -> [RequestID] { takeReady { _ in true } }

  /// Removes and returns waiting requests for which `belongs` is true.
  mutating func takeReady(where belongs: (RequestID) -> Bool) -> [RequestID] {
    var taken: [RequestID] = []
    for name in turn { taken += hosts[name]!.removeAll(where: belongs) }
    readyCount -= taken.count
    return taken
  }

  // MARK: - Limits

  /// Limit of the total length of running bodies; nil for no limit.
  var bytesAtOnce: Int64? {
    get { limits.bytesAtOnce }
    set { limits.bytesAtOnce = newValue }
  }

  /// How many bytes of bodies may still be begun; nil for no limit.
  var bytesLeft: Int64? { limits.bytesLeft }

  /// The same for answers while they arrive.
  var allowance: ByteAllowance? { limits.allowance }

  /// Limits for all batches together.
  mutating func setLimits(endMs: Int64?, bytes: Int64?) { limits.set(endMs: endMs, bytes: bytes) }

  /// The machine slept, which does not count for the time by which bodies must end.
  mutating func slept(ms: Int64) { limits.slept(ms: ms) }

  /// After a longer sleep, earlier failures say nothing about the hosts.
  mutating func forgetFailures() {
    for name in turn { hosts[name]!.gate.slept() }
  }

  /// Whether the throughput of the hosts is needed from time to time.
  var hasEnd: Bool { limits.hasEnd }

  /// Every waiting body is longer than the bytes left of the limit.
  var isOutOfBytes: Bool {
    guard let bytesLeft, readyCount > 0 else { return false }
    return hosts.values.allSatisfy { $0.areAllLonger(than: bytesLeft) }
  }

  /// The number of waiting bodies of a host that are longer than the whole byte limit: they never begin in this run.
  func tooLongCount(host: String) -> Int {
    guard let mostBytes = limits.mostBytes, let host = hosts[host] else { return 0 }
    return host.count(longerThan: mostBytes)
  }

  /// Whether all waiting bodies are longer than the whole byte limit.
  var areAllTooLong: Bool { readyCount == turn.reduce(0) { $0 + tooLongCount(host: $1) } }

  /// Limits the concurrent requests of a batch; nil for no limit of its own. `sending` of them are already running.
  mutating func setLimit(_ limit: Int?, of batch: BatchID, sending: Int) {
    limits.setShare(limit, of: batch, sending: sending)
  }

  /// No body begins that cannot end by the time set for its batch, according to the throughput of its host. `inFlight`
  /// is the number of body bytes sent so far, by host.
  mutating func setEnds(_ ends: [BatchID: Int64], inFlight: [String: Int64], nowMs: Int64) {
    limits.setEnds(ends)
    for name in turn {
      hosts[name]!.measurePace(isNeeded: limits.hasAnyEnd, inFlight: inFlight[name] ?? 0, nowMs: nowMs)
    }
  }

  /// Restarts the measurement of the throughput of the hosts; `inFlight` is the number of body bytes sent so far, by
  /// host.
  mutating func measureAnew(inFlight: [String: Int64], nowMs: Int64) {
    for name in turn { hosts[name]!.gate.measureAnew(inFlight: inFlight[name] ?? 0, nowMs: nowMs) }
  }

  // MARK: - Hosts

  mutating func chargeRetry(host: String, isThrottled: Bool, isLoss: Bool) -> Int64 {
    addHost(host)
    return hosts[host]!.gate.chargeRetry(isThrottled: isThrottled, isLoss: isLoss)
  }

  /// When the next closed gate with waiting requests opens; nil if none waits for time.
  func nextOpeningMs(nowMs: Int64) -> Int64? {
    hosts.values.filter { !$0.isEmpty }.compactMap { $0.gate.opensAtMs(nowMs: nowMs) }.min()
  }

  /// Hosts that have refused connections so often that continuing with them alone is useless.
  func hopelessHosts(afterOpens count: Int) -> Set<String> {
    Set(hosts.filter { $0.value.gate.opensInARow >= count }.keys)
  }

  /// Some host accepts no requests at this time.
  func hasClosedGate(nowMs: Int64) -> Bool { hosts.values.contains { $0.gate.opensAtMs(nowMs: nowMs) != nil } }

  /// How many connections all hosts together would use if they had enough to send.
  var reach: Int { min(workers, hosts.values.reduce(0) { $0 + $1.gate.limit }) }

  /// The connections of a host while all others use their share.
  func fairShare(nowMs: Int64) -> Int { connectionShares(nowMs: nowMs).fair }

  func gate(host: String) -> HostGate? { hosts[host]?.gate }

  private mutating func addHost(_ name: String) {
    guard hosts[name] == nil else { return }
    hosts[name] = HostQueue(HostGate(newConcurrency(name, workers)))
    turn.append(name)
  }

  // MARK: - Connections

  /// The distribution of connections among the hosts that need some.
  private struct ConnectionShares {
    var fair: Int
    /// Total unused share of all hosts, which must be kept free.
    var reserved = 0
  }

  private func connectionShares(nowMs: Int64) -> ConnectionShares {
    guard hosts.count > 1 else { return ConnectionShares(fair: workers) }
    let wanting = hosts.values.filter { $0.wanted(nowMs: nowMs) > 0 }
    var shares = ConnectionShares(fair: max(1, workers / max(1, wanting.count)))
    guard wanting.count > 1 else { return shares }
    shares.reserved = wanting.reduce(0) { $0 + $1.unusedPlaces(fair: shares.fair, nowMs: nowMs) }
    return shares
  }

  private func leavesRoom(_ host: HostQueue, _ shares: ConnectionShares, nowMs: Int64) -> Bool {
    guard shares.reserved > 0, host.gate.sending >= shares.fair else { return true }
    return workers - sendingCount > shares.reserved - host.unusedPlaces(fair: shares.fair, nowMs: nowMs)
  }
}
