import TransferModel

/// Sizes, rates and durations as people read them.
package enum Quantity {
  /// `0 B`, `999 B`, `3.2 GiB`: one decimal below 100, rounded down so that a part never shows as the whole.
  package static func bytes(_ count: Int64, _ units: ByteUnits = .iec) -> String {
    let (unit, name) = units.unit(for: count.magnitude)
    return (count < 0 ? "-" : "") + number(count.magnitude, in: unit) + " " + name
  }

  /// `1.2 / 2.1 GiB`, `80 / 900 B`: both in the unit of the whole.
  package static func fraction(_ part: Int64, of whole: Int64, _ units: ByteUnits = .iec) -> String {
    let (unit, name) = units.unit(for: max(whole, 0).magnitude)
    return "\(number(max(part, 0).magnitude, in: unit)) / \(number(max(whole, 0).magnitude, in: unit)) \(name)"
  }

  /// `34.9 MiB/s`.
  package static func bytesPerSecond(_ rate: Int64, _ units: ByteUnits = .iec) -> String { bytes(rate, units) + "/s" }

  /// `340 ms`, `9.4 s`, `1m 34s`, `2h 05m`, `3d 04h`.
  package static func duration(_ ms: Int64) -> String {
    if ms < 0 { return "-" + duration(0 -| ms) }
    if ms < 1000 { return "\(ms) ms" }
    let seconds = ms / 1000
    if seconds < 60 { return "\(seconds).\(ms % 1000 / 100) s" }
    if seconds < 3600 { return "\(seconds / 60)m \(two(seconds % 60))s" }
    if seconds < 86_400 { return "\(seconds / 3600)h \(two(seconds / 60 % 60))m" }
    return "\(seconds / 86_400)d \(two(seconds / 3600 % 24))h"
  }

  /// Time to go, rounded: `0:47`, `12m`, `3h 10m`, `> 1 day`.
  package static func remaining(_ ms: Int64) -> String {
    let seconds = (max(ms, 0) +| 999) / 1000
    if seconds < 600 { return "\(seconds / 60):\(two(seconds % 60))" }
    if seconds < 3600 { return "\((seconds + 59) / 60)m" }
    if seconds < 86_400 { return "\(seconds / 3600)h \(two(seconds / 60 % 60))m" }
    return "> 1 day"
  }

  /// Time that has passed: `0:07`, `2:10`, `1:02:10`.
  package static func clock(_ ms: Int64) -> String {
    let seconds = max(ms, 0) / 1000
    let minutes = seconds / 60
    if minutes < 60 { return "\(minutes):\(two(seconds % 60))" }
    return "\(minutes / 60):\(two(minutes % 60)):\(two(seconds % 60))"
  }

  /// `12.0 MiB transferred and not acked`; with bounds if requests crashed and their bytes are not known. nil for
  /// nothing.
  package static func unacked(_ least: Int64, atMost most: Int64) -> String? {
    guard most > 0 else { return nil }
    if least >= most { return "\(bytes(least)) transferred and not acked" }
    let lower = least > 0 ? "at least \(bytes(least)), " : ""
    return "\(lower)at most \(bytes(most)) transferred and not acked"
  }

  /// `3.2 GiB already existed locally and were not fetched`; nil for nothing.
  package static func reused(_ count: Int64) -> String? {
    count > 0 ? "\(bytes(count)) already existed locally and were not fetched" : nil
  }

  /// `99.27 %` for 0.9927, rounded towards zero, so that only a whole reads as 100 %; `100 %` and `0 %`.
  package static func percent(_ share: Double) -> String {
    let hundredths = Int64(nearest: (share.magnitude * 10_000 + 1e-7).rounded(.down))
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    let fraction = rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)"
    return "\(share < 0 && hundredths > 0 ? "-" : "")\(whole)\(fraction) %"
  }

  /// `-4.10 points`: the difference of two shares in percentage points, rounded towards zero.
  static func points(_ difference: Double) -> String {
    let figure = percent(difference).dropLast(2)
    return figure == "1" || figure == "-1" ? "\(figure) point" : "\(figure) points"
  }

  /// `-66.6 %`: a change in percent, rounded towards zero.
  static func roundedPercent(_ percent: Double) -> String {
    let tenths = Int64(nearest: (percent.magnitude * 10 + 1e-7).rounded(.down))
    let fraction = tenths % 10 == 0 ? "" : ".\(tenths % 10)"
    return "\(percent < 0 && tenths > 0 ? "-" : "")\(tenths / 10)\(fraction) %"
  }

  /// `1 file`, `118 files`, `2 batches`.
  package static func count(_ number: Int, _ noun: String) -> String {
    let plural = noun.hasSuffix("ch") || noun.hasSuffix("s") ? "es" : noun.hasSuffix("y") ? nil : "s"
    if number == 1 { return "1 \(noun)" }
    return plural.map { "\(number) \(noun)\($0)" } ?? "\(number) \(noun.dropLast())ies"
  }

  /// Bytes over milliseconds as bytes per second; nil without a duration.
  package static func rate(bytes: Int64, ms: Int64?) -> Int64? {
    guard let ms, ms > 0, bytes >= 0 else { return nil }
    let (product, overflows) = bytes.multipliedReportingOverflow(by: 1000)
    return overflows ? bytes / ms *| 1000 : product / ms
  }

  private static func number(_ count: UInt64, in unit: UInt64) -> String {
    let whole = count / unit
    return unit == 1 || whole >= 100 ? "\(whole)" : "\(whole).\(tenths(count % unit, of: unit))"
  }

  private static func tenths(_ rest: UInt64, of unit: UInt64) -> UInt64 {
    unit > 1 << 59 ? (rest / 16) * 10 / (unit / 16) : rest * 10 / unit
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Names for large numbers of bytes; never bits.
package enum ByteUnits: Sendable, Hashable {
  /// KiB, MiB …: powers of 1024.
  case iec
  /// kB, MB …: powers of 1000.
  case si

  /// The largest unit that is not larger than `count`, in bytes, and its name.
  func unit(for count: UInt64) -> (bytes: UInt64, name: String) {
    let base: UInt64 = self == .iec ? 1024 : 1000
    let names = self == .iec ? ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] : ["kB", "MB", "GB", "TB", "PB", "EB"]
    var unit: UInt64 = 1
    var step = 0
    while step < names.count, count / unit >= base {
      unit *= base
      step += 1
    }
    return (unit, step == 0 ? "B" : names[step - 1])
  }
}
