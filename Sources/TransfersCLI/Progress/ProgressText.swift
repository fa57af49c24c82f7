import TransferReports
import Transfers

/// One line that says how far a run is.
enum ProgressText {
  /// `61 of 118 files  1.6 GiB / 3.2 GiB  50%  34.9 MiB/s  ETA 0:47  2 failed  1 retrying`.
  /// Parts are left out from the right until it fits `columns`.
  static func line(_ now: ProgressSnapshot, bytesPerSecond: Int64?, columns: Int?) -> String {
    let moved = min(now.bytesAcked + max(now.bytesInFlight, 0), now.bytesTotal)
    var parts = ["\(now.filesDone) of \(Quantity.count(now.filesTotal, "file"))"]
    parts.append("\(Quantity.bytes(moved)) / \(Quantity.bytes(now.bytesTotal))")
    if now.bytesTotal > 0 { parts.append("\(percent(moved, of: now.bytesTotal))%") }
    if now.filesFailed > 0 { parts.append("\(now.filesFailed) failed") }
    if now.retrying > 0 { parts.append("\(now.retrying) retrying") }
    parts.append(bytesPerSecond.map { Quantity.bytesPerSecond($0) } ?? "- B/s")
    parts.append("ETA \(eta(now, moved: moved, bytesPerSecond: bytesPerSecond))")
    guard let columns else { return parts.joined(separator: "  ") }
    while parts.count > 1, DisplayWidth.of(parts.joined(separator: "  ")) > columns { parts.removeLast() }
    return DisplayWidth.cutMiddle(parts.joined(separator: "  "), to: columns)
  }

  /// Rounded down, so that 100 is only said of the whole.
  static func percent(_ part: Int64, of whole: Int64) -> Int {
    guard whole > 0 else { return 100 }
    return Int(Double(max(0, min(part, whole))) / Double(whole) * 100)
  }

  private static func eta(_ now: ProgressSnapshot, moved: Int64, bytesPerSecond: Int64?) -> String {
    guard now.elapsedMs >= 3000, let rate = bytesPerSecond, rate > 0 else { return "-" }
    let seconds = Double(now.bytesTotal - moved) / Double(rate)
    return Quantity.remaining(Int64(min(seconds * 1000, 1e12)))
  }
}
