/// When it is looked whether anything but unreachable hosts is left: at most once a second, and only while nothing is
/// being written or claimed, which could bring work. A look that found the engine busy is made up for as soon as it is
/// idle: a claim every second must not keep a run alive for ever. A value; times are milliseconds of the boot clock.
struct UnreachableWatch: Sendable {
  private static let everyMs: Int64 = 1_000

  private var nextMs: Int64 = 0

  /// Whether to look now; the next look is a second later.
  mutating func takesLook(nowMs: Int64, isIdle: Bool) -> Bool {
    guard nowMs >= nextMs, isIdle else { return false }
    nextMs = nowMs + Self.everyMs
    return true
  }
}
