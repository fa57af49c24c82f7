import TransferModel

/// The throughput of one interval.
public struct ThroughputRow: Sendable, Hashable {
  /// Milliseconds since 1970 UTC.
  public var fromMs: Int64
  /// Length in milliseconds; the first and the last one may be cut by the window.
  public var lengthMs: Int64
  public var bytesAcked: Int64
  /// Body bytes of all attempts.
  public var bytesTransferred: Int64
  /// Sum of the time of all attempts in it, in milliseconds.
  public var busyMs: Int64
  /// Attempts that began in it.
  public var attempts: Int64
  /// Attempts that ended in it without success.
  public var errors: Int64

  /// Acknowledged bytes a second.
  public var bps: Int64? { Quantity.rate(bytes: bytesAcked, ms: lengthMs) }
  /// Attempts at a time, on average; two decimals.
  public var workers: Double? {
    lengthMs > 0 ? (Double(busyMs) / Double(lengthMs) * 100).rounded() / 100 : nil
  }
}

/// Attempts distributed over intervals of equal length. The bytes of an attempt are distributed evenly over its
/// duration: counting all of them at its end would show peaks that never existed. The shares of one attempt add up to
/// exactly its bytes.
package struct ThroughputSeries: Sendable {
  package static let steps: [(name: String, ms: Int64)] = [
    ("1s", 1_000), ("10s", 10_000), ("1m", 60_000), ("5m", 300_000), ("1h", 3_600_000), ("1d", 86_400_000),
  ]
  package static let shortestMs: Int64 = 1_000
  /// More intervals are refused, because they could not be read.
  package static let limit = 100_000

  package private(set) var rows: [ThroughputRow] = []
  private let fromMs, toMs, stepMs, baseMs: Int64

  /// The window is half-open. Intervals begin at multiples of their length since 1970 UTC, so days are days of UTC. nil
  /// if the window has more than ``limit`` of them.
  package init?(fromMs: Int64, toMs: Int64, stepMs: Int64) {
    let toMs = max(toMs, fromMs +| 1)
    let first = fromMs.floored(by: stepMs)
    let last = (toMs -| 1).floored(by: stepMs)
    guard last - first < Self.limit else { return nil }
    (self.fromMs, self.toMs, self.stepMs, baseMs) = (fromMs, toMs, stepMs, first *| stepMs)
    rows = (first...last).map { index in
      let start = max(index *| stepMs, fromMs)
      return ThroughputRow(
        fromMs: start, lengthMs: min((index + 1) *| stepMs, toMs) -| start, bytesAcked: 0, bytesTransferred: 0,
        busyMs: 0, attempts: 0, errors: 0)
    }
  }

  /// The shortest step with at most 120 intervals.
  package static func automaticStepMs(_ spanMs: Int64) -> Int64 {
    steps.first { spanMs / $0.ms < 120 }?.ms ?? 86_400_000
  }

  /// An open attempt is taken to last until `nowMs`.
  package mutating func add(_ attempt: AttemptInterval, nowMs: Int64) {
    let start = attempt.startedMs
    let end = max(start, attempt.endedMs ?? nowMs)
    if let index = index(start) { rows[index].attempts += 1 }
    // In its last millisecond, because one that ends with the window belongs to it.
    if attempt.isError, let index = index(max(start, end - 1)) { rows[index].errors += 1 }
    if end == start, let index = index(start) {
      rows[index].bytesAcked +|= attempt.bytesAcked
      rows[index].bytesTransferred +|= attempt.bytesTransferred
    }
    spread(start, end) { row, after, until, ms in
      row.busyMs +|= ms
      row.bytesAcked +|= Self.share(attempt.bytesAcked, after, until, of: end -| start)
      row.bytesTransferred +|= Self.share(attempt.bytesTransferred, after, until, of: end -| start)
    }
  }

  /// A body that runs at `nowMs`, whose attempt was added before: its bytes so far count as acknowledged.
  package mutating func add(_ body: InFlightBody, nowMs: Int64) {
    let (start, end) = (body.startedMs, max(body.startedMs, nowMs))
    spread(start, end) { row, after, until, _ in
      let share = Self.share(body.inFlight.bytes, after, until, of: end -| start)
      row.bytesAcked +|= share
      row.bytesTransferred +|= share
    }
  }

  /// Visits each interval from `start` to `end`, with the times after `start` between which it is, and its length.
  private mutating func spread(
    _ start: Int64, _ end: Int64,
    _ visit: (inout ThroughputRow, _ afterMs: Int64, _ untilMs: Int64, _ lengthMs: Int64) -> Void
  ) {
    var from = max(start, fromMs)
    let to = min(end, toMs)
    while from < to {
      let index = Int((from -| baseMs) / stepMs)
      let next = min(to, baseMs +| Int64(index + 1) *| stepMs)
      visit(&rows[index], from -| start, next -| start, next -| from)
      from = next
    }
  }

  private func index(_ ms: Int64) -> Int? { ms >= fromMs && ms < toMs ? Int((ms -| baseMs) / stepMs) : nil }

  /// The share of `bytes` between two times; a difference of two floors, so that neighbours add up.
  private static func share(_ bytes: Int64, _ from: Int64, _ to: Int64, of length: Int64) -> Int64 {
    part(bytes, to, length) -| part(bytes, from, length)
  }

  private static func part(_ bytes: Int64, _ moment: Int64, _ length: Int64) -> Int64 {
    let product = UInt64(max(0, bytes)).multipliedFullWidth(by: UInt64(moment))
    return Int64(UInt64(length).dividingFullWidth(product).quotient)
  }
}

/// The intervals with the highest, the middle and the lowest goodput, of those in which a request ran; the earliest of
/// equal ones, and of an even number the slower of the two in the middle.
package struct ThroughputExtremes: Sendable {
  package let fastest, median, slowest: ThroughputRow?

  package init(_ rows: [ThroughputRow]) {
    let active = rows.filter { $0.busyMs > 0 || $0.bytesTransferred > 0 }
    let sorted = active.sorted { ($0.bps ?? 0, $0.fromMs) < ($1.bps ?? 0, $1.fromMs) }
    slowest = sorted.first
    median = sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
    fastest = sorted.last.flatMap { last in sorted.first { $0.bps == last.bps } }
  }
}

extension ThroughputFigures {
  package static let extremes: [Column<ThroughputExtremes>] =
    extreme("fastest") { $0.fastest } + extreme("median") { $0.median } + extreme("slowest") { $0.slowest }

  private static func extreme(
    _ name: String, _ row: @escaping @Sendable (ThroughputExtremes) -> ThroughputRow?
  ) -> [Column<ThroughputExtremes>] {
    [
      .rate(name + "_bps", name) { row($0)?.bps }.saying { extremes in
        row(extremes).map {
          let (rate, from) = (Cell(bytesPerSecond: $0.bps).text, Cell(time: $0.fromMs).text)
          return "\(rate), \(Quantity.duration($0.lengthMs)) from \(from)"
        }
      },
      .time(name + "_from") { row($0)?.fromMs },
    ]
  }
}

/// The columns of `report throughput`.
package enum ThroughputFigures {
  package static let columns: [Column<ThroughputRow>] = [
    .time("from", "From") { $0.fromMs },
    .duration("length_ms", "Length") { $0.lengthMs },
    .bytes("bytes_acked", "Acked") { $0.bytesAcked },
    .bytes("bytes_transferred", "Transferred") { $0.bytesTransferred },
    .rate("bps", "Goodput") { $0.bps },
    .real("workers", "Workers") { $0.workers },
    .integer("attempts", "Attempts") { $0.attempts },
    .integer("errors", "Errors") { $0.errors },
  ]
}
