import ArgumentParser
import TransferModel
import TransferReports

/// Order, grouping and conditions of a report.
struct ArrangementOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Order the rows by this column; :desc puts the largest first.", valueName: "column[:desc]"))
  var sort: SortWord?

  @Option(
    help: ArgumentHelp(
      "For summary, files and batches the time to which --since and --until apply: started, finished, created. "
        + "For failures what to group by: code, host, hour, path-prefix; comma-separated. "
        + "For latency host, batch, protocol, direction or job.", valueName: "words"))
  var by: ByWords?

  @Option(
    help: ArgumentHelp(
      "For files, attempts and failures: counts by host, state, error, batch or direction; "
        + "comma-separated.", valueName: "names"))
  var facet: FacetWords?

  @Option(
    name: .customLong("fail-on"),
    help: ArgumentHelp(
      "Exit with 3, or 8 for mismatch, when this condition holds: failures, mismatch, unverified, sla, 'failed>0', 'error_rate>1%' …; "
        + "repeatable.", valueName: "condition"))
  var failOn: [FailCondition] = []

  /// For the document's `filters`.
  var filters: [String: Cell] {
    var filters: [String: Cell] = [:]
    if let sort { filters["sort"] = .text(sort.text) }
    if let by { filters["by"] = .text(by.text) }
    if let facet { filters["facet"] = .text(facet.text) }
    return filters
  }
}
