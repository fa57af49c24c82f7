import TransferLedger
import TransferModel

/// The hosts of this run, and which request gets the next connection: owner of the ``Scheduler``. Used by the engine's
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

  /// Made when it is asked for the first time.
  func host(_ name: String) -> HostState {
    if let known = states[name] { return known }
    let host = HostState(name: name)
    states[name] = host
    return host
  }

  /// nil before its first request is ready, and before it is expected.
  func gate(_ host: HostState) -> HostGate? { scheduler.gate(host: host.name) }

  /// Connections that may be used by now.
  var reach: Int {
    let workers = engine.configuration.workers
    return engine.configuration.startsSlowly ? min(workers, max(Concurrency.usualFirst * 2, scheduler.reach)) : workers
  }

  /// Connections that a host may have if all others want theirs.
  func connections(_ host: HostState) -> Int {
    min(gate(host)?.limit ?? reach, scheduler.fairShare(nowMs: engine.bootMs))
  }

  // MARK: - Requests

  /// A request is prepared and waits for a connection.
  func isReady(_ job: Job) {
    scheduler.jobIsReady(
      job.id, host: job.host, batch: job.batch, isUrgent: job.range == nil, bytes: job.range?.length ?? 0)
  }

  /// The next request that may be sent now; call until nil.
  func takeNext() -> Job.ID? { scheduler.takeNext(nowMs: engine.bootMs) }

  /// Waiting requests for which `belongs` is true: they are not sent.
  func takeReady(where belongs: (Job.ID) -> Bool) -> [Job.ID] { scheduler.takeReady(where: belongs) }

  /// Nothing more is sent.
  func dropReady() { _ = scheduler.takeAllReady() }

  /// A request that was taken has ended; `bytes` of its body moved. People are told when its host stops or begins to
  /// take connections.
  func ended(_ job: Job, _ outcome: HostGate.Outcome, bytes: Int64, tookMs: Int64) {
    let host = job.host
    let wasOpen = scheduler.gate(host: host)?.isOpen ?? false
    scheduler.jobEnded(
      job.id, host: host, batch: job.batch, outcome, bytes: bytes, length: job.range?.length ?? 0,
      nowMs: engine.bootMs)
    guard let gate = scheduler.gate(host: host) else { return }
    if let range = job.range {
      switch outcome {
      case .success: job.destination.host.bodyLength.stored(bytes, tookMs: tookMs, afterLoss: gate.hasLost)
      case .lost: job.destination.host.bodyLength.lost(bytes, of: range.length)
      case .throttled, .noConnection, .failure, .interrupted: break
      }
    }
    guard gate.isOpen != wasOpen else { return }
    let openMs = (gate.opensAtMs(nowMs: engine.bootMs) ?? engine.bootMs) - engine.bootMs
    engine.observer.notice(gate.isOpen ? .circuitOpened(host: host, forMs: openMs) : .circuitClosed(host: host))
  }

  /// Pays for a retry; returns how long it must wait in addition to its backoff, in milliseconds.
  func chargeRetry(_ job: Job, isThrottled: Bool, isLoss: Bool) -> Int64 {
    scheduler.chargeRetry(host: job.host, isThrottled: isThrottled, isLoss: isLoss)
  }

  // MARK: - Limits

  /// Hosts with files to send, begun or not.
  func expect(_ names: Set<String>) { scheduler.expect(hosts: names) }

  /// How many requests a batch may have at a time; nil for no limit of its own. `sending` are those that run already.
  func setLimit(_ limit: Int?, of batch: BatchID, sending: Int) {
    scheduler.setLimit(limit, of: batch, sending: sending)
  }

  /// When bodies have to have ended, by batch; `inFlight` bytes of bodies are out by now, by host.
  func setEnds(_ ends: [BatchID: Int64], inFlight: [String: Int64]) {
    scheduler.setEnds(ends, inFlight: inFlight, nowMs: engine.bootMs)
  }

  /// How many bytes of bodies may run at a time; nil for no limit.
  func setBytesAtOnce(_ bytes: Int64?) { scheduler.bytesAtOnce = bytes }

  /// When all bodies have to have ended, and how many bytes of them may move.
  func setLimits(endMs: Int64?, bytes: Int64?) { scheduler.setLimits(endMs: endMs, bytes: bytes) }

  /// How fast the hosts are is measured from now on.
  func measureAnew(inFlight: [String: Int64]) { scheduler.measureAnew(inFlight: inFlight, nowMs: engine.bootMs) }

  /// What was learned since the last time of hosts that answer, to be noted for the next run.
  func takeLearnedConcurrency() -> [(host: String, count: Int)] {
    guard engine.configuration.startsSlowly else { return [] }
    return all.compactMap { host in
      guard let limit = gate(host)?.learnedLimit, limit != host.notedConcurrency else { return nil }
      host.notedConcurrency = limit
      return (host.name, limit)
    }
  }

  // MARK: - Closed hosts

  /// Takes nothing for the time being.
  func isClosed(_ host: HostState) -> Bool {
    guard let gate = gate(host) else { return false }
    return gate.isOpen || gate.opensAtMs(nowMs: engine.bootMs) != nil
  }

  /// When a host may be asked again, in wall milliseconds, if that is so far off that its files had better wait in the
  /// ledger than in memory with their attempts open.
  func longClosed(_ host: HostState) -> Int64? {
    let nowMs = engine.bootMs
    guard let gate = gate(host), let opening = gate.opensAtMs(nowMs: nowMs), opening - nowMs > Self.longestHoldMs,
      !gate.isOpen
    else { return nil }
    return engine.wallMs + opening - nowMs
  }
}
