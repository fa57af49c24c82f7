/// When what has appeared in the sources of a job is a reason to run it. A value on the boot clock, in milliseconds.
struct WatchHints: Sendable {
  private struct Hint: Sendable {
    var firstMs: Int64
    var lastMs: Int64
  }

  /// Nothing more came for so long. It is short, so that the settle time of what has appeared begins to count.
  static let quietMs: Int64 = 500
  /// While something comes all the time.
  static let longestMs: Int64 = 10_000
  /// The longest rest between two runs; otherwise it is as long as the run before took.
  static let longestRestMs: Int64 = 30_000
  /// The shortest rest after a run that found nothing new. Each further one that events cause is twice as long.
  static let firstIdleRestMs: Int64 = 1_000

  private var hints: [String: Hint] = [:]
  private var startedMs: [String: Int64] = [:]
  private var restsUntilMs: [String: Int64] = [:]
  /// The rest after the last run, where that found nothing new.
  private var idleRestMs: [String: Int64] = [:]

  mutating func note(_ job: String, nowMs: Int64) {
    hints[job] = Hint(firstMs: hints[job]?.firstMs ?? nowMs, lastMs: nowMs)
  }

  /// Whose sources have come to rest, or did not for long.
  func due(nowMs: Int64, running: Set<String>) -> [String] {
    hints.filter { job, hint in
      !running.contains(job) && nowMs >= restsUntilMs[job] ?? 0
        && (nowMs - hint.lastMs >= Self.quietMs || nowMs - hint.firstMs >= Self.longestMs)
    }.keys.sorted()
  }

  /// What comes from now on is news again: the scan may be past it.
  mutating func started(_ job: String, nowMs: Int64) {
    hints[job] = nil
    startedMs[job] = nowMs
  }

  /// - Parameters:
  ///   - foundNew: whether it recorded anything; otherwise the events were about something else.
  ///   - longestRestMs: after which the job runs in any case.
  mutating func ended(_ job: String, foundNew: Bool, longestRestMs: Int64, nowMs: Int64) {
    guard let startedMs = startedMs.removeValue(forKey: job) else { return }
    let restMs = min(Self.longestRestMs, nowMs - startedMs)
    let idleMs = foundNew ? 0 : max(restMs, min(longestRestMs, nextIdleRestMs(job, startedMs)))
    restsUntilMs[job] = nowMs + max(restMs, idleMs)
    idleRestMs[job] = foundNew ? nil : idleMs
  }

  /// Doubled while the events do not end: when the run began within one more rest after the last one.
  private func nextIdleRestMs(_ job: String, _ startedMs: Int64) -> Int64 {
    guard let lastMs = idleRestMs[job], let untilMs = restsUntilMs[job], startedMs - untilMs < lastMs else {
      return Self.firstIdleRestMs
    }
    return lastMs * 2
  }

  /// Forgets all others.
  mutating func keep(_ jobs: Set<String>) {
    hints = hints.filter { jobs.contains($0.key) }
    startedMs = startedMs.filter { jobs.contains($0.key) }
    restsUntilMs = restsUntilMs.filter { jobs.contains($0.key) }
    idleRestMs = idleRestMs.filter { jobs.contains($0.key) }
  }
}
