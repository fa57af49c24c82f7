import Transfers
import TransferModel
import TransferReports

/// A report with `--facet`: the number of rows of each value, and the options that select them.
struct FacetsReport: OutputValue {
  let rows: [FacetRow]

  static let form = ReportForm<FacetsReport>(
    "transfers.report.facets/1", rows: "facets",
    [.table("facets", nil, FacetFigures.columns, TableLook(empty: "nothing to count")) { $0.rows }])

  /// The facets in the given order, the values of each by descending count.
  init(_ facets: [FacetWords.Facet], _ tallies: [FacetTally], of subject: FacetSubject) {
    rows = facets.flatMap { facet in
      var sums: [String?: (files: Int64, attempts: Int64)] = [:]
      for tally in tallies {
        let sum = sums[facet.value(of: tally)] ?? (0, 0)
        sums[facet.value(of: tally)] = (sum.files + tally.files, sum.attempts + tally.attempts)
      }
      let ordered = sums.sorted { a, b in
        (b.value.files, b.value.attempts, a.key ?? "") < (a.value.files, a.value.attempts, b.key ?? "")
      }
      return ordered.map { value, sum in
        FacetRow(
          facet: facet.rawValue, value: value, files: subject == .attempts ? nil : sum.files,
          attempts: subject == .files ? nil : sum.attempts, filter: value.map(facet.filter))
      }
    }
  }
}

extension FacetWords.Facet {
  fileprivate func value(of tally: FacetTally) -> String? {
    switch self {
    case .host: tally.host.isEmpty ? nil : tally.host
    case .state: tally.state
    case .error: tally.errorCode
    case .batch: tally.batch.description
    case .direction: tally.direction == .upload ? "up" : "down"
    }
  }

  /// The options that select the value, quoted for a shell.
  fileprivate func filter(_ value: String) -> String {
    var selection = Selection()
    switch self {
    case .host: selection.hosts = [Self.literal(value)]
    case .state: selection.states = [value]
    case .error: selection.errors = [value]
    case .batch: selection.batches = [value]
    case .direction: selection.facts.direction = DirectionWord(rawValue: value)
    }
    return String(selection.words.dropFirst())
  }

  /// A glob that matches only this text.
  private static func literal(_ text: String) -> String {
    text.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
  }
}

/// `report failures --by`: failures grouped by common properties.
struct FailureGroupsReport: Sendable {
  let kinds: Set<FailureGroup.Kind>
  let rows: [FailureGroup]

  var report: Report { Self.form(kinds).report(rows) }

  static func form(_ kinds: Set<FailureGroup.Kind>) -> ReportForm<[FailureGroup]> {
    ReportForm(
      "transfers.report.failure_groups/1", rows: "groups",
      [.table("groups", nil, FailureGroupFigures.columns(kinds), TableLook(empty: "no failures")) { $0 }])
  }
}
