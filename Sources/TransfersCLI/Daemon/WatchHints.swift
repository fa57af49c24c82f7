/// Decides when events in the sources of a job are a reason to run it. A value on the boot clock, in milliseconds.
struct WatchHints: Sendable {
  private struct Hint: Sendable {
    var firstMs: Int64
    var lastMs: Int64
  }

  /// Time without further events before a run. It is short, so that the settle time of new files begins to count.
  static let quietMs: Int64 = 500
  /// Maximum delay while events keep arriving.
  static let longestMs: Int64 = 10_000
  /// The longest rest between two runs; otherwise the rest is as long as the previous run took.
  static let longestRestMs: Int64 = 30_000
  /// The shortest rest after a run that found nothing new. Each further such run that events cause doubles it.
  static let firstIdleRestMs: Int64 = 1_000

  private var hints: [String: Hint] = [:]
  private var startedMs: [String: Int64] = [:]
  private var restsUntilMs: [String: Int64] = [:]
  /// The rest after the last run, if that found nothing new.
  private var idleRestMs: [String: Int64] = [:]

  mutating func note(_ job: String, nowMs: Int64) {
    hints[job] = Hint(firstMs: hints[job]?.firstMs ?? nowMs, lastMs: nowMs)
  }

  /// The jobs whose sources have been quiet, or have had events for too long.
  func due(nowMs: Int64, running: Set<String>) -> [String] {
    hints.filter { job, hint in
      !running.contains(job) && nowMs >= restsUntilMs[job] ?? 0
        && (nowMs - hint.lastMs >= Self.quietMs || nowMs - hint.firstMs >= Self.longestMs)
    }.keys.sorted()
  }

  /// Events from now on count again, because the scan may already have passed their files.
  mutating func started(_ job: String, nowMs: Int64) {
    hints[job] = nil
    startedMs[job] = nowMs
  }

  /// The job has started for another reason: its scan covers the events received until now.
  mutating func forget(_ job: String) { hints[job] = nil }

  /// - Parameters:
  /// - foundNew: whether the run recorded anything; otherwise the events were about something else.
  /// - longestRestMs: time after which the job runs in any case.
  mutating func ended(_ job: String, foundNew: Bool, longestRestMs: Int64, nowMs: Int64) {
    guard let startedMs = startedMs.removeValue(forKey: job) else { return }
    let restMs = min(Self.longestRestMs, nowMs - startedMs)
    let idleMs = foundNew ? 0 : max(restMs, min(longestRestMs, nextIdleRestMs(job, startedMs)))
    restsUntilMs[job] = nowMs + max(restMs, idleMs)
    idleRestMs[job] = foundNew ? nil : idleMs
  }

  /// Doubled while events continue: if the run began within one more rest after the end of the last rest.
  private func nextIdleRestMs(_ job: String, _ startedMs: Int64) -> Int64 {
    guard let lastMs = idleRestMs[job], let untilMs = restsUntilMs[job], startedMs - untilMs < lastMs else {
      return Self.firstIdleRestMs
    }
    return lastMs * 2
  }

  /// Forgets all other jobs.
  mutating func keep(_ jobs: Set<String>) {
    hints = hints.filter { jobs.contains($0.key) }
    startedMs = startedMs.filter { jobs.contains($0.key) }
    restsUntilMs = restsUntilMs.filter { jobs.contains($0.key) }
    idleRestMs = idleRestMs.filter { jobs.contains($0.key) }
  }
}
