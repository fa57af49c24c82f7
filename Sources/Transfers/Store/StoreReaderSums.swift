import TransferLedger
package import TransferModel
package import TransferReports

/// Totals and the data of reports.
extension StoreReader {
  /// Reads each of the files once, and their attempts.
  package func totals(of added: AddedFiles, nowMs: Int64) throws -> AddedTotals {
    try reader.totals(of: added, nowMs: nowMs)
  }

  /// Sums over the files that the filter selects. Superseded generations count only with what they sent.
  package func totals(_ filter: RowFilter) throws -> FileTotals { try reader.totals(filter) }

  /// The start of the first and the end of the last attempt that the filter selects; open ones count as ending at
  /// `nowMs`. nil without attempts.
  package func attemptSpan(_ filter: RowFilter, nowMs: Int64) throws -> (fromMs: Int64, toMs: Int64)? {
    try reader.attemptSpan(filter, nowMs: nowMs)
  }

  /// Batches that the filter names, or that have a file which it selects, with the totals of the whole batch.
  package func batchHistories(_ filter: RowFilter, limit: Int = .max) throws -> [BatchHistory] {
    try reader.batchHistories(filter, limit: limit)
  }

  /// Hosts of the attempts that the filter selects, by name.
  package func hosts(_ filter: RowFilter) throws -> [HostRow] { try reader.hosts(filter) }

  /// Limits of hosts that runs recorded, by name.
  package func hostLimits() throws -> [HostLimitRow] { try reader.hostLimits() }

  /// What servers accepted, by host.
  package func hostAcceptance(_ filter: RowFilter) throws -> [HostAcceptanceRow] { try reader.hostAcceptance(filter) }

  /// Durations of the attempts, chunks, files and batches that the filter selects, by group.
  package func latencies(_ filter: RowFilter, by group: LatencyGroup?) throws -> LatencyHistograms {
    try reader.latencies(filter, by: group)
  }

  /// Bytes that were transferred in vain, by cause, as the filter selects.
  package func waste(_ filter: RowFilter) throws -> WasteFigures { try reader.waste(filter) }

  /// What took time among what the filter selects, longest first: sums over attempts by host, and idle wall time. Work
  /// in progress is counted until the newest heartbeat of an engine.
  package func costs(_ filter: RowFilter) throws -> [CostRow] {
    let runs = try reader.runLives(TimeSpan(.min, .max)).map { TimeSpan($0.startedMs, $0.lastMs) }
    let asleep = try reader.sleeps(TimeSpan(.min, .max))
    let window = TimeSpan(filter.sinceMs ?? .min, filter.untilMs ?? .max)
    return CostRow.all(try reader.costs(filter), running: runs, asleep: asleep, window: window)
  }

  /// How the done files that the filter selects are confirmed.
  package func contradicted(_ filter: RowFilter) throws -> Int { try reader.contradicted(filter) }
  package func integrity(_ filter: RowFilter) throws -> IntegrityFigures { try reader.integrity(filter) }

  /// Runs within the time window of the filter, with the attempts that it selects. If the filter has more than a
  /// window, only runs with such an attempt.
  package func runs(_ filter: RowFilter) throws -> RunFigures { try reader.runs(filter) }

  /// Retries of the attempts that the filter selects.
  package func retries(_ filter: RowFilter) throws -> RetryFigures { try reader.retries(filter) }

  /// Periods in which a file or a batch that the filter selects ended, or an attempt began, in chronological order.
  package func periods(_ period: CalendarPeriod, _ filter: RowFilter) throws -> [PeriodRow] {
    try reader.periods(period, filter)
  }

  /// Passes each attempt that the filter selects to `each`, in the order of their numbers; keeps none in memory.
  package func attemptIntervals(_ filter: RowFilter, each: (AttemptInterval) -> Void) throws {
    try reader.attemptIntervals(filter, each: each)
  }

  /// Passes each attempt that the filter selects to `each` as a time span; keeps none in memory.
  package func attemptSpans(_ filter: RowFilter, each: (AttemptSpan) -> Void) throws {
    try reader.attemptSpans(filter, each: each)
  }

  /// The selected files that are not hidden, may have arrived and that nobody has decided about (`resolve`).
  package func undecided(_ filter: RowFilter) throws -> [FileID] {
    var filter = filter
    (filter.isUndecided, filter.leavesOutHidden) = (true, true)
    return try reader.outcome(of: .resolve(.done, reason: ""), filter).changed
  }

  /// Totals of the attempts that the filter selects.
  package func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals { try reader.attemptTotals(filter) }

  /// Failures of the files that the filter selects, grouped by these kinds: most files first, then most attempts.
  package func failures(_ filter: RowFilter, by kinds: Set<FailureGroup.Kind>) throws -> [FailureGroup] {
    try reader.failures(filter, by: kinds)
  }

  /// How many files, attempts, or failed ones of both the filter selects for each batch, state and error.
  package func facetTallies(_ filter: RowFilter, _ subject: FacetSubject) throws -> [FacetTally] {
    try reader.facetTallies(filter, subject)
  }

  /// Failures of the files that the filter selects, by error code: most files first, then most attempts.
  package func failures(_ filter: RowFilter) throws -> [FailureRow] { try reader.failures(filter) }

  /// The same, with those that the scan of `add` has found again, whose rows are older.
  package func failures(_ filter: RowFilter, and add: AddResult) throws -> [FailureRow] {
    try reader.failures(filter, and: add.failedBefore)
  }

  /// Only the failures that ended files, without reading attempts, for callers that have to be fast however long the
  /// history is. For everything and for whole batches it is read from the index of files at rest.
  package func endings(_ filter: RowFilter) throws -> [FailureRow] { try reader.endings(filter) }

  /// The states of the files that the filter selects. For everything and for whole batches, only sums and indexes are
  /// read: about 50 ns for each file that is in no sum.
  package func stateTotals(_ filter: RowFilter) throws -> StateTotals { try reader.stateTotals(filter) }

  /// Files at rest, slowest first.
  package func slowestFiles(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    try reader.slowestFiles(filter, limit: limit)
  }

  /// Overdue batches among those that the filter names, or that have a file which it selects.
  package func overdueBatches(_ filter: RowFilter, nowMs: Int64) throws -> [OverdueBatch] {
    try reader.overdueBatches(filter, nowMs: nowMs)
  }

  /// How many of the files that the filter selects are pending in a batch past its deadline. Costs next to nothing
  /// while there is no such batch.
  package func overdueFiles(_ filter: RowFilter, nowMs: Int64) throws -> Int {
    try reader.overdueFiles(filter, nowMs: nowMs)
  }

  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC; nil when nothing waits. It may
  /// be in the past until the next claim. Files of the batches in `without` do not count, nor do aborts unless
  /// `countsAborts`.
  package func nextDueMs(without: Set<BatchID> = [], countsAborts: Bool = true) throws -> Int64? {
    try reader.nextDueMs(without: without, countsAborts: countsAborts)
  }

  /// Whether there are files that an engine may still finish, and sessions that wait to be aborted on the server. Reads
  /// only the beginnings of the indexes of these rows.
  package func isAnythingLeft() throws -> (files: Bool, aborts: Bool) { try reader.isAnythingLeft() }

  /// The effect of the verb on the files that the filter selects: the same result that applying it returns.
  package func outcome(of verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    try reader.outcome(of: verb, filter)
  }

  /// The effect that ``OpenStore/changeBatches(_:_:between:)`` would have.
  package func outcome(of change: BatchChange, _ filter: RowFilter) throws -> BatchOutcome {
    try reader.outcome(of: change, filter)
  }

  /// Whether a file can be started now; files of the batches in `without` do not count.
  package func hasReadyFiles(without: Set<BatchID>) throws -> Bool { try reader.hasReadyFiles(without: without) }
}
