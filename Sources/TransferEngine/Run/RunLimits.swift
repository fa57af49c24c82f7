import TransferModel

/// The limits of a run in time and bytes. No body begins that would exceed either. When the time is over, or no further
/// body fits, the run is drained. Used by the engine's thread.
final class RunLimits {
  private let engine: Engine
  private let stop: RunStop
  private let hosts: Hosts
  private let requests: Requests
  private let shutdown: Shutdown
  /// By the boot clock; nil for no limit.
  private let endMs: Int64?

  init(_ engine: Engine, stop: RunStop, hosts: Hosts, requests: Requests, shutdown: Shutdown) {
    (self.engine, self.stop, self.hosts, self.requests, self.shutdown) = (engine, stop, hosts, requests, shutdown)
    endMs = engine.configuration.maxDurationMs.map { engine.bootMs +| $0 }
    hosts.setLimits(endMs: endMs, bytes: engine.configuration.maxBytes)
  }

  func apply() {
    guard !stop.isStopping else { return }
    if let endMs, engine.bootMs >= endMs { return end() }
    // Running requests may return bytes that they did not move.
    if hosts.scheduler.isOutOfBytes, hosts.scheduler.sendingCount == 0 { end() }
  }

  func waitMs(nowMs: Int64) -> Int64 { endMs.map { stop.isStopping ? .max : max(1, $0 - nowMs) } ?? .max }

  private func end() {
    shutdown.ask(.drain)
    stop.end(for: .limit)
  }
}
