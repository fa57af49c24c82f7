import ArgumentParser

/// The output formats, all made from the same value.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// For people: may change at any time.
  case table
  /// One document.
  case json
  /// One JSON record a line, for streams; the last one is the summary.
  case ndjson
  /// RFC 4180 with a header line.
  case csv
  /// A header line and tabs; control characters and backslashes are escaped, `\t`, `\n`, `\r`, `\\` and `\xNN`.
  case tsv

  /// Tables and lists, as GitHub and GitLab read them.
  case markdown
  /// One self-contained page.
  case html
  /// Metrics for the textfile collector of node_exporter; for reports, not for lists.
  case prometheus

  /// Only then may notes be printed between results.
  var isForPeople: Bool { self == .table }
  var isJSON: Bool { self == .json || self == .ndjson }

  /// Whether possibly invalid arguments request JSON.
  static func isJSON(_ arguments: [String]) -> Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.indices.contains { index in
      let option = options[index]
      if option == "--format", index + 1 < options.endIndex { return named(options[index + 1]) }
      return option == "--json" || option.hasPrefix("--json=") || option.hasPrefix("--format=") && named(option)
    }
  }

  private static func named(_ text: String) -> Bool {
    OutputFormat(rawValue: text.replacing("--format=", with: ""))?.isJSON ?? false
  }
}
