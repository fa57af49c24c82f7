import TransferLedger
import TransferModel

/// How batches are held back, as it was last seen, and which of them are past their deadlines. A value; deadlines are
/// milliseconds since 1970 by the present wall clock.
struct BatchHolds: Sendable {
  private var limits: [BatchID: BatchLimits] = [:]
  private(set) var overdue: Set<BatchID> = []
  /// At the last look.
  private var hadDeadlines = false

  subscript(batch: BatchID) -> BatchLimits? { limits[batch] }

  /// Takes what people want now; gives the batches whose limits changed.
  mutating func take(_ new: [BatchID: BatchLimits]) -> [BatchID] {
    guard new != limits else { return [] }
    let old = limits
    limits = new
    return Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
  }

  /// When bodies have to have ended, by batch, in milliseconds of the boot clock. nil when there are no deadlines, and
  /// were none at the last look.
  mutating func takeEnds(civilMs: Int64, bootMs: Int64) -> [BatchID: Int64]? {
    let deadlines = limits.compactMapValues(\.deadlineMs)
    defer { hadDeadlines = !deadlines.isEmpty }
    guard hadDeadlines || !deadlines.isEmpty else { return nil }
    return deadlines.mapValues { bootMs + ($0 - civilMs) }
  }

  /// Notes which deadlines have passed. nil when that is as it was at the last look; else the batches that are new.
  mutating func takeOverdue(civilMs: Int64) -> Set<BatchID>? {
    let passed = Set(limits.filter { ($0.value.deadlineMs ?? .max) <= civilMs }.keys)
    guard passed != overdue else { return nil }
    defer { overdue = passed }
    return passed.subtracting(overdue)
  }
}
