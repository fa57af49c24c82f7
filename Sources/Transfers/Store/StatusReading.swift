import TransferLedger
public import TransferModel
package import TransferReports

/// The current status of the selected files.
public struct StoreStatus: Sendable {
  public let engine: EngineState
  public let totals: StateTotals
  /// Done files of which the newest check did not find what was stored.
  package let contradicted: Int
  /// Bytes of the selected files that were sent and are not acknowledged yet, by file; for display.
  public let inFlight: [FileID: InFlight]
  /// How many of the selected files are hidden, if there is nothing else to show; otherwise 0.
  public let hidden: Int
  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC.
  public let nextDueMs: Int64?
  /// At most 20 of the files that an engine works on.
  public let active: [FileRow]
  /// Failures of files that ended without success, most files first.
  public let failures: [FailureRow]
  /// Batches that wait for a person because their deadline has passed.
  public let overdue: [OverdueBatch]
  /// Batches that no run can send, among the first with ready files.
  public let held: [BatchRow]
  /// Callbacks of the whole ledger.
  public let callbacks: CallbacksLeft
  /// Sources that `--after` should delete or move and that still exist.
  public let removals: RemovalTotals
}

extension StoreReader {
  package func engine(_ clock: any TransferClock) throws -> EngineState { EngineState(try newestRun(), clock) }

  /// Batches with ready files whose settings are read to find held ones: a look takes a small part of a second.
  private static var batchesLooked: Int { 1_000 }

  package func status(_ filter: RowFilter, _ clock: any TransferClock) throws -> StoreStatus {
    let (totals, nowMs) = (try stateTotals(filter), clock.wallMs)
    // Files waiting in a batch past its deadline are not retried.
    let held = Set(try overdueBatches(RowFilter(), nowMs: nowMs).map(\.id))
    return StoreStatus(
      engine: try engine(clock), totals: totals, contradicted: try contradicted(filter),
      inFlight: try bodiesInFlight(filter, clock).byFile,
      hidden: totals.files > 0 || !filter.leavesOutHidden ? 0 : try stateTotals(filter.withHidden).files,
      nextDueMs: try nextDueMs(without: held), active: try runningFiles(filter, limit: 20),
      failures: try endings(filter), overdue: try overdueBatches(filter, nowMs: nowMs),
      held: try reader.heldBatches(filter, looked: Self.batchesLooked),
      callbacks: try callbacksLeft(), removals: try removals(filter))
  }

  /// Empty if no live engine reports them. For display only: real progress is the acknowledged bytes.
  package func bodiesInFlight(_ filter: RowFilter, _ clock: any TransferClock) throws -> [InFlightBody] {
    guard let note = InFlightNote.read(ofLedger: path, bootMs: clock.bootMs), try engine(clock).isAlive else {
      return []
    }
    return try reader.bodiesInFlight(note, filter)
  }

  package func summary(_ filter: RowFilter) throws -> SummaryFigures {
    try SummaryFigures(
      batches: countBatches(filter), totals: totals(filter), attempts: attemptTotals(filter),
      failures: failures(filter), slowest: slowestFiles(filter, limit: 3), costs: costs(filter),
      removals: removals(filter), equalKeys: equalKeys())
  }

  /// Empty without attempts. `stepMs` returns the length of the intervals for a span; both in milliseconds. The bytes
  /// of running bodies count as if they were acknowledged.
  /// - Throws: `.usage` when there would be too many intervals.
  package func throughput(
    _ filter: RowFilter, nowMs: Int64, running: [InFlightBody] = [], stepMs: (_ spanMs: Int64) -> Int64
  ) throws -> [ThroughputRow] {
    guard let span = try attemptSpan(filter, nowMs: nowMs) else { return [] }
    let from = max(span.fromMs, filter.sinceMs ?? .min)
    let to = min(max(span.toMs, span.fromMs + 1), filter.untilMs ?? .max)
    guard from < to else { return [] }
    guard var series = ThroughputSeries(fromMs: from, toMs: to, stepMs: stepMs(to -| from)) else {
      throw TransferError(
        .usage, "report throughput", cause: "that is more than \(ThroughputSeries.limit) rows",
        remedy: "use a longer --bucket, or --since and --until")
    }
    try attemptIntervals(filter) { series.add($0, nowMs: nowMs) }
    for body in running { series.add(body, nowMs: nowMs) }
    return series.rows
  }
}

extension StoreStatus {
  /// The bytes in flight of all files; limited to the bytes that are left.
  public var bytesInFlight: Int64 {
    max(0, min(inFlight.values.reduce(0) { $0 +| $1.bytes }, totals.bytes -| totals.bytesAcked))
  }

  /// The rate of all running bodies; nil if none is known.
  public var bytesPerSecond: Int64? {
    inFlight.isEmpty ? nil : inFlight.values.reduce(0) { $0 +| $1.bytesPerSecond }
  }
}

/// Whether a store is sound.
public struct StoreCheck: Sendable, Hashable {
  /// What SQLite says about the file itself; empty when it is intact.
  public let damage: [String]
  /// Rows that violate a rule.
  public let findings: [Finding]
  /// How many rules were checked.
  public let rules: Int

  public var isSound: Bool { damage.isEmpty && findings.isEmpty }

  /// Adds the comparison with a seal that was kept elsewhere, as one more rule.
  package func with(_ seal: SealComparison) -> StoreCheck {
    StoreCheck(damage: damage, findings: findings + seal.findings, rules: rules + 1)
  }
}

extension StoreReader {
  package func wholeCheck() throws -> StoreCheck {
    StoreCheck(damage: try integrityProblems(), findings: try check(), rules: Self.ruleCount)
  }
}
