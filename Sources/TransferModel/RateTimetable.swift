#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Rate limits by day of the week and time of day. A value; never without an entry.
public struct RateTimetable: Sendable, Hashable {
  public static let minutesOfDay = 1_440
  public static let minutesOfWeek = 7 * minutesOfDay

  /// The start of a rate, which applies until the next entry.
  public struct Entry: Sendable, Hashable {
    /// Since the beginning of Sunday, local time.
    public var minuteOfWeek: Int
    /// nil for no limit.
    public var bytesPerSecond: Int64?

    public init(minuteOfWeek: Int, bytesPerSecond: Int64?) {
      (self.minuteOfWeek, self.bytesPerSecond) = (minuteOfWeek, bytesPerSecond)
    }
  }

  /// By their time.
  public let entries: [Entry]

  /// The same all the time.
  public init(_ bytesPerSecond: Int64?) { entries = [Entry(minuteOfWeek: 0, bytesPerSecond: bytesPerSecond)] }

  /// nil if there are no entries, two entries for the same minute, or an entry for an invalid minute.
  public init?(_ entries: [Entry]) {
    self.entries = entries.sorted { $0.minuteOfWeek < $1.minuteOfWeek }
    guard !entries.isEmpty, Set(entries.map(\.minuteOfWeek)).count == entries.count,
      entries.allSatisfy({ (0..<Self.minutesOfWeek).contains($0.minuteOfWeek) })
    else { return nil }
  }

  public var isConstant: Bool { Set(entries.map(\.bytesPerSecond)).count == 1 }

  /// The rate at a minute of the week; nil for no limit. Before the first entry the last one of the previous week
  /// applies.
  public func bytesPerSecond(atMinuteOfWeek minute: Int) -> Int64? {
    (entries.last { $0.minuteOfWeek <= minute } ?? entries[entries.count - 1]).bytesPerSecond
  }

  /// The rate now, by the local time zone; nil for no limit.
  /// - Parameter civilMs: milliseconds since 1970 UTC.
  public func bytesPerSecond(civilMs: Int64) -> Int64? {
    isConstant ? entries[0].bytesPerSecond : bytesPerSecond(atMinuteOfWeek: Self.minuteOfWeek(civilMs: civilMs))
  }

  /// By the local time zone, as it is at that time.
  static func minuteOfWeek(civilMs: Int64) -> Int {
    var seconds = time_t(civilMs.floored(by: 1_000))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return Int(parts.tm_wday) * minutesOfDay + Int(parts.tm_hour) * 60 + Int(parts.tm_min)
  }
}
