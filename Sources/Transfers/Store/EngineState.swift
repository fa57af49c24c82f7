public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The engine of a store, as far as one can tell from outside.
public struct EngineState: Sendable, Hashable {
  /// Not ended, heard of within a minute, and, on this machine, a process.
  public let isAlive: Bool
  /// The run that goes on, or was the last; nil when none ever was.
  public let run: RunRow?

  /// Within one boot the minute is one of the boot clock, whatever was done to the wall clock.
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
