import ArgumentParser
import TransferModel
import TransferReports

extension ReportCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
    case summary, batches, files, chunks, attempts, failures, throughput, slow, latency, waste, integrity, retries,
      hosts, daily, weekly, monthly, compare, receipts, events, runs, trace, otlp

    var period: CalendarPeriod? {
      switch self {
      case .daily: .day
      case .weekly: .week
      case .monthly: .month
      default: nil
      }
    }
  }
}

extension ReportCommand.Kind {
  /// How it counts attempts that `store prune` deleted.
  var countsPruned: PrunedNote.Counting {
    switch self {
    case .summary, .batches, .hosts, .daily, .weekly, .monthly, .failures, .runs, .compare: .sums
    case .files, .integrity, .receipts, .events: .unneeded
    case .chunks, .attempts, .throughput, .slow, .latency, .waste, .retries, .trace, .otlp: .nothing
    }
  }

  /// Inapplicable options, by their long names.
  var inapplicableOptions: Set<String> {
    var idle: Set<String> = self == .throughput ? [] : ["bucket"]
    // These are totals, or would be misleading if truncated.
    if [.summary, .throughput, .latency, .waste, .integrity, .retries, .compare, .trace, .otlp].contains(self) {
      idle.insert("limit")
    }
    if self != .latency { idle.insert("sla") }
    if self != .chunks { idle.insert("map") }
    if self != .otlp { idle.formUnion(["endpoint", "header"]) }
    if [.summary, .compare, .receipts, .events, .trace, .otlp].contains(self) { idle.insert("sort") }
    if self == .otlp { idle.insert("fail-on") }
    if self == .trace { idle.formUnion(["fail-on", "format", "json", "columns"]) }
    if ![.summary, .files, .batches, .failures, .latency].contains(self) { idle.insert("by") }
    if ![.files, .attempts, .failures].contains(self) { idle.insert("facet") }
    return idle
  }
}
