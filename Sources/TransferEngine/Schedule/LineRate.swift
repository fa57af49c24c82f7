/// The total throughput of bodies to a host while any are running. A value; times are CLOCK_BOOTTIME milliseconds.
struct LineRate: Sendable, Hashable {
  private static let leastMs: Int64 = 1_000
  private static let leastBytes: Int64 = 64 << 10
  private static let memoryMs: Int64 = 30_000

  private var running = 0
  private var busySinceMs: Int64 = 0
  private var busyMs: Int64 = 0
  private var bytes: Int64 = 0
  /// Total length of the running bodies.
  private(set) var sendingBytes: Int64 = 0

  mutating func started(_ length: Int64, nowMs: Int64) {
    guard length > 0 else { return }
    if running == 0 { busySinceMs = nowMs }
    running += 1
    sendingBytes += length
  }

  /// A body of `length` bytes ended; `sent` of them were sent.
  mutating func ended(_ length: Int64, sent: Int64, nowMs: Int64) {
    guard length > 0 else { return }
    running -= 1
    sendingBytes -= length
    bytes += sent
    busyMs += nowMs - busySinceMs
    busySinceMs = nowMs
    if busyMs > Self.memoryMs { (busyMs, bytes) = (busyMs / 2, bytes / 2) }
  }

  /// Restarts the measurement, because the first bytes only filled buffers on the way. `inFlight` as below.
  mutating func measureAnew(inFlight: Int64, nowMs: Int64) {
    (bytes, busyMs, busySinceMs) = (-inFlight, 0, nowMs)
  }

  /// Bytes per millisecond; nil while too little is known. `inFlight` bytes of the running bodies were sent so far.
  func bytesPerMs(inFlight: Int64, nowMs: Int64) -> Double? {
    let ms = busyMs + (running > 0 ? nowMs - busySinceMs : 0)
    let moved = bytes + inFlight
    return ms < Self.leastMs || moved < Self.leastBytes ? nil : Double(moved) / Double(ms)
  }
}

/// Decides which bodies may complete before a stop. Parallel bodies share the bandwidth: if not all can complete in
/// time, some can if the others are interrupted.
enum DrainPlan {
  struct Body: Sendable, Hashable {
    var request: Scheduler.RequestID
    /// Bytes that are not sent yet.
    var left: Int64
    /// Interrupting it is harmless, except that sent bytes are wasted.
    var mayBeCut: Bool
  }

  /// Usable share of the remaining time: sent bytes may still be in a kernel buffer, and answers take time.
  private static let share = 0.9

  /// The bodies that cannot complete in time, neither if shorter ones go first nor if all continue at the same rate.
  static func hopeless(_ bodies: [Body], bytesPerMs: Double, withinMs: Int64) -> [Scheduler.RequestID] {
    var ahead = bodies.filter { !$0.mayBeCut }.reduce(0) { $0 + $1.left }
    var found: [Scheduler.RequestID] = []
    let most = bytesPerMs * Double(withinMs) * share
    for body in bodies.filter(\.mayBeCut).sorted(by: { ($0.left, $0.request) < ($1.left, $1.request) }) {
      if body.left > 0, Double(ahead + body.left) > most {
        found.append(body.request)
      } else {
        ahead += body.left
      }
    }
    return found
  }
}
