import TransferModel

/// Wall time in which files waited without any progress. Each moment counts once, for the first condition that is true:
/// the machine slept, a file was paused, an engine ran, no engine ran.
struct LostTime {
  /// No engine ran, or the machine slept.
  let downMs: Int64
  let pausedMs: Int64

  /// Unfinished spans are counted until the last heartbeat of an engine.
  init(_ sums: CostSums, running: [TimeSpan], asleep: [TimeSpan], _ window: TimeSpan) {
    let lastMs = running.map(\.toMs).max() ?? .min
    let window = TimeSpan(window.fromMs, min(window.toMs, lastMs))
    let (waiting, asleep) = (SpanSet(sums.waiting).clipped(to: window), SpanSet(asleep))
    let paused = SpanSet(Self.paused(sums.decisions, untilMs: lastMs)).clipped(to: window).without(asleep)
    downMs = waiting.without(SpanSet(running).without(asleep).joined(paused)).lengthMs
    pausedMs = paused.lengthMs
  }

  /// Times in which any file was paused.
  private static func paused(_ decisions: [FileDecision], untilMs: Int64) -> [TimeSpan] {
    var (files, spans, fromMs) = (NumberRanges(), [TimeSpan](), Int64?.none)
    for decision in decisions {
      for range in decision.files {
        if decision.kind == .paused { files.insert(range) } else { files.remove(range) }
      }
      if files.isEmpty, let began = fromMs { spans.append(TimeSpan(began, decision.atMs)) }
      fromMs = files.isEmpty ? nil : fromMs ?? decision.atMs
    }
    return spans + (fromMs.map { [TimeSpan($0, untilMs)] } ?? [])
  }
}
