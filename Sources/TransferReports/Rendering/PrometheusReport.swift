/// A report in the text format of Prometheus, version 0.0.4, as read by the textfile collector of node_exporter. Each
/// number is a gauge, in the base units of Prometheus (seconds, bytes). A table has one sample for each row, if columns
/// with few values distinguish all rows.
/// Source: prometheus.io "Exposition formats" and "Metric and label naming".
package struct PrometheusReport {
  private struct Sample { var labels: [(String, String)], value: String }
  /// Labels that distinguish reports of one schema: they are on all samples.
  private let common: [(String, String)]
  private var order: [String] = []
  private var samples: [String: [Sample]] = [:]

  package static func render(_ report: Report, _ header: ReportHeader) -> String {
    let prefix = "transfers_" + name(SchemaName.short(report.schema))
    var text = PrometheusReport(common: labels(of: report.sections))
    text.append(report.sections, prefix)
    for check in header.checks {
      text.add(prefix + "_check_passed", [("condition", check.condition)], check.hasPassed ? "1" : "0")
    }
    text.add(prefix + "_generated_timestamp_seconds", [], seconds(header.generatedMs))
    return text.order.map { metric in
      "# HELP \(metric) Of transfers \(SchemaName.short(report.schema).replacing(".", with: " ")).\n# TYPE \(metric) gauge\n"
        + (text.samples[metric] ?? []).map { line(metric, $0) }.joined()
    }.joined()
  }

  private init(common: [(String, String)]) { self.common = common }

  /// The labels from the figures of the document itself, and of its subject.
  private static func labels(of sections: [ReportSection]) -> [(String, String)] {
    sections.flatMap { section -> [(String, String)] in
      guard section.key == nil || section.key == "subject", let facts = section.facts else { return [] }
      return facts.filter { $0.heading.isLabel && !$0.cell.isUnknown }.map { (name($0.heading.key), $0.cell.plainText) }
    }
  }

  private mutating func append(_ sections: [ReportSection], _ prefix: String) {
    for section in sections {
      let prefix = section.key.map { prefix + "_" + Self.name($0) } ?? prefix
      switch section.content {
      case .facts(let facts, _):
        for fact in facts { append(fact.heading, fact.cell, prefix, []) }
      case .table(let table, _): append(table, prefix)
      case .object(let inner): append(inner, prefix)
      case .words, .document, .absent: break
      }
    }
  }

  private mutating func append(_ table: FigureTable, _ prefix: String) {
    let labels = table.headings.indices.filter { table.headings[$0].isLabel }
    // Two samples of the same name and labels would make the whole text invalid.
    guard !labels.isEmpty, Set(table.rows.map { row in labels.map { row[$0].plainText } }).count == table.rows.count
    else {
      return
    }
    for row in table.rows {
      let told = labels.map { (Self.name(table.headings[$0].key), row[$0].plainText) }
      for (heading, cell) in zip(table.headings, row) where !heading.isLabel { append(heading, cell, prefix, told) }
    }
  }

  private mutating func append(_ heading: FigureHeading, _ cell: Cell, _ prefix: String, _ labels: [(String, String)]) {
    let metric = prefix + "_" + Self.metric(heading)
    if case .counts(let counts) = cell {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) { add(metric, labels + [("of", name)], "\(count)") }
    } else if let value = heading.kind == .real ? cell.number.map(Cell.plain) : Self.value(cell) {
      // A column of several kinds has no unit of its own: its figures keep those of their names.
      add(metric, labels, value)
    }
  }

  private mutating func add(_ metric: String, _ labels: [(String, String)], _ value: String) {
    if samples[metric] == nil { order.append(metric) }
    samples[metric, default: []].append(Sample(labels: common + labels, value: value))
  }

  private static func line(_ metric: String, _ sample: Sample) -> String {
    let labels = sample.labels.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
    return metric + (labels.isEmpty ? "" : "{\(labels)}") + " \(sample.value)\n"
  }

  // MARK: - Names and values

  /// Includes the base unit of its kind.
  private static func metric(_ heading: FigureHeading) -> String {
    func base(_ suffixes: String...) -> String {
      let suffix = suffixes.first { heading.key.hasSuffix($0) } ?? ""
      return name(String(heading.key.dropLast(suffix.count)))
    }
    return switch heading.kind {
    case .duration: base("_ms") + "_seconds"
    case .time: base("_at") + "_timestamp_seconds"
    case .rate: heading.key == "bps" ? "bytes_per_second" : base("_bps") + "_bytes_per_second"
    case .bytes: heading.key.contains("bytes") ? name(heading.key) : name(heading.key) + "_bytes"
    case .text, .name, .integer, .real, .flag, .texts, .counts, .list: name(heading.key)
    }
  }

  private static func value(_ cell: Cell) -> String? {
    switch cell {
    case .milliseconds(let ms), .time(let ms): seconds(ms)
    case .flag(let flag): flag ? "1" : "0"
    case .integer, .real, .share, .points, .percent, .bytes, .bytesPerSecond: cell.number.map(Cell.plain)
    case .none, .text, .name, .texts, .counts, .list: nil
    }
  }

  /// Milliseconds as seconds, exactly.
  private static func seconds(_ ms: Int64) -> String {
    let digits = String(ms.magnitude % 1000 + 1000).dropFirst()
    let fraction = ms % 1000 == 0 ? "" : "." + digits
    return (ms < 0 ? "-" : "") + String(ms.magnitude / 1000) + fraction
  }

  /// `[a-zA-Z_][a-zA-Z0-9_]*`, the rest as `_`.
  private static func name(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": out += "\\\\"
      case "\"": out += "\\\""
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
