import TransferModel

/// When the daemon runs a job: `every: 5m` or `cron: "*/5 * * * *"`; with `watch: true` also when its sources change.
enum JobSchedule: Hashable, Sendable {
  /// The interval from one start to the next, in milliseconds.
  case every(Int64)
  case cron(CronExpression)

  /// The interval of a watched job without times of its own: it finds files for which no event was received.
  static let watched = every(300_000)

  /// The longest rest of the job after runs that found nothing new; with `every`, its next run is due by then.
  var longestRestMs: Int64 {
    guard case .every(let ms) = self else { return 300_000 }
    return ms
  }

  /// nil for a job that only other programs start.
  /// - Throws: the error, with its position.
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

  /// The next due time, in milliseconds since 1970 UTC. Times missed since the last start are due now, once.
  /// - Parameters:
  /// - lastMs: the last start; nil if there was none.
  /// - sinceMs: when the job was first seen: no earlier time counts as missed.
  func next(lastMs: Int64?, sinceMs: Int64, nowMs: Int64, in zone: TimeZoneOffsets) -> Int64? {
    switch self {
    case .every(let spanMs):
      guard let lastMs else { return sinceMs }
      // The clock was set back: a job that waited for the old time might wait for years.
      return lastMs > nowMs ? nowMs : lastMs + spanMs
    case .cron(let expression): return expression.next(after: min(lastMs ?? sinceMs, nowMs), in: zone)
    }
  }
}

extension ConfigSection {
  /// Whether the daemon runs the job when its sources change.
  var isWatched: Bool { self["watch"]?.isTrue ?? false }
}

struct ScheduleFault: Error, Hashable, Sendable {
  let fault: ConfigFault
  init(_ fault: ConfigFault) { self.fault = fault }
}
