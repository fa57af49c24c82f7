import TransferModel
import TransferReports
import Transfers

/// The note about attempts that `store prune` deleted and that a report cannot count, so that its figures are not
/// mistaken for the complete history.
enum PrunedNote {
  /// How a report counts them.
  enum Counting {
    /// It includes their remaining sums.
    case sums
    /// It needs single attempts, and so cannot count them.
    case nothing
    /// It needs only rows that are kept.
    case unneeded
  }

  /// Adds the note at the top: text for people, and `pruned` for programs.
  static func added(_ pruned: PrunedHistory, to report: Report) -> Report {
    guard pruned.attempts > 0 else { return report }
    return Report(report.schema, form.report(pruned).sections + report.sections, rows: report.rows)
  }

  /// Prints a note for formats without a place for it.
  static func tell(_ pruned: PrunedHistory, _ common: CommonOptions, _ context: Context, always: Bool = false) {
    guard pruned.attempts > 0, !common.quiet else { return }
    switch common.format {
    case .csv, .tsv, .ndjson, .prometheus: context.err.writeLine("transfers: \(words(pruned))")
    case .table, .markdown, .html, .json: if always { context.err.writeLine("transfers: \(words(pruned))") }
    }
  }

  private static let form = ReportForm<PrunedHistory>(
    "transfers.pruned/1",
    [
      .words { words($0) },
      .record(
        "pruned", nil,
        [.integer("attempts") { $0.attempts }, .time("first_at") { $0.firstMs }, .time("last_at") { $0.lastMs }]
      ) { $0 },
    ])

  private static func words(_ pruned: PrunedHistory) -> String {
    let times = [pruned.firstMs, pruned.lastMs].compactMap { $0.map { CivilTime(wallMs: $0).rfc3339 } }
    return "not in these figures: \(Quantity.count(Int(pruned.attempts), "attempt")) between "
      + times.joined(separator: " and ") + " that \"store prune\" deleted"
  }
}

extension StoreReader {
  func prunedHistory(_ filter: RowFilter, counted: PrunedNote.Counting) throws -> PrunedHistory {
    switch counted {
    case .sums: try prunedHistory(filter, isSummed: true)
    case .nothing: try prunedHistory(filter, isSummed: false)
    case .unneeded: PrunedHistory()
    }
  }
}

extension CommandFailure {
  /// The failure for a selected row that was pruned.
  static func pruned(_ row: PrunedRow) -> CommandFailure {
    .usage(
      "\(row.id) was pruned on \(CivilTime(wallMs: row.atMs).rfc3339): its requests were deleted from this ledger",
      remedy: "transfers report still counts them; an earlier backup has them")
  }
}
