/// Changes of files waiting for a shared commit, and writes that the ledger has not confirmed yet. A value; times are
/// milliseconds of the boot clock.
///
/// A commit costs as much for one row as for a hundred, so the throughput of small files depends on how many share one.
struct CommitQueue: Sendable {
  /// How long results may wait for others while the connections are busy.
  static let gatheringMs: Int64 = 8
  private static let fullBatch = 128

  private var units: [FileUnit] = []
  /// When the oldest of them was added.
  private var sinceMs: Int64 = 0
  /// Writes passed to the ledger, including writes of rows other than units.
  private(set) var running = 0

  var isEmpty: Bool { units.isEmpty }
  /// Nothing waits to be written, and nothing is being written.
  var isIdle: Bool { units.isEmpty && running == 0 }

  mutating func append(_ unit: FileUnit, nowMs: Int64) {
    if units.isEmpty { sinceMs = nowMs }
    units.append(unit)
  }

  /// Waiting longer would not help.
  func isDue(nowMs: Int64) -> Bool { units.count >= Self.fullBatch || nowMs - sinceMs >= Self.gatheringMs }

  /// When the oldest unit has waited long enough; nil if none waits.
  var dueMs: Int64? { units.isEmpty ? nil : sinceMs + Self.gatheringMs }

  /// Removes and returns all waiting units, for one write.
  mutating func takeAll() -> [FileUnit] {
    defer { units = [] }
    return units
  }

  mutating func writeBegan() { running += 1 }
  mutating func writeEnded() { running -= 1 }
}
