import TransferModel
import TransferReports

extension ArrangementOptions {
  /// Refuses options that do not apply to this report.
  func check(_ kind: ReportCommand.Kind, _ selection: SelectionOptions) throws(CommandFailure) {
    let idle = kind.inapplicableOptions
    if sort != nil, idle.contains("sort") {
      throw .usage(
        "--sort is not for summary, compare, receipts, events, trace and otlp, which have a fixed order",
        remedy: "transfers report files --sort …")
    }
    if facet != nil, idle.contains("facet") {
      throw .usage("--facet is for files, attempts and failures", remedy: "transfers report files --facet host")
    }
    if facet != nil, by != nil {
      throw .usage("--facet and --by exclude each other; give one of them", remedy: "leave one out")
    }
    if !failOn.isEmpty, idle.contains("fail-on") {
      throw .usage("--fail-on is not for trace and otlp", remedy: "transfers report summary --fail-on …")
    }
    guard let by else { return }
    let isMeant =
      switch kind {
      case .failures: !by.kinds.isEmpty
      case .latency: by.group != nil
      default: by.moment != nil && !idle.contains("by")
      }
    guard isMeant else {
      throw .usage(
        "--by \(by.text) is not for \(kind.rawValue)",
        remedy: "started, finished, created for summary, files and batches; code, host, hour, path-prefix for "
          + "failures; host, batch, protocol, direction, job for latency")
    }
    if by.moment != nil, selection.rows.since == nil, selection.rows.until == nil {
      throw .usage(
        "--by \(by.text) needs --since or --until", remedy: "--since 7d")
    }
  }
}

extension CommandFailure {
  /// The error for a `--sort` column that does not exist or cannot be sorted by.
  static func unknownOrder(_ error: UnknownFigure) -> CommandFailure {
    .usage(
      "--sort \"\(printable(error.name))\" is not a column to sort by",
      remedy: error.known.isEmpty ? "leave out --sort" : "one of " + error.known.joined(separator: ","))
  }
}
