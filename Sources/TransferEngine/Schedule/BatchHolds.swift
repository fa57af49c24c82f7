import TransferLedger
import TransferModel

/// The limits of batches as last read, and the batches past their deadlines. A value; deadlines are milliseconds since
/// 1970 by the current wall clock.
struct BatchHolds: Sendable {
  private var limits: [BatchID: BatchLimits] = [:]
  private(set) var overdue: Set<BatchID> = []
  /// Whether there were deadlines at the last check.
  private var hadDeadlines = false

  subscript(batch: BatchID) -> BatchLimits? { limits[batch] }

  /// Takes the requested limits; returns the batches whose limits changed.
  mutating func take(_ new: [BatchID: BatchLimits]) -> [BatchID] {
    guard new != limits else { return [] }
    let old = limits
    limits = new
    return Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
  }

  /// The time by which bodies must end, by batch, in milliseconds of the boot clock. nil if there are no deadlines and
  /// were none at the last check.
  mutating func takeEnds(civilMs: Int64, bootMs: Int64) -> [BatchID: Int64]? {
    let deadlines = limits.compactMapValues(\.deadlineMs)
    defer { hadDeadlines = !deadlines.isEmpty }
    guard hadDeadlines || !deadlines.isEmpty else { return nil }
    return deadlines.mapValues { bootMs + ($0 - civilMs) }
  }

  /// Notes which deadlines have passed. nil if nothing changed since the last check; else the newly overdue batches.
  mutating func takeOverdue(civilMs: Int64) -> Set<BatchID>? {
    let passed = Set(limits.filter { ($0.value.deadlineMs ?? .max) <= civilMs }.keys)
    guard passed != overdue else { return nil }
    defer { overdue = passed }
    return passed.subtracting(overdue)
  }
}
