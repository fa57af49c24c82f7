/// The critical path of a batch: backwards from the attempt that ended last, each time to the attempt that had most
/// recently ended when this one began. Times are milliseconds.
package struct CriticalPath: Sendable {
  package struct Step: Sendable, Hashable {
    package let attempt: Int64
    package let startedMs: Int64
    package let endedMs: Int64

    package init(attempt: Int64, startedMs: Int64, endedMs: Int64) {
      (self.attempt, self.startedMs, self.endedMs) = (attempt, startedMs, endedMs)
    }
  }

  private var steps: [Step] = []

  package init() {}

  package mutating func add(_ step: Step) { steps.append(step) }

  /// In the order of time: each begins when the one before has ended, or later.
  package var path: [Step] {
    let byEnd = steps.sorted { ($0.endedMs, $0.attempt) < ($1.endedMs, $1.attempt) }
    var path: [Step] = []
    var index = byEnd.count - 1
    while index >= 0 {
      let step = byEnd[index]
      path.append(step)
      index = Self.count(byEnd[..<index], endedBy: step.startedMs) - 1
    }
    return path.reversed()
  }

  /// How many of them have ended at this time.
  private static func count(_ steps: ArraySlice<Step>, endedBy ms: Int64) -> Int {
    var (low, high) = (0, steps.count)
    while low < high {
      let middle = (low + high) / 2
      if steps[middle].endedMs <= ms { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
