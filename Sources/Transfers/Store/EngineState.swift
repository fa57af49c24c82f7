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
    return (kill(pid, 0) == 0 || errno == EPERM) && !isZombie(pid)
  }

  /// A killed process keeps its number until its parent takes note. Without /proc, nothing is known.
  private static func isZombie(_ pid: pid_t) -> Bool {
    guard let file = fopen("/proc/\(pid)/stat", "r") else { return false }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = bytes.prefix(count)
    // The name, in parentheses, may contain anything: proc_pid_stat(5).
    guard let end = text.lastIndex(of: UInt8(ascii: ")")), text.count > end + 2 else { return false }
    return [UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(text[end + 2])
  }
}
