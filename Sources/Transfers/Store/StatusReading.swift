import TransferLedger
public import TransferModel
package import TransferReports

/// What is happening now, of the files of one selection.
public struct StoreStatus: Sendable {
  public let engine: EngineState
  public let totals: StateTotals
  /// Bytes of the selected files that are out and not acknowledged yet, by file; for display.
  public let inFlight: [FileID: Int64]
  /// Of the selected files that people tidied away, when nothing else is left to show.
  public let hidden: Int
  /// When the next waiting file, chunk or abort is due, in milliseconds since 1970 UTC.
  public let nextDueMs: Int64?
  /// At most 20 of the files in work.
  public let active: [FileRow]
  /// Why files ended without success, most files first.
  public let failures: [FailureRow]
  /// Batches that wait for a person because their deadline has passed.
  public let overdue: [OverdueBatch]
  /// Of the whole ledger.
  public let callbacks: CallbacksLeft
  /// What `--after` was to delete or move, and is still there.
  public let removals: RemovalTotals
}

extension StoreReader {
  package func engine(_ clock: any TransferClock) throws -> EngineState { EngineState(try newestRun(), clock) }

  package func status(_ filter: RowFilter, _ clock: any TransferClock) throws -> StoreStatus {
    let (totals, nowMs) = (try stateTotals(filter), clock.wallMs)
    // What waits in a batch past its deadline is not tried again.
    let held = Set(try overdueBatches(RowFilter(), nowMs: nowMs).map(\.id))
    return StoreStatus(
      engine: try engine(clock), totals: totals, inFlight: try bytesInFlight(filter, clock),
      hidden: totals.files > 0 || !filter.leavesOutHidden ? 0 : try stateTotals(filter.withHidden).files,
      nextDueMs: try nextDueMs(without: held), active: try runningFiles(filter, limit: 20),
      failures: try endings(filter), overdue: try overdueBatches(filter, nowMs: nowMs),
      callbacks: try callbacksLeft(), removals: try removals(filter))
  }

  /// Empty where no engine is alive that tells it. For display: the acknowledged bytes are the only progress.
  package func bytesInFlight(_ filter: RowFilter, _ clock: any TransferClock) throws -> [FileID: Int64] {
    guard let note = InFlightNote.read(ofLedger: path, bootMs: clock.bootMs), try engine(clock).isAlive else {
      return [:]
    }
    return try reader.bytesInFlight(note, filter)
  }

  package func summary(_ filter: RowFilter) throws -> SummaryFigures {
    try SummaryFigures(
      batches: countBatches(filter), totals: totals(filter), attempts: attemptTotals(filter),
      failures: failures(filter), slowest: slowestFiles(filter, limit: 3), costs: costs(filter),
      removals: removals(filter))
  }

  /// Empty without attempts. `stepMs` is asked for the length of the stretches of a span; both in milliseconds.
  /// - Throws: `.usage` when there were too many of them.
  package func throughput(
    _ filter: RowFilter, nowMs: Int64, stepMs: (_ spanMs: Int64) -> Int64
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
    return series.rows
  }
}

extension StoreStatus {
  /// All of them; never more than is left.
  public var bytesInFlight: Int64 {
    max(0, min(inFlight.values.reduce(0, +|), totals.bytes -| totals.bytesAcked))
  }
}

/// Whether a store is sound.
public struct StoreCheck: Sendable, Hashable {
  /// What SQLite says about the file itself; empty when it is intact.
  public let damage: [String]
  /// Rows that break a rule.
  public let findings: [Finding]
  /// How many rules were looked at.
  public let rules: Int

  public var isSound: Bool { damage.isEmpty && findings.isEmpty }

  /// With what a seal that was kept elsewhere says: one more rule.
  package func with(_ seal: SealComparison) -> StoreCheck {
    StoreCheck(damage: damage, findings: findings + seal.findings, rules: rules + 1)
  }
}

extension StoreReader {
  package func wholeCheck() throws -> StoreCheck {
    StoreCheck(damage: try integrityProblems(), findings: try check(), rules: Self.ruleCount)
  }
}
