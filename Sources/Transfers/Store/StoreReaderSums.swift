import TransferLedger
package import TransferModel
package import TransferReports

/// Totals, and what reports are made of.
extension StoreReader {
  /// Reads each of the files once, and their attempts.
  package func totals(of added: AddedFiles, nowMs: Int64) throws -> AddedTotals {
    try reader.totals(of: added, nowMs: nowMs)
  }

  /// Sums over the files that the filter selects. Generations that were replaced count only with what they sent.
  package func totals(_ filter: RowFilter) throws -> FileTotals { try reader.totals(filter) }

  /// The start of the first and the end of the last attempt that the filter selects, open ones taken to `nowMs`; nil
  /// without any.
  package func attemptSpan(_ filter: RowFilter, nowMs: Int64) throws -> (fromMs: Int64, toMs: Int64)? {
    try reader.attemptSpan(filter, nowMs: nowMs)
  }

  /// Batches that the filter names, or that have a file which it selects, with the figures of the whole batch.
  package func batchHistories(_ filter: RowFilter, limit: Int = .max) throws -> [BatchHistory] {
    try reader.batchHistories(filter, limit: limit)
  }

  /// Hosts that the attempts which the filter selects went to, by name.
  package func hosts(_ filter: RowFilter) throws -> [HostRow] { try reader.hosts(filter) }

  /// What runs noted of hosts, by name.
  package func hostLimits() throws -> [HostLimitRow] { try reader.hostLimits() }

  /// How long attempts, chunks, files and batches took that the filter selects, by group.
  package func latencies(_ filter: RowFilter, by group: LatencyGroup?) throws -> LatencyHistograms {
    try reader.latencies(filter, by: group)
  }

  /// Bytes that were transferred and do not count, that the filter selects, by cause.
  package func waste(_ filter: RowFilter) throws -> WasteFigures { try reader.waste(filter) }

  /// What cost time of what the filter selects, the most first: sums over attempts by host, and wall time in which
  /// nothing was done. What goes on is counted until the newest sign of life of an engine.
  package func costs(_ filter: RowFilter) throws -> [CostRow] {
    let runs = try reader.runLives(TimeSpan(.min, .max)).map { TimeSpan($0.startedMs, $0.lastMs) }
    let asleep = try reader.sleeps(TimeSpan(.min, .max))
    let window = TimeSpan(filter.sinceMs ?? .min, filter.untilMs ?? .max)
    return CostRow.all(try reader.costs(filter), running: runs, asleep: asleep, window: window)
  }

  /// How the done files that the filter selects are confirmed.
  package func integrity(_ filter: RowFilter) throws -> IntegrityFigures { try reader.integrity(filter) }

  /// Runs that were there in the window of the filter, with the attempts that it selects. When it says more than a
  /// window, only those that have such an attempt.
  package func runs(_ filter: RowFilter) throws -> RunFigures { try reader.runs(filter) }

  /// Where the attempts that the filter selects were retried.
  package func retries(_ filter: RowFilter) throws -> RetryFigures { try reader.retries(filter) }

  /// Periods in which a file or a batch that the filter selects ended, or an attempt began, in the order of time.
  package func periods(_ period: CalendarPeriod, _ filter: RowFilter) throws -> [PeriodRow] {
    try reader.periods(period, filter)
  }

  /// Hands each attempt that the filter selects to `each`, in the order of their numbers; keeps none.
  package func attemptIntervals(_ filter: RowFilter, each: (AttemptInterval) -> Void) throws {
    try reader.attemptIntervals(filter, each: each)
  }

  /// Hands each attempt that the filter selects to `each` as a stretch of time; keeps none.
  package func attemptSpans(_ filter: RowFilter, each: (AttemptSpan) -> Void) throws {
    try reader.attemptSpans(filter, each: each)
  }

  /// Figures over the attempts that the filter selects.
  package func attemptTotals(_ filter: RowFilter) throws -> AttemptTotals { try reader.attemptTotals(filter) }

  /// What went wrong with the files that the filter selects, in groups that differ in these: most files first, then
  /// most attempts.
  package func failures(_ filter: RowFilter, by kinds: Set<FailureGroup.Kind>) throws -> [FailureGroup] {
    try reader.failures(filter, by: kinds)
  }

  /// How many files, attempts, or both of them that failed, the filter selects of each batch, state and error.
  package func facetTallies(_ filter: RowFilter, _ subject: FacetSubject) throws -> [FacetTally] {
    try reader.facetTallies(filter, subject)
  }

  /// What went wrong with the files that the filter selects, by error code: most files first, then most attempts.
  package func failures(_ filter: RowFilter) throws -> [FailureRow] { try reader.failures(filter) }

  /// Only those that ended files, and without a look at attempts: for what has to be quick however long the history is.
  /// Over everything and over whole batches it is read from the index of what is at rest.
  package func endings(_ filter: RowFilter) throws -> [FailureRow] { try reader.endings(filter) }

  /// Where the files stand that the filter selects. For everything, and for whole batches, by sums and indexes alone:
  /// about 50 ns for each file that no sum holds.
  package func stateTotals(_ filter: RowFilter) throws -> StateTotals { try reader.stateTotals(filter) }

  /// Files that came to rest, the longest first.
  package func slowestFiles(_ filter: RowFilter, limit: Int) throws -> [FileRow] {
    try reader.slowestFiles(filter, limit: limit)
  }

  /// Of the batches that the filter names, or that have a file which it selects.
  package func overdueBatches(_ filter: RowFilter, nowMs: Int64) throws -> [OverdueBatch] {
    try reader.overdueBatches(filter, nowMs: nowMs)
  }

  /// Of the files that the filter selects: pending ones whose batch is past its deadline. Costs next to nothing while
  /// no batch is.
  package func overdueFiles(_ filter: RowFilter, nowMs: Int64) throws -> Int {
    try reader.overdueFiles(filter, nowMs: nowMs)
  }

  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC; nil when nothing waits. It may
  /// lie in the past until the next claim. Files of the batches in `without` do not count, nor do aborts unless
  /// `countsAborts`.
  package func nextDueMs(without: Set<BatchID> = [], countsAborts: Bool = true) throws -> Int64? {
    try reader.nextDueMs(without: without, countsAborts: countsAborts)
  }

  /// Whether files are left that an engine may bring to an end, and sessions that wait for theirs at the server. Looks
  /// at the beginnings of the indexes that hold nothing else.
  package func isAnythingLeft() throws -> (files: Bool, aborts: Bool) { try reader.isAnythingLeft() }

  /// What the verb would do to the files that the filter selects: the same answer that doing it gives.
  package func outcome(of verb: ControlVerb, _ filter: RowFilter) throws -> ControlOutcome {
    try reader.outcome(of: verb, filter)
  }

  /// What ``OpenStore/changeBatches(_:_:between:)`` would do.
  package func outcome(of change: BatchChange, _ filter: RowFilter) throws -> BatchOutcome {
    try reader.outcome(of: change, filter)
  }

  /// Whether a file may be begun now, of another batch than those in `without`.
  package func hasReadyFiles(without: Set<BatchID>) throws -> Bool { try reader.hasReadyFiles(without: without) }
}
