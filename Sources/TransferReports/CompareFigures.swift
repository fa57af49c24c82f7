import TransferModel

/// One side of `report compare`: a batch or a time window, with its figures.
package struct ComparedSide: Sendable {
  /// As it was typed.
  package let words: String
  package let batch: BatchID?
  /// The half-open window, in milliseconds since 1970 UTC; nil if it is unbounded on that side.
  package let sinceMs: Int64?
  package let untilMs: Int64?
  package let summary: SummaryFigures

  package init(_ words: String, batch: BatchID?, sinceMs: Int64?, untilMs: Int64?, _ summary: SummaryFigures) {
    (self.words, self.batch, self.sinceMs, self.untilMs) = (words, batch, sinceMs, untilMs)
    self.summary = summary
  }

  package static let columns: [Column<ComparedSide>] = [
    .text("selection", "selection") { $0.words },
    .text("batch", "batch") { $0.batch?.description },
    .time("from", "from") { $0.sinceMs },
    .time("to", "to") { $0.untilMs },
  ]
}

/// One figure of both sides.
package struct ComparedFigure: Sendable {
  package let name: String
  package let title: String
  package let before: Cell
  package let after: Cell

  /// The figures of summaries that describe the result.
  package static func all(_ before: SummaryFigures, _ after: SummaryFigures) -> [ComparedFigure] {
    figures.map { name, title, cell in
      ComparedFigure(name: name, title: title, before: cell(before), after: cell(after))
    }
  }

  /// After minus before, of the same kind; unknown if either is unknown.
  package var change: Cell {
    switch (before, after) {
    case (.integer(let a), .integer(let b)): .integer(b -| a)
    case (.bytes(let a), .bytes(let b)): .bytes(b -| a)
    case (.milliseconds(let a), .milliseconds(let b)): .milliseconds(b -| a)
    case (.bytesPerSecond(let a), .bytesPerSecond(let b)): .bytesPerSecond(b -| a)
    case (.share(let a), .share(let b)): .points(((b - a) * 1_000_000).rounded() / 1_000_000)
    default: .none
    }
  }

  /// The change in percent of the first figure, to three decimals; unknown if that is zero.
  package var percent: Double? {
    guard let a = Self.number(before), let b = Self.number(after), a != 0 else { return nil }
    return ((b - a) / a * 100_000).rounded() / 1000
  }

  private static func number(_ cell: Cell) -> Double? {
    switch cell {
    case .integer(let number), .bytes(let number), .milliseconds(let number), .bytesPerSecond(let number):
      Double(number)
    case .real(let number), .share(let number): number
    default: nil
    }
  }

  private typealias Figure = (name: String, title: String, cell: @Sendable (SummaryFigures) -> Cell)

  private static let figures: [Figure] = volume + faults + speed

  private static let volume: [Figure] = [
    ("files_total", "files", { Cell($0.totals.files) }),
    ("files_done", "files done", { Cell($0.totals.count(.done)) }),
    ("files_failed", "files failed", { Cell($0.totals.count(.failed)) }),
    ("verified_share", "done and verified", { .share($0.totals.verified, in: $0.totals.count(.done)) }),
    ("bytes", "size", { .bytes($0.totals.bytes) }),
    ("bytes_acked", "acked", { .bytes($0.totals.bytesAcked) }),
    ("bytes_transferred", "transferred", { .bytes($0.totals.bytesTransferred) }),
    ("bytes_unacked", "transferred again", { .bytes($0.totals.bytesUnacked) }),
  ]

  private static let faults: [Figure] = [
    ("attempts", "attempts", { .integer($0.attempts.attempts) }),
    ("errors", "errors", { .integer($0.attempts.errors) }),
    ("error_rate", "error rate", { Share.of($0.attempts.errors, in: $0.attempts.attempts).map(Cell.share) ?? .none }),
    ("retries", "retries", { Cell($0.totals.retries) }),
    ("backoff_ms", "backoff", { .milliseconds($0.backoffMs) }),
  ]

  private static let speed: [Figure] = [
    ("wall_ms", "wall", { Cell(ms: $0.wallMs) }),
    ("active_ms", "active", { Cell(ms: $0.activeMs) }),
    ("goodput_wall_bps", "goodput, wall", { Cell(bytesPerSecond: $0.wallRate) }),
    ("goodput_active_bps", "goodput, active", { Cell(bytesPerSecond: $0.activeRate) }),
    ("part_p50_ms", "part p50", { Cell(ms: $0.attempts.latency.p50) }),
    ("part_p95_ms", "part p95", { Cell(ms: $0.attempts.latency.p95) }),
    ("part_p99_ms", "part p99", { Cell(ms: $0.attempts.latency.p99) }),
  ]

  /// Each figure has the unit of its name.
  package static let columns: [Column<ComparedFigure>] = [
    .text("figure") { $0.name }.label(),
    .text("title", "Figure") { $0.title },
    Column(FigureHeading("a", "A", .real)) { $0.before },
    Column(FigureHeading("b", "B", .real)) { $0.after },
    Column(FigureHeading("change", "Change", .real)) { $0.change },
    Column(FigureHeading("percent", "Change %", .real)) { $0.percent.map(Cell.percent) ?? .none },
  ]
}

extension SummaryFigures {
  /// Total wait before repeated attempts.
  var backoffMs: Int64 { costs.reduce(0) { $0 +| ($1.cause == .backoff ? $1.ms : 0) } }
}

extension FileTotals {
  fileprivate var verified: Int { max(0, count(.done) -| unverified) }
}

extension Cell {
  fileprivate static func share(_ part: Int, in whole: Int) -> Cell {
    Share.of(Int64(part), in: Int64(whole)).map(Cell.share) ?? .none
  }
}
