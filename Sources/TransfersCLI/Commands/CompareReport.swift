import Transfers
import TransferModel
import TransferReports

/// `report compare A B`: two batches or windows of time side by side.
struct CompareReport: OutputValue {
  let before: ComparedSide
  let after: ComparedSide

  static let form = ReportForm<CompareReport>(
    "transfers.report.compare/1", rows: "figures",
    [
      .record("a", "A", ComparedSide.columns) { $0.before },
      .record("b", "B", ComparedSide.columns) { $0.after },
      .table("figures", "what changed from A to B", ComparedFigure.columns) {
        ComparedFigure.all($0.before.summary, $0.after.summary)
      },
    ])

  /// Reads both sides in one snapshot.
  init(_ sides: [CompareTerm.Side], _ filter: RowFilter, _ reader: StoreReader) throws {
    func read(_ side: CompareTerm.Side) throws -> ComparedSide {
      ComparedSide(
        side.words, batch: side.batches.count == 1 ? side.batches[0] : nil, sinceMs: side.sinceMs,
        untilMs: side.untilMs,
        try reader.summary(side.filter(filter)))
    }
    (before, after) = (try read(sides[0]), try read(sides[1]))
  }
}

extension SelectionOptions {
  /// The two sides, which take the place of IDs, and the rest of the selection, which applies to both.
  func sides(_ ledger: OpenStore, _ context: Context) throws(CommandFailure) -> ([CompareTerm.Side], RowFilter) {
    let words = rows.ids
    guard words.count == 2 else {
      throw .usage(
        "report compare needs two batches or windows of time",
        remedy: "transfers report compare last-week this-week; transfers report compare b12 b13")
    }
    if let given = narrowing.first(where: { ["--since", "--until", "--batch", "--last"].contains($0) }) {
      throw .usage("report compare takes batches and times as A and B; \(given) does not apply", remedy: "leave it out")
    }
    var rest = self
    rest.rows.ids = []
    let filter = try rest.filter(ledger, context).withHidden
    var sides: [CompareTerm.Side] = []
    for text in words { sides.append(try CompareTerm(text).side(ledger, context)) }
    return (sides, filter)
  }
}
