public import TransferModel

/// The goal of waiting.
public enum WaitGoal: String, Sendable, CaseIterable {
  /// Nothing continues without a person: every file is at rest, paused or past the deadline of its batch.
  case settled
  /// Every file is done, or one of them cannot become done without a person. Waits through a pause.
  case done
}

/// The states of the selected files.
public struct SelectionState: Sendable, Hashable {
  public var totals: StateTotals
  /// How many of the pending files are in a batch past its deadline.
  public var overdue: Int

  package init(totals: StateTotals = StateTotals(), overdue: Int = 0) {
    (self.totals, self.overdue) = (totals, overdue)
  }

  /// Whether none of the files continues without a person.
  public var isSettled: Bool { reaches(.settled) }

  /// The acknowledged fraction of all bytes, from 0 to 1; nil while there are none.
  public var fraction: Double? {
    totals.bytes > 0 ? min(1, Double(totals.bytesAcked) / Double(totals.bytes)) : nil
  }

  public func reaches(_ goal: WaitGoal) -> Bool {
    switch goal {
    case .settled: totals.left == totals.count(.paused) + overdue
    case .done: totals.left == 0 || totals.count(.failed) + totals.count(.unknown) + totals.count(.cancelled) > 0
    }
  }
}

/// How waiting ended.
public struct WaitResult: Sendable, Hashable {
  public var state: SelectionState
  /// In milliseconds.
  public var waitedMs: Int64
  /// The goal was not reached in time.
  public var isTimeout: Bool

  package init(state: SelectionState = SelectionState(), waitedMs: Int64 = 0, isTimeout: Bool = false) {
    (self.state, self.waitedMs, self.isTimeout) = (state, waitedMs, isTimeout)
  }
}

/// The files that are waited for, as selected when waiting began.
package struct AwaitedFiles: Sendable {
  private let filter: RowFilter
  /// Files that the filter selects but that are not waited for, because they were hidden before.
  private let aside: StateTotals

  /// Files that are hidden while waiting still count; files that are hidden now count only if the filter includes them.
  package init(_ selected: RowFilter, _ reader: StoreReader) throws {
    filter = selected.withHidden
    aside =
      selected.leavesOutHidden
      ? try reader.stateTotals(filter).without(try reader.stateTotals(selected)) : StateTotals()
  }

  package func state(_ reader: StoreReader, nowMs: Int64) throws -> SelectionState {
    SelectionState(
      totals: try reader.stateTotals(filter).without(aside), overdue: try reader.overdueFiles(filter, nowMs: nowMs))
  }
}
