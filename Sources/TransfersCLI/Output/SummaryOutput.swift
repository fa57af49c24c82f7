import TransferModel
import TransferReports

/// `report summary` in its two renderings.
struct SummaryOutput: OutputValue {
  static let schema = "transfers.report.summary/1"
  let figures: SummaryFigures
  let absence: Absence

  func encode(to encoder: any Encoder) throws { try figures.encode(to: encoder) }

  func text(_ style: TextStyle) -> String {
    guard figures.filesTotal > 0 else { return absence.line }
    var out = ""
    for (name, value) in lines { out += DisplayWidth.pad(name, to: 12, alignsRight: false) + value + "\n" }
    out += section("failures", figures.failures, style)
    out += section("slowest files", figures.slowest, style)
    return out
  }

  private var lines: [(String, String)] {
    var lines: [(String, String)] = []
    let states = FileState.allCases.compactMap { state in
      figures.files[state.rawValue].map { "\($0) \(state.rawValue)" }
    }
    lines.append(("batches", "\(figures.batches)"))
    lines.append(("files", "\(figures.filesTotal): " + states.joined(separator: ", ")))
    let unacked = Quantity.unacked(figures.bytesUnacked, atMost: figures.bytesUnackedAtMost).map { ", \($0)" } ?? ""
    let reused = Quantity.reused(figures.bytesReused).map { ", \($0)" } ?? ""
    let size = "\(Quantity.bytes(figures.bytesAcked)) acked of \(Quantity.bytes(figures.bytes))\(reused)\(unacked)"
    lines.append(("bytes", size))
    lines.append(("attempts", attempts))
    if figures.startedAt != .none {
      lines.append(("time", "\(figures.startedAt.text) to \(figures.finishedAt.text)"))
      lines.append(("wall", "\(figures.wallMs.text), goodput \(figures.goodputWallBps.text)"))
      lines.append(("active", "\(figures.activeMs.text), goodput \(figures.goodputActiveBps.text)"))
    }
    if figures.partLatency.n > 0 { lines.append(("part time", latency)) }
    if figures.filesUnverified > 0 {
      lines.append(
        ("unverified", "\(Quantity.count(figures.filesUnverified, "file")) done without a proof by the server"))
    }
    return lines
  }

  private var attempts: String {
    let outcomes = AttemptOutcome.allCases.compactMap { outcome in
      figures.attemptsByOutcome[outcome.rawValue].map { "\($0) \(outcome.rawValue)" }
    }
    return "\(figures.attempts)" + (outcomes.isEmpty ? "" : ": " + outcomes.joined(separator: ", "))
  }

  /// Below twenty a percentile says nothing that the maximum does not.
  private var latency: String {
    let part = figures.partLatency
    let tail = part.n < 20 ? "" : ", p95 \(part.p95Ms.text), p99 \(part.p99Ms.text)"
    return "p50 \(part.p50Ms.text)\(tail), max \(part.maxMs.text) (n = \(part.n))"
  }

  private func section(_ title: String, _ table: FigureTable, _ style: TextStyle) -> String {
    guard !table.rows.isEmpty else { return "" }
    var text = Table(style, indent: 2)
    return "\(title)\n" + text.page(table)
  }
}
