import TransferModel

/// Decides which begun request is sent next: fair across hosts, urgent (control) requests first, then in claim order
/// (by priority). A batch that has reached its limit of concurrent requests is skipped. A host may use connections that
/// others do not need, but each keeps its share available, because requests without an answer keep their connections
/// for long. A value; it holds no bodies and does no I/O.
struct Scheduler: Sendable {
  typealias JobID = UInt64

  private struct Waiting: Sendable {
    let job: JobID
    let batch: BatchID
    let bytes: Int64
  }

  private struct Host: Sendable {
    var gate: HostGate
    var urgent = FIFO<Waiting>()
    var ready = FIFO<Waiting>()
    /// It has files to send, but none of their requests may be ready yet.
    var isAwaited = false
    /// Bytes per millisecond, and how many bytes of running bodies were sent at that time; known only while some batch
    /// has a deadline.
    var pace: (bytesPerMs: Double, inFlight: Int64)?

    var queued: Int { urgent.count + ready.count }

    /// Whether a body of `bytes` ends in time after all running ones. If nothing is running it may always be tried: the
    /// rate was measured with other bodies, and nothing else would measure it again.
    func canEnd(_ bytes: Int64, by endMs: Int64, nowMs: Int64) -> Bool {
      guard bytes > 0, gate.line.sendingBytes > 0, let pace else { return true }
      let ahead = max(0, gate.line.sendingBytes - pace.inFlight)
      return Double(ahead + bytes) <= pace.bytesPerMs * Double(endMs - nowMs)
    }
  }

  /// The limit of a batch.
  private struct Share: Sendable {
    var limit: Int
    var sending: Int
  }

  let workers: Int
  /// The initial concurrency of a new host.
  private let newConcurrency: @Sendable (_ host: String, _ workers: Int) -> Concurrency
  private var hosts: [String: Host] = [:]
  /// Order in which hosts take turns.
  private var turn: [String] = []
  private var nextTurn = 0
  private var shares: [BatchID: Share] = [:]
  /// The time by which bodies of a batch must end.
  private var ends: [BatchID: Int64] = [:]
  /// The time by which all bodies must end, and how many bytes of bodies may still be begun; nil for no limit.
  private var endMs: Int64?
  private(set) var bytesLeft: Int64?
  /// The byte limit of the whole run.
  private var mostBytes: Int64?
  /// Limit of the total length of running bodies; nil for no limit. A single body of any length is always allowed.
  var bytesAtOnce: Int64?
  private var sendingBytes: Int64 = 0
  private(set) var sendingCount = 0
  private(set) var readyCount = 0

  init(
    workers: Int, bytesAtOnce: Int64? = nil,
    newConcurrency: @escaping @Sendable (_ host: String, _ workers: Int) -> Concurrency = {
      Concurrency(first: Concurrency.usualFirst, highest: $1, isExplicit: false)
    }
  ) {
    self.workers = max(1, workers)
    self.bytesAtOnce = bytesAtOnce
    self.newConcurrency = newConcurrency
  }

  /// Hosts with files to send, begun or not.
  mutating func expect(hosts names: Set<String>) {
    for name in names { addHost(name) }
    for name in turn { hosts[name]!.isAwaited = names.contains(name) }
  }

  /// A request is prepared and waits for a connection.
  mutating func jobIsReady(_ job: JobID, host: String, batch: BatchID, isUrgent: Bool, bytes: Int64 = 0) {
    addHost(host)
    readyCount += 1
    let waiting = Waiting(job: job, batch: batch, bytes: bytes)
    if isUrgent { hosts[host]!.urgent.append(waiting) } else { hosts[host]!.ready.append(waiting) }
  }

  /// Limits for all batches together.
  mutating func setLimits(endMs: Int64?, bytes: Int64?) { (self.endMs, bytesLeft, mostBytes) = (endMs, bytes, bytes) }

  /// Whether the throughput of the hosts is needed from time to time.
  var hasEnd: Bool { endMs != nil }

  /// Every waiting body is longer than the bytes left of the limit.
  var isOutOfBytes: Bool {
    guard let bytesLeft, readyCount > 0 else { return false }
    return hosts.values.allSatisfy { host in
      host.urgent.isEmpty && host.ready.first(where: { $0.bytes <= bytesLeft }) == nil
    }
  }

  /// The number of waiting bodies of a host that are longer than the whole byte limit: they never begin in this run.
  func tooLongCount(host: String) -> Int {
    guard let mostBytes, let host = hosts[host] else { return 0 }
    return host.ready.count { $0.bytes > mostBytes }
  }

  /// Whether all waiting bodies are longer than the whole byte limit.
  var areAllTooLong: Bool { readyCount == turn.reduce(0) { $0 + tooLongCount(host: $1) } }

  /// Limits the concurrent requests of a batch; nil for no limit of its own. `sending` of them are already running.
  mutating func setLimit(_ limit: Int?, of batch: BatchID, sending: Int) {
    shares[batch] = limit.map { Share(limit: max(1, $0), sending: sending) }
  }

  /// No body begins that cannot end by the time set for its batch, according to the throughput of its host. `inFlight`
  /// is the number of body bytes sent so far, by host.
  mutating func setEnds(_ ends: [BatchID: Int64], inFlight: [String: Int64], nowMs: Int64) {
    self.ends = ends
    for name in turn {
      let out = inFlight[name] ?? 0
      let pace = ends.isEmpty && endMs == nil ? nil : hosts[name]!.gate.line.bytesPerMs(inFlight: out, nowMs: nowMs)
      hosts[name]!.pace = pace.map { ($0, out) }
    }
  }

  /// Restarts the measurement of the throughput of the hosts; `inFlight` is the number of body bytes sent so far, by
  /// host.
  mutating func measureAnew(inFlight: [String: Int64], nowMs: Int64) {
    for name in turn { hosts[name]!.gate.measureAnew(inFlight: inFlight[name] ?? 0, nowMs: nowMs) }
  }

  /// Removes and returns the next request that may be sent now; call until nil.
  mutating func takeNext(nowMs: Int64) -> JobID? {
    guard sendingCount < workers, readyCount > 0 else { return nil }
    let shares = connectionShares(nowMs: nowMs)
    for step in 0..<turn.count {
      let index = (nextTurn + step) % turn.count
      let name = turn[index]
      guard hosts[name]!.gate.allowsAnother(nowMs: nowMs), leavesRoom(hosts[name]!, shares, nowMs: nowMs),
        let next = pop(name, nowMs: nowMs)
      else { continue }
      nextTurn = (index + 1) % turn.count
      hosts[name]!.gate.started(next.job, length: next.bytes, nowMs: nowMs)
      sendingCount += 1
      readyCount -= 1
      return next.job
    }
    return nil
  }

  /// A sent request has ended; its connection is free.
  mutating func jobEnded(
    _ job: JobID, host: String, batch: BatchID, _ outcome: HostGate.Outcome, bytes: Int64 = 0, length: Int64 = 0,
    nowMs: Int64
  ) {
    sendingCount -= 1
    sendingBytes -= length
    bytesLeft = bytesLeft.map { $0 + max(0, length - bytes) }
    if !shares.isEmpty { shares[batch]?.sending -= 1 }
    hosts[host]?.gate.ended(job, outcome, bytes: bytes, length: length, nowMs: nowMs)
  }

  /// Removes and returns all waiting requests: nothing more will be sent.
  mutating func takeAllReady() -> [JobID] {
    var all: [Waiting] = []
    for name in turn { all += hosts[name]!.urgent.removeAll { _ in true } + hosts[name]!.ready.removeAll { _ in true } }
    readyCount = 0
    return all.map(\.job)
  }

  /// Removes and returns waiting requests for which `belongs` is true.
  mutating func takeReady(where belongs: (JobID) -> Bool) -> [JobID] {
    var taken: [Waiting] = []
    for name in turn {
      taken += hosts[name]!.urgent.removeAll { belongs($0.job) } + hosts[name]!.ready.removeAll { belongs($0.job) }
    }
    readyCount -= taken.count
    return taken.map(\.job)
  }

  mutating func chargeRetry(host: String, isThrottled: Bool, isLoss: Bool) -> Int64 {
    addHost(host)
    return hosts[host]!.gate.chargeRetry(isThrottled: isThrottled, isLoss: isLoss)
  }

  /// When the next closed gate with waiting requests opens; nil if none waits for time.
  func nextOpeningMs(nowMs: Int64) -> Int64? {
    hosts.values.filter { !$0.urgent.isEmpty || !$0.ready.isEmpty }
      .compactMap { $0.gate.opensAtMs(nowMs: nowMs) }.min()
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
    hosts[name] = Host(gate: HostGate(newConcurrency(name, workers)))
    turn.append(name)
  }

  /// The distribution of connections among the hosts that need some.
  private struct ConnectionShares {
    var fair: Int
    /// Total unused share of all hosts, which must be kept free.
    var reserved = 0
  }

  private func connectionShares(nowMs: Int64) -> ConnectionShares {
    guard hosts.count > 1 else { return ConnectionShares(fair: workers) }
    let wanting = hosts.values.filter { wanted($0, nowMs: nowMs) > 0 }
    var shares = ConnectionShares(fair: max(1, workers / max(1, wanting.count)))
    guard wanting.count > 1 else { return shares }
    shares.reserved = wanting.reduce(0) { $0 + reserve($1, fair: shares.fair, nowMs: nowMs) }
    return shares
  }

  /// Connections that a host uses, or would use if there were enough.
  private func wanted(_ host: Host, nowMs: Int64) -> Int {
    let gate = host.gate
    guard gate.opensAtMs(nowMs: nowMs) == nil else { return gate.sending }
    if gate.window?.isFull == true { return gate.sending + host.urgent.count }
    let isToCome = host.isAwaited && host.queued == 0
    return max(gate.sending, min(gate.isOpen ? 1 : gate.limit, gate.sending + host.queued + (isToCome ? 1 : 0)))
  }

  private func reserve(_ host: Host, fair: Int, nowMs: Int64) -> Int {
    max(0, min(fair, wanted(host, nowMs: nowMs)) - host.gate.sending)
  }

  private func leavesRoom(_ host: Host, _ shares: ConnectionShares, nowMs: Int64) -> Bool {
    guard shares.reserved > 0, host.gate.sending >= shares.fair else { return true }
    return workers - sendingCount > shares.reserved - reserve(host, fair: shares.fair, nowMs: nowMs)
  }

  private mutating func pop(_ name: String, nowMs: Int64) -> Waiting? {
    let (shares, ends, host, endMs, bytesLeft) = (shares, ends, hosts[name]!, endMs, bytesLeft)
    let mayGo = { (waiting: Waiting) in
      waiting.bytes <= bytesLeft ?? .max && (endMs.map { host.canEnd(waiting.bytes, by: $0, nowMs: nowMs) } ?? true)
        && (shares.isEmpty || shares[waiting.batch].map { $0.sending < $0.limit } ?? true)
        && (ends.isEmpty || ends[waiting.batch].map { host.canEnd(waiting.bytes, by: $0, nowMs: nowMs) } ?? true)
    }
    if let next = hosts[name]!.urgent.popFirst(where: mayGo) { return taken(next) }
    // The next one waits until it fits: if shorter ones could overtake it, it would wait forever.
    guard let next = hosts[name]!.ready.first(where: mayGo), fits(next),
      hosts[name]!.gate.takes(next.bytes, nowMs: nowMs)
    else {
      return nil
    }
    return hosts[name]!.ready.popFirst(where: mayGo).flatMap { taken($0) }
  }

  private func fits(_ waiting: Waiting) -> Bool {
    guard let bytesAtOnce, sendingBytes > 0 else { return true }
    return waiting.bytes <= bytesAtOnce - sendingBytes
  }

  private mutating func taken(_ waiting: Waiting) -> Waiting {
    if !shares.isEmpty { shares[waiting.batch]?.sending += 1 }
    sendingBytes += waiting.bytes
    bytesLeft = bytesLeft.map { $0 - waiting.bytes }
    return waiting
  }
}
