import TransferModel

/// When the daemon runs a job: `every: 5m` or `cron: "*/5 * * * *"`; with `watch: true` also when its sources change.
enum JobSchedule: Hashable, Sendable {
  /// So many milliseconds from one start to the next.
  case every(Int64)
  case cron(CronExpression)

  /// Of a job that is watched and has no times: what no event tells of is found after so long.
  static let watched = every(300_000)

  /// How long events alone may start no run of it: its time comes then.
  var longestRestMs: Int64 {
    guard case .every(let ms) = self else { return 300_000 }
    return ms
  }

  /// nil for a job that only others start.
  /// - Throws: what is wrong, and where.
  init?(_ job: ConfigSection) throws(ScheduleFault) {
    guard let every = job["every"] else {
      guard let cron = job["cron"] else {
        guard job.isWatched else { return nil }
        self = .watched
        return
      }
      do throws(CronFault) { self = .cron(try CronExpression(cron.value)) } catch {
        throw ScheduleFault(ConfigFault(place: cron.place, message: error.message))
      }
      return
    }
    guard job["cron"] == nil else {
      throw ScheduleFault(
        ConfigFault(place: every.place, message: "\"every\" and \"cron\" contradict each other; give one of them"))
    }
    guard let span = TimeSpan(text: every.value), span.ms > 0 else {
      throw ScheduleFault(ConfigFault(place: every.place, message: "\"every\" takes a time like 5m or 1h30m"))
    }
    self = .every(span.ms)
  }

  /// When it is due next, in milliseconds since 1970 UTC. What was missed since the last start is due now, once.
  /// - Parameters:
  ///   - lastMs: its last start; nil when there was none.
  ///   - sinceMs: when it was first seen: there is nothing to miss before.
  func next(lastMs: Int64?, sinceMs: Int64, nowMs: Int64, in zone: TimeZoneOffsets) -> Int64? {
    switch self {
    case .every(let spanMs):
      guard let lastMs else { return sinceMs }
      // The clock was set back: a job that waits for the old time may wait for years.
      return lastMs > nowMs ? nowMs : lastMs + spanMs
    case .cron(let expression): return expression.next(after: min(lastMs ?? sinceMs, nowMs), in: zone)
    }
  }
}

extension ConfigSection {
  /// The daemon runs it when its sources change.
  var isWatched: Bool { self["watch"]?.isTrue ?? false }
}

struct ScheduleFault: Error, Hashable, Sendable {
  let fault: ConfigFault
  init(_ fault: ConfigFault) { self.fault = fault }
}
