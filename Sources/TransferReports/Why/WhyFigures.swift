import TransferModel

/// `transfers why`: how the wall time of one file, batch or run was spent.
package struct WhyFigures: Sendable {
  package let row: WhyRow
  /// The end of the wall time; now if it has not ended.
  package let toMs: Int64
  /// nil if the clock was set back meanwhile, because the duration is then unknown.
  package let wallMs: Int64?
  package let result: WallResult
  package let tally: WhyTally
  package let limits: WhyLimits
  /// nil for a run.
  package let host: HostActivity?
  /// The largest amount by which a clock was set back between runs, and moved within one, in milliseconds.
  package let clockSetBackMs: Int64
  package let clockMovedMs: Int64

  package init(
    _ row: WhyRow, toMs: Int64, _ result: WallResult, _ tally: WhyTally, runs: [RunLife], host: HostActivity?
  ) {
    (self.row, self.toMs, self.result, self.tally, self.host) = (row, toMs, result, tally, host)
    wallMs = toMs >= row.fromMs ? toMs -| row.fromMs : nil
    var limits = WhyLimits(tally, result, runs: runs, rate: row.rate)
    limits.limit = Self.applicable(limits, result.parts, tally)
    self.limits = limits
    let steps =
      zip(runs, runs.dropFirst()).map { $0.lastMs -| $1.startedMs } + [row.fromMs -| (tally.span?.fromMs ?? row.fromMs)]
    clockSetBackMs = max(0, steps.max() ?? 0)
    clockMovedMs = runs.map(\.clockMovedMs).max { $0.magnitude < $1.magnitude } ?? 0
  }

  package var isRunning: Bool { row.toMs == nil }

  /// The bottleneck; nil if requests did not run for most of the time, so that no limit applied.
  package var limitOfMost: WhyLimit? { limits.limit }

  private static func applicable(_ limits: WhyLimits, _ parts: WallParts, _ tally: WhyTally) -> WhyLimit? {
    switch parts.cause {
    case .queued, .down, .paused, .backoff: nil
    case .throttled: isHeldByRate(limits, parts) ? .rate : nil
    case .connect, .send, .server, .verify, nil: tally.attempts > 0 ? limits.limit : nil
    }
  }

  /// Whether at least half of the throttled time is that of rate limits. The rest are waits that servers requested.
  static func isHeldByRate(_ limits: WhyLimits, _ parts: WallParts) -> Bool {
    limits.heldMs > 0 && limits.heldMs >= parts[.throttled] -| limits.heldMs
  }

  /// The part with more than half of the wall time, or `mixed`; nil without any time.
  package var cause: String? {
    guard let wallMs, wallMs > 0 else { return nil }
    return result.parts.cause?.name(isDownload: row.isDownload) ?? "mixed"
  }
}
