import TransferLedger
import TransferModel

/// The hosts of this run, and the choice of the next request to send: owner of the ``Scheduler``. Used by the engine's
/// thread.
final class Hosts {
  private static let longestHoldMs: Int64 = 60_000

  private let engine: Engine
  private(set) var scheduler: Scheduler
  private var states: [String: HostState] = [:]

  init(_ engine: Engine, rate: RunRate) {
    self.engine = engine
    scheduler = Scheduler(
      workers: engine.configuration.workers, bytesAtOnce: rate.bytesAtOnce,
      newConcurrency: { engine.concurrency($0, workers: $1) })
  }

  var all: Dictionary<String, HostState>.Values { states.values }

  /// Created at first use.
  func host(_ name: String) -> HostState {
    if let known = states[name] { return known }
    let host = HostState(name: name)
    states[name] = host
    return host
  }

  /// nil until its first request is ready or expected.
  func gate(_ host: HostState) -> HostGate? { scheduler.gate(host: host.name) }

  /// Connections that may be used at the moment.
  var reach: Int {
    let workers = engine.configuration.workers
    return engine.configuration.startsSlowly ? min(workers, max(Concurrency.usualFirst * 2, scheduler.reach)) : workers
  }

  /// Connections of a host if all others use their share.
  func connections(_ host: HostState) -> Int {
    min(gate(host)?.limit ?? reach, scheduler.fairShare(nowMs: engine.bootMs))
  }

  // MARK: - Requests

  /// A request is prepared and waits for a connection.
  func isReady(_ pending: PendingRequest) {
    scheduler.requestIsReady(
      pending.id, host: pending.host, batch: pending.batch, isUrgent: pending.range == nil,
      bytes: pending.range?.length ?? 0)
  }

  /// What answers may take that are longer than their request asked for; nil for no limit.
  var allowance: ByteAllowance? { scheduler.allowance }

  /// The next request that may be sent now and for which `isHeld` is false; call until nil.
  func takeNext(holding isHeld: (PendingRequest.ID) -> Bool) -> PendingRequest.ID? {
    scheduler.takeNext(nowMs: engine.bootMs, holding: isHeld)
  }

  /// Removes and returns waiting requests for which `belongs` is true: they are not sent.
  func takeReady(where belongs: (PendingRequest.ID) -> Bool) -> [PendingRequest.ID] {
    scheduler.takeReady(where: belongs)
  }

  /// Drops all waiting requests: nothing more is sent.
  func dropReady() { _ = scheduler.takeAllReady() }

  /// A sent request has ended; `bytes` of its body moved. The observer is notified when its host stops or starts to
  /// accept connections.
  func ended(_ pending: PendingRequest, _ outcome: HostGate.Outcome, bytes: Int64, tookMs: Int64) {
    let host = pending.host
    let wasOpen = scheduler.gate(host: host)?.isOpen ?? false
    scheduler.requestEnded(
      pending.id, host: host, batch: pending.batch, outcome, bytes: bytes, length: pending.range?.length ?? 0,
      taken: pending.prepared?.region?.allowed ?? 0, nowMs: engine.bootMs)
    guard let gate = scheduler.gate(host: host) else { return }
    if let range = pending.range {
      switch outcome {
      case .success: pending.destination.host.bodyLength.stored(bytes, tookMs: tookMs, afterLoss: gate.hasLost)
      case .lost: pending.destination.host.bodyLength.lost(bytes, of: range.length)
      case .throttled, .noConnection, .failure, .interrupted: break
      }
    }
    guard gate.isOpen != wasOpen else { return }
    let openMs = (gate.opensAtMs(nowMs: engine.bootMs) ?? engine.bootMs) - engine.bootMs
    engine.observer.notice(gate.isOpen ? .circuitOpened(host: host, forMs: openMs) : .circuitClosed(host: host))
  }

  /// Pays for a retry; returns how long it must wait in addition to its backoff, in milliseconds.
  func chargeRetry(_ pending: PendingRequest, isThrottled: Bool, isLoss: Bool) -> Int64 {
    scheduler.chargeRetry(host: pending.host, isThrottled: isThrottled, isLoss: isLoss)
  }

  // MARK: - Limits

  /// Hosts with files to send, begun or not.
  func expect(_ names: Set<String>) { scheduler.expect(hosts: names) }

  /// Limits the concurrent requests of a batch; nil for no limit of its own. `sending` of them are already running.
  func setLimit(_ limit: Int?, of batch: BatchID, sending: Int) {
    scheduler.setLimit(limit, of: batch, sending: sending)
  }

  /// Sets the time by which bodies must end, by batch; `inFlight` is the number of body bytes sent so far, by host.
  func setEnds(_ ends: [BatchID: Int64], inFlight: [String: Int64]) {
    scheduler.setEnds(ends, inFlight: inFlight, nowMs: engine.bootMs)
  }

  /// Limits the total length of concurrent bodies, in bytes; nil for no limit.
  func setBytesAtOnce(_ bytes: Int64?) { scheduler.bytesAtOnce = bytes }

  /// Sets the time by which all bodies must end, and how many of their bytes may be sent.
  func setLimits(endMs: Int64?, bytes: Int64?) { scheduler.setLimits(endMs: endMs, bytes: bytes) }

  /// The machine slept: `inFlight` is the number of body bytes sent so far, by host.
  func slept(ms: Int64, inFlight: [String: Int64]) {
    scheduler.slept(ms: ms)
    measureAnew(inFlight: inFlight)
  }

  /// After a longer sleep, earlier failures say nothing about the hosts.
  func forgetFailures() { scheduler.forgetFailures() }

  /// Restarts the measurement of the throughput of the hosts.
  func measureAnew(inFlight: [String: Int64]) { scheduler.measureAnew(inFlight: inFlight, nowMs: engine.bootMs) }

  /// Newly learned concurrency of hosts that answer, to be recorded for the next run.
  func takeLearnedConcurrency() -> [(host: String, count: Int)] {
    guard engine.configuration.startsSlowly else { return [] }
    return all.compactMap { host in
      guard let limit = gate(host)?.learnedLimit, limit != host.notedConcurrency else { return nil }
      host.notedConcurrency = limit
      return (host.name, limit)
    }
  }

  // MARK: - Closed hosts

  /// It accepts no requests at the moment.
  func isClosed(_ host: HostState) -> Bool {
    guard let gate = gate(host) else { return false }
    return gate.isOpen || gate.opensAtMs(nowMs: engine.bootMs) != nil
  }

  /// The end of the pause that a host asked for, in wall milliseconds, if it is so late that its files should wait in
  /// the ledger rather than in memory with open attempts. Whether the circuit breaker opened meanwhile is irrelevant.
  func longClosed(_ host: HostState) -> Int64? {
    let nowMs = engine.bootMs
    guard let endMs = gate(host)?.pausedUntilMs, endMs > nowMs + Self.longestHoldMs else { return nil }
    return engine.wallMs + endMs - nowMs
  }

  /// Hosts that asked for a pause which ends later than in `patienceMs`, and when it ends, in wall milliseconds.
  func closed(beyondMs patienceMs: Int64) -> [String: Int64] {
    let patientMs = engine.wallMs + patienceMs
    return all.reduce(into: [:]) { found, host in
      if let opening = longClosed(host), opening > patientMs { found[host.name] = opening }
    }
  }
}
