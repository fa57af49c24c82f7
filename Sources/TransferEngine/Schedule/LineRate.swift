/// How fast bodies move to a host, all of them together, while any runs. A value; times are CLOCK_BOOTTIME
/// milliseconds.
struct LineRate: Sendable, Hashable {
  private static let leastMs: Int64 = 1_000
  private static let leastBytes: Int64 = 64 << 10
  private static let memoryMs: Int64 = 30_000

  private var running = 0
  private var busySinceMs: Int64 = 0
  private var busyMs: Int64 = 0
  private var bytes: Int64 = 0
  /// The lengths of the bodies that run.
  private(set) var sendingBytes: Int64 = 0

  mutating func started(_ length: Int64, nowMs: Int64) {
    guard length > 0 else { return }
    if running == 0 { busySinceMs = nowMs }
    running += 1
    sendingBytes += length
  }

  /// Of a body of `length` bytes that ended, `sent` went out.
  mutating func ended(_ length: Int64, sent: Int64, nowMs: Int64) {
    guard length > 0 else { return }
    running -= 1
    sendingBytes -= length
    bytes += sent
    busyMs += nowMs - busySinceMs
    busySinceMs = nowMs
    if busyMs > Self.memoryMs { (busyMs, bytes) = (busyMs / 2, bytes / 2) }
  }

  /// What was measured before counts no more: what went out first filled buffers on the way. `inFlight` as below.
  mutating func measureAnew(inFlight: Int64, nowMs: Int64) {
    (bytes, busyMs, busySinceMs) = (-inFlight, 0, nowMs)
  }

  /// Bytes a millisecond; nil while too little is known. `inFlight` bytes of the bodies that run are out by now.
  func bytesPerMs(inFlight: Int64, nowMs: Int64) -> Double? {
    let ms = busyMs + (running > 0 ? nowMs - busySinceMs : 0)
    let moved = bytes + inFlight
    return ms < Self.leastMs || moved < Self.leastBytes ? nil : Double(moved) / Double(ms)
  }
}

/// Which bodies end before a stop. Those side by side share a line: when all of them cannot end in time, some can if
/// the others make room.
enum DrainPlan {
  struct Body: Sendable, Hashable {
    var job: Scheduler.JobID
    /// Bytes that are not out yet.
    var left: Int64
    /// Stopping it does no harm but to what was sent of it.
    var mayBeCut: Bool
  }

  /// Of the time that is left: what counts as sent may still be in a buffer of the system, and answers take their time.
  private static let share = 0.9

  /// The bodies that cannot end in time, neither when the shorter ones go first nor when all go on at the same pace.
  static func hopeless(_ bodies: [Body], bytesPerMs: Double, withinMs: Int64) -> [Scheduler.JobID] {
    var ahead = bodies.filter { !$0.mayBeCut }.reduce(0) { $0 + $1.left }
    var found: [Scheduler.JobID] = []
    let most = bytesPerMs * Double(withinMs) * share
    for body in bodies.filter(\.mayBeCut).sorted(by: { ($0.left, $0.job) < ($1.left, $1.job) }) {
      if body.left > 0, Double(ahead + body.left) > most {
        found.append(body.job)
      } else {
        ahead += body.left
      }
    }
    return found
  }
}
