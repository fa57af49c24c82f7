/// When to check whether only unreachable hosts are left: at most once a second, and only while no write or claim is
/// running that could bring work. A check that was skipped because the engine was busy is made as soon as it is idle: a
/// claim every second must not keep a run alive forever. A value; times are milliseconds of the boot clock.
struct UnreachableWatch: Sendable {
  private static let everyMs: Int64 = 1_000

  private var nextMs: Int64 = 0

  /// Whether to check now; the next check is a second later.
  mutating func takesLook(nowMs: Int64, isIdle: Bool) -> Bool {
    guard nowMs >= nextMs, isIdle else { return false }
    nextMs = nowMs + Self.everyMs
    return true
  }
}
