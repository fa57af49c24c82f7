import TransferModel

/// One row of `report latency`: how long one kind of work took in one group.
package struct LatencyRow: Sendable, Hashable {
  package let group: String
  package let measure: LatencyMeasure
  package let histogram: LatencyHistogram
  package let figures: LatencyFigures

  init(_ group: String, _ measure: LatencyMeasure, _ histogram: LatencyHistogram) {
    (self.group, self.measure, self.histogram) = (group, measure, histogram)
    figures = LatencyFigures(histogram.counts)
  }

  /// By group, then measure; measures without values are omitted.
  package static func all(_ found: LatencyHistograms) -> [LatencyRow] {
    found.sorted { $0.key < $1.key }.flatMap { group, measures in
      LatencyMeasure.allCases.compactMap { measure in
        measures[measure].flatMap { $0.counts.isEmpty ? nil : LatencyRow(group, measure, $0) }
      }
    }
  }
}

/// One class of `report latency`: times above the previous class, up to this one.
package struct LatencyClass: Sendable, Hashable {
  package let upToMs: Int64
  package var counts: [LatencyMeasure: Int64] = [:]

  /// From the first class that is not empty to the last: 1, 2 and 5 times a power of ten milliseconds.
  package static func all(_ rows: [LatencyRow]) -> [LatencyClass] {
    let longest = rows.compactMap(\.figures.max).max() ?? 0
    let shortest = rows.compactMap { $0.histogram.counts.keys.min() }.min() ?? 0
    let bounds = bounds(through: longest)
    var classes = bounds.map { LatencyClass(upToMs: $0) }
    for row in rows {
      for (ms, count) in row.histogram.counts {
        guard let index = bounds.firstIndex(where: { ms <= $0 }) else { continue }
        classes[index].counts[row.measure, default: 0] += count
      }
    }
    return rows.isEmpty ? [] : classes.filter { $0.upToMs >= shortest }
  }

  private static func bounds(through ms: Int64) -> [Int64] {
    var (bounds, power) = ([Int64](), Int64(1))
    while bounds.last ?? 0 < ms || bounds.isEmpty {
      bounds += [power, 2 *| power, 5 *| power]
      power = power *| 10
    }
    return Array(bounds[...(bounds.firstIndex { $0 >= ms } ?? bounds.count - 1)])
  }
}

/// A latency objective, and how many values met it.
package struct LatencyObjective: Sendable, Hashable {
  package let measure: LatencyMeasure
  package let limitMs: Int64
  /// Whether a value equal to the limit meets it.
  package let isInclusive: Bool

  package init(_ measure: LatencyMeasure, _ limitMs: Int64, isInclusive: Bool) {
    (self.measure, self.limitMs, self.isInclusive) = (measure, limitMs, isInclusive)
  }

  func met(_ histogram: LatencyHistogram) -> Int64 {
    isInclusive ? histogram.count(upTo: limitMs) : histogram.count(below: limitMs)
  }
}

/// The result of one objective in one group.
package struct ObjectiveRow: Sendable, Hashable {
  package let objective: LatencyObjective
  package let group: String
  package let n: Int64
  package let met: Int64
  package var missed: Int64 { n - met }

  /// Each objective with each group that has values of its measure; an objective without any has an empty row.
  package static func all(_ objectives: [LatencyObjective], _ rows: [LatencyRow]) -> [ObjectiveRow] {
    objectives.flatMap { objective in
      let measured = rows.filter { $0.measure == objective.measure }.map { row in
        ObjectiveRow(objective: objective, group: row.group, n: row.figures.n, met: objective.met(row.histogram))
      }
      return measured.isEmpty ? [ObjectiveRow(objective: objective, group: "all", n: 0, met: 0)] : measured
    }
  }
}

/// The columns of `report latency`.
package enum LatencyReportFigures {
  package static let columns: [Column<LatencyRow>] = [
    .text("group", "Group") { $0.group }.label(),
    .text("measure", "Measure") { $0.measure.rawValue }.label(),
    .integer("n", "n") { $0.figures.n },
    .duration("p50_ms", "p50") { $0.figures.p50 },
    .duration("p90_ms", "p90") { $0.figures.p90 },
    .duration("p95_ms", "p95") { $0.figures.p95 },
    .duration("p99_ms", "p99") { $0.figures.p99 },
    .duration("max_ms", "Max") { $0.figures.max },
  ]

  package static let objectives: [Column<ObjectiveRow>] = [
    .text("measure", "Objective") { $0.objective.measure.rawValue }.label(),
    .duration("limit_ms", "Limit") { $0.objective.limitMs },
    .flag("is_inclusive") { $0.objective.isInclusive },
    .text("group", "Group") { $0.group }.label(),
    .integer("n", "n") { $0.n },
    .integer("met", "Met") { $0.met },
    .integer("missed", "Missed") { $0.missed },
    .share("met_share", "Share met") { Share.of($0.met, in: $0.n) },
  ]

  package static let classes: [Column<LatencyClass>] = [
    .duration("up_to_ms", "Up to") { $0.upToMs },
    .integer("chunks", "Chunks") { $0.counts[.chunk] ?? 0 },
    .integer("attempts", "Attempts") { $0.counts[.attempt] ?? 0 },
    .integer("files", "Files") { $0.counts[.file] ?? 0 },
    .integer("batches", "Batches") { $0.counts[.batch] ?? 0 },
  ]
}
