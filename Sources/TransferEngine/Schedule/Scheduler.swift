import TransferModel

/// Decides which begun request is sent next: fair across hosts, urgent (control) requests first, then in the order of
/// the claims (which is by priority). A value; it holds no bodies and does no I/O.
struct Scheduler: Sendable {
  typealias JobID = UInt64

  private struct Host: Sendable {
    var gate: HostGate
    var urgent = FIFO<JobID>()
    var ready = FIFO<JobID>()
  }

  let workers: Int
  private var hosts: [String: Host] = [:]
  /// Order in which hosts take turns.
  private var turn: [String] = []
  private var nextTurn = 0
  private(set) var sendingCount = 0
  private(set) var readyCount = 0

  init(workers: Int) { self.workers = max(1, workers) }

  /// A request is prepared and waits for a connection.
  mutating func jobIsReady(_ job: JobID, host: String, isUrgent: Bool) {
    addHost(host)
    readyCount += 1
    if isUrgent { hosts[host]!.urgent.append(job) } else { hosts[host]!.ready.append(job) }
  }

  /// The next request that may be sent now, taken off its queue; call until nil.
  mutating func takeNext(nowMs: Int64) -> JobID? {
    guard sendingCount < workers, readyCount > 0 else { return nil }
    for step in 0..<turn.count {
      let index = (nextTurn + step) % turn.count
      let name = turn[index]
      guard hosts[name]!.gate.allowsAnother(nowMs: nowMs), let job = popJob(name) else { continue }
      nextTurn = (index + 1) % turn.count
      hosts[name]!.gate.started()
      sendingCount += 1
      readyCount -= 1
      return job
    }
    return nil
  }

  /// A request that was taken has ended; its connection is free.
  mutating func jobEnded(host: String, _ outcome: HostGate.Outcome, nowMs: Int64) {
    sendingCount -= 1
    hosts[host]?.gate.ended(outcome, nowMs: nowMs)
  }

  /// All requests that wait, taken off the queues: nothing more will be sent.
  mutating func takeAllReady() -> [JobID] {
    var all: [JobID] = []
    for name in turn {
      while let job = popJob(name) { all.append(job) }
    }
    readyCount = 0
    return all
  }

  /// Waiting requests for which `belongs` is true, taken off the queues.
  mutating func takeReady(where belongs: (JobID) -> Bool) -> [JobID] {
    var taken: [JobID] = []
    for name in turn {
      taken += hosts[name]!.urgent.removeAll(where: belongs) + hosts[name]!.ready.removeAll(where: belongs)
    }
    readyCount -= taken.count
    return taken
  }

  mutating func chargeRetry(host: String, isThrottled: Bool) -> Int64 {
    addHost(host)
    return hosts[host]!.gate.chargeRetry(isThrottled: isThrottled)
  }

  /// When a closed gate with waiting requests opens by itself; nil when none waits for time.
  func nextOpeningMs(nowMs: Int64) -> Int64? {
    hosts.values.filter { !$0.urgent.isEmpty || !$0.ready.isEmpty }
      .compactMap { $0.gate.opensAtMs(nowMs: nowMs) }.min()
  }

  /// Every host that was used has refused connections so often that going on makes no sense.
  func isHopeless(afterOpens count: Int) -> Bool {
    !hosts.isEmpty && hosts.values.allSatisfy { $0.gate.opensInARow >= count }
  }

  /// Some host may not be asked at this time.
  func hasClosedGate(nowMs: Int64) -> Bool { hosts.values.contains { $0.gate.opensAtMs(nowMs: nowMs) != nil } }

  func gate(host: String) -> HostGate? { hosts[host]?.gate }

  private mutating func addHost(_ name: String) {
    guard hosts[name] == nil else { return }
    hosts[name] = Host(gate: HostGate(highest: workers))
    turn.append(name)
  }

  private mutating func popJob(_ name: String) -> JobID? {
    hosts[name]!.urgent.popFirst() ?? hosts[name]!.ready.popFirst()
  }
}

/// A queue with amortised constant cost at both ends.
struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }

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
