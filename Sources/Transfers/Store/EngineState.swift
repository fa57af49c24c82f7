public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The engine of a store, as far as it can be observed from outside.
public struct EngineState: Sendable, Hashable {
  /// Whether its run has not ended, its last heartbeat is less than a minute old and, if it is on this machine, its
  /// process exists.
  public let isAlive: Bool
  /// The current or last run; nil if there never was one.
  public let run: RunRow?

  /// Within one boot the minute is measured by the boot clock, so that changes of the wall clock do not matter.
  package init(_ run: RunRow?, _ clock: any TransferClock, bootID: String = HostFacts.bootID) {
    self.run = run
    isAlive = run.map { $0.endedMs == nil && Self.wasHeard($0, clock, bootID) && Self.mayExist($0) } ?? false
  }

  private static func wasHeard(_ run: RunRow, _ clock: any TransferClock, _ bootID: String) -> Bool {
    let silenceMs =
      if run.bootID == bootID, let heardMs = run.heartbeatBootMs { clock.bootMs -| heardMs } else {
        clock.wallMs -| run.heartbeatMs
      }
    return silenceMs < 60_000
  }

  private static func mayExist(_ run: RunRow) -> Bool {
    guard HostFacts.name == run.host, let pid = pid_t(exactly: run.pid) else { return true }
    return kill(pid, 0) == 0 || errno == EPERM
  }
}
