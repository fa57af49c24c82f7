#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How far a clock on the wall is ahead of UTC.
struct TimeZoneOffsets: Sendable {
  /// Seconds east of UTC at a moment in seconds since 1970 UTC.
  let offset: @Sendable (_ second: Int64) -> Int64

  /// Of this process (`TZ`, else /etc/localtime).
  static let system = TimeZoneOffsets { second in
    var (time, parts) = (time_t(second), tm())
    return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
  }

  /// When the clock shows `local` (its seconds since 1970, as if it were in UTC): the first time when it does so twice,
  /// and the moment at which it goes on when it skips that.
  func moment(_ local: Int64) -> Int64 {
    let (before, after) = (offset(local - 86_400), offset(local + 86_400))
    let candidates = [local - before, local - after].filter { $0 + offset($0) == local }
    return candidates.min() ?? change(from: local - 86_400, to: local + 86_400)
  }

  /// The first second of the offset that holds at `end`.
  private func change(from start: Int64, to end: Int64) -> Int64 {
    let later = offset(end)
    var (low, high) = (start, end)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(middle) == later { high = middle } else { low = middle }
    }
    return high
  }
}
