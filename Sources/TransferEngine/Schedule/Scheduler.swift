import TransferModel

/// Decides which begun request is sent next: fair across hosts, urgent (control) requests first, then in the order of
/// the claims (which is by priority). A batch that may have only so many requests at a time is passed over while it has
/// them. A host gets the connections that others leave, but their share is kept for those that want it: requests that
/// nobody answers keep their connections for long. A value; it holds no bodies and does no I/O.
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
    /// It has files to send, and none of their requests may be ready yet.
    var isAwaited = false
    /// Bytes a millisecond, and how many were out of what ran then; known only while some batch has a deadline.
    var pace: (bytesPerMs: Double, inFlight: Int64)?

    var queued: Int { urgent.count + ready.count }

    /// Whether a body of so many bytes ends in time behind all that runs. When nothing runs one may always try: the
    /// pace was measured with other bodies, and nothing would measure it again.
    func canEnd(_ bytes: Int64, by endMs: Int64, nowMs: Int64) -> Bool {
      guard bytes > 0, gate.line.sendingBytes > 0, let pace else { return true }
      let ahead = max(0, gate.line.sendingBytes - pace.inFlight)
      return Double(ahead + bytes) <= pace.bytesPerMs * Double(endMs - nowMs)
    }
  }

  /// Of a batch that is held back.
  private struct Share: Sendable {
    var limit: Int
    var sending: Int
  }

  let workers: Int
  /// What a host begins with that is used for the first time.
  private let newConcurrency: @Sendable (_ host: String, _ workers: Int) -> Concurrency
  private var hosts: [String: Host] = [:]
  /// Order in which hosts take turns.
  private var turn: [String] = []
  private var nextTurn = 0
  private var shares: [BatchID: Share] = [:]
  /// When bodies of a batch have to have ended.
  private var ends: [BatchID: Int64] = [:]
  /// When bodies of any batch have to have ended, and how many bytes of bodies may still be begun; nil for no limit.
  private var endMs: Int64?
  private var bytesLeft: Int64?
  /// Of all bodies that run together; nil for no limit. One of any length always may.
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

  /// For all batches together.
  mutating func setLimits(endMs: Int64?, bytes: Int64?) { (self.endMs, bytesLeft) = (endMs, bytes) }

  /// Whether the pace of the hosts has to be told from time to time.
  var hasEnd: Bool { endMs != nil }

  /// Everything that waits for a connection is longer than what is left of the limit in bytes.
  var isOutOfBytes: Bool {
    guard let bytesLeft, readyCount > 0 else { return false }
    return hosts.values.allSatisfy { host in
      host.urgent.isEmpty && host.ready.first(where: { $0.bytes <= bytesLeft }) == nil
    }
  }

  /// How many requests a batch may have at a time; nil for no limit of its own. `sending` are those that run already.
  mutating func setLimit(_ limit: Int?, of batch: BatchID, sending: Int) {
    shares[batch] = limit.map { Share(limit: max(1, $0), sending: sending) }
  }

  /// No body begins that cannot end by the time that is set for its batch, as far as the pace of its host tells.
  /// `inFlight` bytes of bodies are out by now, by host.
  mutating func setEnds(_ ends: [BatchID: Int64], inFlight: [String: Int64], nowMs: Int64) {
    self.ends = ends
    for name in turn {
      let out = inFlight[name] ?? 0
      let pace = ends.isEmpty && endMs == nil ? nil : hosts[name]!.gate.line.bytesPerMs(inFlight: out, nowMs: nowMs)
      hosts[name]!.pace = pace.map { ($0, out) }
    }
  }

  /// How fast the hosts are is measured from now on; `inFlight` bytes of bodies are out by now, by host.
  mutating func measureAnew(inFlight: [String: Int64], nowMs: Int64) {
    for name in turn { hosts[name]!.gate.measureAnew(inFlight: inFlight[name] ?? 0, nowMs: nowMs) }
  }

  /// The next request that may be sent now, taken off its queue; call until nil.
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

  /// A request that was taken has ended; its connection is free.
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

  /// All requests that wait, taken off the queues: nothing more will be sent.
  mutating func takeAllReady() -> [JobID] {
    var all: [Waiting] = []
    for name in turn { all += hosts[name]!.urgent.removeAll { _ in true } + hosts[name]!.ready.removeAll { _ in true } }
    readyCount = 0
    return all.map(\.job)
  }

  /// Waiting requests for which `belongs` is true, taken off the queues.
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

  /// When a closed gate with waiting requests opens by itself; nil when none waits for time.
  func nextOpeningMs(nowMs: Int64) -> Int64? {
    hosts.values.filter { !$0.urgent.isEmpty || !$0.ready.isEmpty }
      .compactMap { $0.gate.opensAtMs(nowMs: nowMs) }.min()
  }

  /// Hosts that have refused connections so often that going on with nothing but them makes no sense.
  func hopelessHosts(afterOpens count: Int) -> Set<String> {
    Set(hosts.filter { $0.value.gate.opensInARow >= count }.keys)
  }

  /// Some host may not be asked at this time.
  func hasClosedGate(nowMs: Int64) -> Bool { hosts.values.contains { $0.gate.opensAtMs(nowMs: nowMs) != nil } }

  /// How many connections all hosts together would use if they had enough to send.
  var reach: Int { min(workers, hosts.values.reduce(0) { $0 + $1.gate.limit }) }

  /// How many connections a host gets while all others want theirs.
  func fairShare(nowMs: Int64) -> Int { connectionShares(nowMs: nowMs).fair }

  func gate(host: String) -> HostGate? { hosts[host]?.gate }

  private mutating func addHost(_ name: String) {
    guard hosts[name] == nil else { return }
    hosts[name] = Host(gate: HostGate(newConcurrency(name, workers)))
    turn.append(name)
  }

  /// How the connections are shared out among the hosts that want some.
  private struct ConnectionShares {
    var fair: Int
    /// Of all hosts together: what is not used of it and must be left.
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

  /// Connections that a host has, or would have at once if there were enough.
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
    // The next in turn waits until it fits: if shorter ones went by, it would wait for ever.
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

/// A queue with amortised constant cost at both ends.
struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head > 64 && head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  func first(where fits: (Element) -> Bool) -> Element? { elements[head...].first(where: fits) }

  /// The first element for which `fits` is true; the others keep their order.
  mutating func popFirst(where fits: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: fits) else { return nil }
    return index == head ? popFirst() : elements.remove(at: index)
  }

  /// Removes and returns the elements for which `belongs` is true; the others keep their order.
  mutating func removeAll(where belongs: (Element) -> Bool) -> [Element] {
    let waiting = elements[head...]
    let taken = waiting.filter(belongs)
    guard !taken.isEmpty else { return [] }
    elements = waiting.filter { !belongs($0) }
    head = 0
    return taken
  }
}
