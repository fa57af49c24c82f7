import ArgumentParser
import TransferModel
import TransferReports

/// What a report does with its rows: their order, what they are counted by, and what is judged.
struct ArrangementOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Order the rows by this column; :desc puts the largest first.", valueName: "column[:desc]"))
  var sort: SortWord?

  @Option(
    help: ArgumentHelp(
      "For summary, files and batches the time that places a file in --since and --until: started, finished, created. "
        + "For failures what groups differ in: code, host, hour, path-prefix; comma-separated. "
        + "For latency host, batch, protocol, direction or job.", valueName: "words"))
  var by: ByWords?

  @Option(
    help: ArgumentHelp(
      "For files, attempts and failures: how many there are of each host, state, error, batch or direction; "
        + "comma-separated.", valueName: "names"))
  var facet: FacetWords?

  @Option(
    name: .customLong("fail-on"),
    help: ArgumentHelp(
      "Exit 3, or 8 for mismatch, when this is so: failures, mismatch, unverified, sla, 'failed>0', 'error_rate>1%' …; "
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
