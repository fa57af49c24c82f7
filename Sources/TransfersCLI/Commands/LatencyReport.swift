import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `report latency`: how long attempts, chunks, files and batches took.
struct LatencyReport: OutputValue {
  let rows: [LatencyRow]
  let objectives: [ObjectiveRow]

  init(_ found: LatencyHistograms, _ objectives: [LatencyObjective] = []) {
    rows = LatencyRow.all(found)
    self.objectives = ObjectiveRow.all(objectives, rows)
  }

  /// The number of values that missed an objective; nil if none did, and an objective has no values.
  var missed: Int64? {
    let missed = objectives.reduce(0) { $0 +| $1.missed }
    return missed == 0 && objectives.contains { $0.n == 0 } ? nil : missed
  }

  static let form = ReportForm<LatencyReport>(
    "transfers.report.latency/1", rows: "latencies",
    [
      .table("latencies", nil, LatencyReportFigures.columns, TableLook(empty: "no times were measured")) { $0.rows },
      .table("objectives", "objectives", LatencyReportFigures.objectives) { $0.objectives },
      .table(
        "classes", "distribution of times; the bars show chunks", LatencyReportFigures.classes,
        TableLook(chart: .histogram(name: "up_to_ms", value: "chunks"))
      ) { LatencyClass.all($0.rows) },
    ])
}

/// `--sla 'file.wall<10m'`.
struct SLAExpression: ExpressibleByArgument, Sendable {
  let objective: LatencyObjective

  /// nil unless it is a measure, `<` or `<=`, and a duration.
  init?(argument: String) {
    let parts = argument.split(separator: "<", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let measure = LatencyMeasure(rawValue: Self.trimmed(parts[0])) else { return nil }
    let isInclusive = parts[1].hasPrefix("=")
    guard let limit = TimeSpan(text: Self.trimmed(parts[1].dropFirst(isInclusive ? 1 : 0))) else { return nil }
    objective = LatencyObjective(measure, limit.ms, isInclusive: isInclusive)
  }

  private static func trimmed(_ text: Substring) -> String {
    text.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
  }
}
