import TransferModel
import TransferReports

/// Progress in words.
enum ProgressText {
  /// `61 of 118 files  1.6 / 3.2 GiB  50%  34.9 MiB/s  ETA 0:47  2 failed  1 retrying`: the line for logs.
  static func line(_ figures: ProgressFigures, units: ByteUnits = .iec) -> String {
    let now = figures.now
    var parts = ["\(now.filesDone) of \(Quantity.count(now.filesTotal, "file"))"]
    if figures.filesAdded > 0 { parts[0] += " (+\(figures.filesAdded))" }
    parts.append(size(now, units))
    parts.append(now.totalIsKnown ? "\(figures.percent)%" : "counting")
    if let ms = now.waitingForServerMs {
      parts.append(waiting(ms))
    } else {
      parts.append(rate(figures.bytesPerSecond, units))
      parts.append("ETA \(eta(figures.etaMs))")
    }
    if now.filesFailed > 0 { parts.append("\(now.filesFailed) failed") }
    if now.filesUnknown > 0 { parts.append("\(now.filesUnknown) unknown") }
    if now.retrying > 0 { parts.append("\(now.retrying) retrying") }
    return parts.joined(separator: "  ")
  }

  /// Acknowledged bytes and bytes in flight, and the total if it is known.
  static func size(_ now: ProgressSnapshot, _ units: ByteUnits) -> String {
    guard now.totalIsKnown, now.sizesUnknown == 0 else {
      return Quantity.bytes(now.bytesAcked + max(now.bytesInFlight, 0), units)
    }
    return Quantity.fraction(now.bytesMoved, of: now.bytesTotal, units)
  }

  static func rate(_ bytesPerSecond: Int64?, _ units: ByteUnits) -> String {
    bytesPerSecond.map { Quantity.bytesPerSecond($0, units) } ?? "- B/s"
  }

  static func eta(_ ms: Int64?) -> String { ms.map { Quantity.remaining($0) } ?? "-" }

  /// The text shown instead of a bar; nil for a file that is being sent.
  static func phase(_ phase: FileProgress.Phase) -> (text: String, colour: TextStyle.Colour?)? {
    switch phase {
    case .sending: nil
    case .finishing: ("finishing", nil)
    case .waitingForServer(let ms): (waiting(ms), nil)
    case .stalled(let ms): ("stalled \(wait(ms))", .yellow)
    case .retrying(let ms, let code, let number, let limit):
      ("retry in \(wait(ms + 999)) (\(code.rawValue), try \(number) of \(limit))", .yellow)
    case .failed(let code): ("failed (\(code.rawValue))", .red)
    }
  }

  /// All bytes are sent. How long the server will take is not known, only how long it has taken.
  static func waiting(_ ms: Int64) -> String { "waiting for the server to finish (\(Quantity.clock(ms)))" }

  /// Whole seconds: `12 s`, `1m 34s`.
  private static func wait(_ ms: Int64) -> String { ms < 60_000 ? "\(ms / 1000) s" : Quantity.duration(ms) }

  /// `61%`; while the size of some files is not known, how many these are.
  static func share(_ totals: StateTotals, acked: Int64) -> String {
    totals.unsized > 0 ? "\(totals.unsized) of unknown size" : "\(percent(acked, of: totals.bytes))%"
  }

  /// Rounded down, so that 100 means complete.
  static func percent(_ part: Int64, of whole: Int64) -> Int {
    guard whole > 0 else { return 100 }
    return Int(Double(max(0, min(part, whole))) / Double(whole) * 100)
  }
}
