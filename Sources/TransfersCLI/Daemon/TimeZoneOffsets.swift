#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The offset of a wall clock from UTC.
struct TimeZoneOffsets: Sendable {
  /// Seconds east of UTC at a moment in seconds since 1970 UTC.
  let offset: @Sendable (_ second: Int64) -> Int64

  /// The offsets of this process (`TZ`, else /etc/localtime).
  static let system = TimeZoneOffsets { second in
    var (time, parts) = (time_t(second), tm())
    return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
  }

  /// The moment when the clock shows `local` (seconds since 1970, as if it were UTC): the first one if the clock shows
  /// it twice, and the end of the gap if the clock skips it.
  func moment(_ local: Int64) -> Int64 {
    let (before, after) = (offset(local - 86_400), offset(local + 86_400))
    let candidates = [local - before, local - after].filter { $0 + offset($0) == local }
    return candidates.min() ?? change(from: local - 86_400, to: local + 86_400)
  }

  /// The first second at which the offset of `end` is in force.
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
