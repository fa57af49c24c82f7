public import TransferModel

/// The states of the selected files, whichever process sends them: the initial state and every change, at most five
/// times a second. It is read on demand, so that a slow reader gets the newest state and nothing accumulates. The last
/// state is settled; then the sequence ends, as it does when the task is cancelled.
public struct ProgressSequence: AsyncSequence, Sendable {
  let watch: StoreWatch
  let filter: RowFilter

  public func makeAsyncIterator() -> Iterator { Iterator(watch: watch, filter: filter) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    private let watch: StoreWatch
    private let filter: RowFilter
    private var pace: WatchPace
    private var last: SelectionState?

    init(watch: StoreWatch, filter: RowFilter) {
      (self.watch, self.filter) = (watch, filter)
      pace = WatchPace(watch.clock)
    }

    public mutating func next() async throws(TransferError) -> SelectionState? { try await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> SelectionState? {
      let (filter, last, clock) = (filter, last, watch.clock)
      guard last?.isSettled != true else { return nil }
      let found = try await watch.until(&pace) { reader -> SelectionState? in
        let state = SelectionState(
          totals: try reader.stateTotals(filter), overdue: try reader.overdueFiles(filter, nowMs: clock.wallMs))
        return state == last ? nil : state
      }
      self.last = found
      return found
    }
  }
}

extension TransferClient {
  /// The states of these files until none of them will progress on its own.
  public func progress(of filter: RowFilter = RowFilter()) -> ProgressSequence {
    ProgressSequence(watch: watch, filter: filter)
  }

  /// Waits until the goal is reached, whichever process does the work. If files are selected by their state, those that
  /// match now are used. A cancelled task gets the current state.
  public func wait(
    for filter: RowFilter, until goal: WaitGoal = .settled, timeout: Duration? = nil
  ) async throws(TransferError) -> WaitResult {
    let startedMs = clock.bootMs
    let files = try await read { try AwaitedFiles(try $0.fixed(filter), $0) }
    var pace = WatchPace(clock, timeoutMs: timeout?.milliseconds)
    let reached = try await watch.until(&pace) { [clock] reader -> SelectionState? in
      let state = try files.state(reader, nowMs: clock.wallMs)
      return state.reaches(goal) ? state : nil
    }
    let state: SelectionState
    if let reached {
      state = reached
    } else {
      state = try await read { [clock] in try files.state($0, nowMs: clock.wallMs) }
    }
    return WaitResult(state: state, waitedMs: clock.bootMs - startedMs, isTimeout: !state.reaches(goal))
  }
}

extension StoreReader {
  /// A filter for the files selected now, which still selects them after their states have changed.
  package func fixed(_ filter: RowFilter) throws -> RowFilter {
    guard filter.saysWhatChanges else { return filter }
    return .files(try fileIDs(filter))
  }
}

extension RowFilter {
  /// Whether it selects by properties that change while files are sent.
  fileprivate var saysWhatChanges: Bool {
    !states.isEmpty || isBackingOff || !errors.isEmpty || sinceMs != nil || untilMs != nil
  }
}
