import Transfers
import TransferModel

/// One side of `report compare`, as typed: a batch (`b12` or its name), a window `FROM..TO` of which one end may be
/// missing, a day (`today`, `2026-11-01`), `this-week`, `last-week`, `this-month`, `last-month`, or the time until now
/// (`7d`).
struct CompareTerm {
  let text: String

  init(_ text: String) { self.text = text }

  /// The side resolved in a ledger.
  struct Side: Sendable {
    let words: String
    /// Several in a merged ledger if they have the same name; empty for a window.
    var batches: [BatchID] = []
    var sinceMs: Int64?
    var untilMs: Int64?

    /// The rows of a filter that are on this side.
    func filter(_ filter: RowFilter) -> RowFilter {
      var filter = filter
      (filter.sinceMs, filter.untilMs) = (sinceMs, untilMs)
      guard !batches.isEmpty else { return filter }
      let numbers = batches.map(\.rawValue)
      filter.withinBatches = filter.withinBatches.map { $0.filter { numbers.contains($0) } } ?? numbers
      return filter
    }
  }

  /// Looks for a batch of that name before a window.
  func side(_ ledger: OpenStore, _ context: Context) throws(CommandFailure) -> Side {
    let batches = try LedgerAccess.read(ledger) { [text] in try $0.batches(named: text) }
    if !batches.isEmpty { return Side(words: text, batches: batches) }
    var side = Side(words: text)
    if let border = text.firstRange(of: "..") {
      side.sinceMs = try moment(text[..<border.lowerBound], ledger, context)
      side.untilMs = try moment(text[border.upperBound...], ledger, context)
      guard side.sinceMs != nil || side.untilMs != nil else { throw unknown }
    } else if let window = Self.window(text, context.clock) {
      (side.sinceMs, side.untilMs) = (window.lowerBound, window.upperBound)
    } else {
      throw unknown
    }
    if let since = side.sinceMs, let until = side.untilMs, until <= since {
      throw .usage(
        "the window \"\(printable(text))\" is empty: it ends before it begins", remedy: "2026-11-01..2026-11-08")
    }
    return side
  }

  private func moment(
    _ part: Substring, _ ledger: OpenStore, _ context: Context
  ) throws(CommandFailure) -> Int64? {
    part.isEmpty ? nil : try Selection().time(String(part), "\"\(printable(text))\":", ledger, context)
  }

  private var unknown: CommandFailure {
    .usage(
      "\"\(printable(text))\" is neither a batch of this ledger nor a time window",
      remedy: "b12, a name, 2026-11-01..2026-11-08, 7d.., today, last-week; transfers help time")
  }

  private static let units: [String: (CalendarPeriod, Int32)] = [
    "today": (.day, 0), "yesterday": (.day, -1), "this-week": (.week, 0), "last-week": (.week, -1),
    "this-month": (.month, 0), "last-month": (.month, -1),
  ]

  /// The window of a named period; nil for anything else.
  private static func window(_ text: String, _ clock: any TransferClock) -> Range<Int64>? {
    if let (unit, offset) = units[text] {
      let from = Moment.begin(of: unit, clock.wallMs, offset: offset)
      return from..<max(from, Moment.begin(of: unit, clock.wallMs, offset: offset + 1))
    }
    switch Moment(text: text) {
    case .ago(let ms): return clock.wallMs - ms..<clock.wallMs
    case .local where !text.contains(":"):
      guard let from = Moment(text: text)?.wallMs(clock, lastRunMs: nil) else { return nil }
      return from..<max(from, Moment.begin(of: .day, from, offset: 1))
    default: return nil
    }
  }
}
