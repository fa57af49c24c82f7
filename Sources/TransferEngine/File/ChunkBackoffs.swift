/// The chunks of an active file that are backing off, with their retry times. A value; times are milliseconds since
/// 1970 by the run's own clock.
struct ChunkBackoffs: Sendable {
  /// When this many chunks have failed, untried chunks wait until one of the failed ones succeeds, so that a server
  /// that refuses all of them does not get a request for each.
  static let mostFailing = 4

  private var untilMs: [Int64]

  init(_ untilMs: [Int64] = []) { self.untilMs = untilMs }

  var count: Int { untilMs.count }
  var isEmpty: Bool { untilMs.isEmpty }
  var isFailingWidely: Bool { count >= Self.mostFailing }
  /// When the first of them may be sent again; nil if there are none.
  var firstMs: Int64? { untilMs.min() }

  /// When the first of those that are not yet due may be sent again; nil if there are none.
  func nextMs(after nowMs: Int64) -> Int64? {
    var next: Int64?
    for due in untilMs where due > nowMs { next = min(next ?? .max, due) }
    return next
  }

  /// True if some chunk may be sent again.
  func isAnyDue(nowMs: Int64) -> Bool { untilMs.contains { $0 <= nowMs } }

  func dueCount(nowMs: Int64) -> Int { untilMs.count { $0 <= nowMs } }

  mutating func add(_ count: Int = 1, untilMs ms: Int64) {
    untilMs += Array(repeating: ms, count: max(0, count))
  }

  /// `count` chunks begin: due chunks are removed first; the others keep their place among the failed chunks.
  mutating func begin(_ count: Int, nowMs: Int64) {
    var left = count
    untilMs.removeAll { until in
      guard until <= nowMs, left > 0 else { return false }
      left -= 1
      return true
    }
  }

  /// `count` of them turned out to be stored.
  mutating func drop(_ count: Int) { untilMs.removeLast(min(count, untilMs.count)) }

  mutating func removeAll() { untilMs = [] }
}
