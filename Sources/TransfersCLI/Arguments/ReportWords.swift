import ArgumentParser
import Transfers
import TransferModel
import TransferReports

/// `--sort`: a column, and `:desc` for the largest first.
struct SortWord: ExpressibleByArgument, Hashable, Sendable {
  let text: String
  let order: RowOrder

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, parts.count <= 2, parts.count == 1 || ["asc", "desc"].contains(parts[1])
    else { return nil }
    text = argument
    order = RowOrder(key: String(key), isDescending: parts.count == 2 && parts[1] == "desc")
  }
}

/// `--by`: the time to which a window applies, or what failures or latencies are grouped by.
struct ByWords: ExpressibleByArgument, Hashable, Sendable {
  let text: String
  let moment: FileMoment?
  let kinds: Set<FailureGroup.Kind>
  let group: LatencyGroup?

  init?(argument: String) {
    text = argument
    moment = FileMoment(rawValue: argument)
    group = LatencyGroup(rawValue: argument)
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    let named = words.compactMap { FailureGroup.Kind(rawValue: String($0)) }
    let areKinds = named.count == words.count && Set(named).count == named.count
    kinds = areKinds ? Set(named) : []
    guard moment != nil || group != nil || areKinds else { return nil }
  }

  static var allValueStrings: [String] {
    let words = FileMoment.allCases.map(\.rawValue) + FailureGroup.Kind.allCases.map(\.rawValue)
    return words + LatencyGroup.allCases.map(\.rawValue).filter { !words.contains($0) }
  }
}

/// `--facet`: properties to count rows by.
struct FacetWords: ExpressibleByArgument, Hashable, Sendable {
  enum Facet: String, CaseIterable, Sendable { case host, state, error, batch, direction }

  let text: String
  let facets: [Facet]

  init?(argument: String) {
    text = argument
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    facets = words.compactMap { Facet(rawValue: String($0)) }
    guard facets.count == words.count, Set(facets).count == facets.count else { return nil }
  }

  static var allValueStrings: [String] { Facet.allCases.map(\.rawValue) }
}

/// `--fail-on`: a figure with a condition, `failed>0`, or a word for one.
struct FailCondition: ExpressibleByArgument, Hashable, Sendable {
  enum Figure: String, CaseIterable, Sendable {
    case files, done, failed, unknown, cancelled, left, mismatched, contradicted, unverified, attempts, errors, retries
    case missed
    case errorRate = "error_rate"
    case bytesUnacked = "bytes_unacked"
    case wallMs = "wall_ms"
    case p95Ms = "p95_ms"
  }

  enum Comparison: String, Sendable { case more = ">", least = ">=", less = "<", most = "<=", equal = "=" }

  static let words: [String: (Figure, String)] = [
    "failures": (.failed, "failures"), "mismatch": (.mismatched, "mismatch"), "unverified": (.unverified, "unverified"),
    "sla": (.missed, "sla"),
  ]

  let text: String
  let figure: Figure
  let comparison: Comparison
  let limit: Double
  /// For `failures` unknown files count too, because their arrival is not certain.
  let countsUnknown: Bool
  /// For `mismatch` a finding of a later check counts like one of the transfer.
  let countsContradicted: Bool

  init?(argument: String) {
    text = argument
    (countsUnknown, countsContradicted) = (argument == "failures", argument == "mismatch")
    if let word = Self.words[argument] {
      (figure, comparison, limit) = (word.0, .more, 0)
      return
    }
    let name = argument.prefix { !"<>=".contains($0) }
    let sign = argument.dropFirst(name.count).prefix { "<>=".contains($0) }
    guard let figure = Figure(rawValue: String(name)), let comparison = Comparison(rawValue: String(sign)),
      let limit = figure.number(String(argument.dropFirst(name.count + sign.count)))
    else { return nil }
    (self.figure, self.comparison, self.limit) = (figure, comparison, limit)
  }

  static var allValueStrings: [String] {
    words.keys.sorted() + Figure.allCases.map { $0.rawValue + ">…" }
  }

  /// Whether the condition holds for a known figure.
  func holds(for value: Double) -> Bool {
    switch comparison {
    case .more: value > limit
    case .least: value >= limit
    case .less: value < limit
    case .most: value <= limit
    case .equal: value == limit
    }
  }
}

extension FailCondition.Figure {
  /// A limit as people type it for this figure: `1%` or `0.01`, `20M`, `10m`, `3`.
  func number(_ text: String) -> Double? {
    let number: Double? =
      switch self {
      case .errorRate where text.hasSuffix("%"): Double(text.dropLast()).map { $0 / 100 }
      // 5 would be taken for 500 %.
      case .errorRate: Double(text).flatMap { $0 < 1 ? $0 : nil }
      case .bytesUnacked: ByteQuantity(text: text).map { Double($0.bytes) }
      case .wallMs, .p95Ms: TimeSpan(text: text).map { Double($0.ms) } ?? Int64(text).map(Double.init)
      default: Int64(text).map(Double.init)
      }
    return number.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }

  /// `missed` is the number of values that missed an objective of `--sla`; nil if one has no values. `contradicted` is
  /// the number of done files of which a later check did not find what was stored.
  func cell(_ summary: SummaryFigures, missed: Int64?, contradicted: Int) -> Cell {
    let (totals, attempts) = (summary.totals, summary.attempts)
    return switch self {
    case .files: Cell(totals.files)
    case .done: Cell(totals.count(.done))
    case .failed: Cell(totals.count(.failed))
    case .unknown: Cell(totals.count(.unknown))
    case .cancelled: Cell(totals.count(.cancelled))
    case .left: Cell(totals.left)
    case .mismatched: Cell(totals.mismatched)
    case .contradicted: Cell(contradicted)
    case .unverified: Cell(totals.unverified)
    case .attempts: .integer(attempts.attempts)
    case .errors: .integer(attempts.errors)
    case .retries: Cell(totals.retries)
    case .errorRate: attempts.attempts > 0 ? .share(Double(attempts.errors) / Double(attempts.attempts)) : .none
    case .bytesUnacked: .bytes(totals.bytesUnacked)
    case .wallMs: Cell(ms: summary.wallMs)
    case .p95Ms: Cell(ms: attempts.latency.p95)
    case .missed: Cell(missed)
    }
  }
}

extension FailCondition {
  var needsChecks: Bool { countsContradicted || figure == .contradicted }

  /// Both say that content differs from what was sent, expected or recorded.
  var isOfContent: Bool { figure == .mismatched || figure == .contradicted }

  func check(_ summary: SummaryFigures, missed: Int64? = nil, contradicted: Int = 0) -> ReportCheck {
    let (value, name) = reading(summary, missed: missed, contradicted: contradicted)
    // An objective that nothing was measured for was not met.
    let isMet = value.amount.map(holds) ?? (figure == .missed)
    return ReportCheck(condition: text, figure: name, value: value, hasPassed: !isMet)
  }

  private func reading(_ summary: SummaryFigures, missed: Int64?, contradicted: Int) -> (Cell, String) {
    if countsUnknown { return (Cell(summary.totals.bad), "failed or unknown") }
    if countsContradicted { return (Cell(summary.totals.mismatched + contradicted), "mismatched or contradicted") }
    return (figure.cell(summary, missed: missed, contradicted: contradicted), figure.rawValue)
  }
}

extension Cell {
  /// nil if the cell has no number.
  fileprivate var amount: Double? {
    switch self {
    case .integer(let number), .bytes(let number), .milliseconds(let number): Double(number)
    case .real(let number), .share(let number): number
    default: nil
    }
  }
}

extension [FailCondition] {
  /// Reads nothing without conditions.
  func checks(_ reader: StoreReader, _ filter: RowFilter, missed: Int64? = nil) throws -> [ReportCheck] {
    guard !isEmpty else { return [] }
    let summary = try reader.summary(filter)
    let contradicted = contains(where: \.needsChecks) ? try reader.contradicted(filter) : 0
    return map { $0.check(summary, missed: missed, contradicted: contradicted) }
  }

  /// Throws the exit code of the conditions that hold, with the first of them; returns if none does.
  func requireSuccess(_ checks: [ReportCheck]) throws(CommandFailure) {
    let broken = zip(self, checks).filter { !$1.hasPassed }
    guard let first = broken.first(where: { $0.0.isOfContent }) ?? broken.first else { return }
    let report = first.0.figure == .missed ? "latency" : first.0.isOfContent ? "integrity" : "failures"
    throw CommandFailure(
      first.0.isOfContent ? .mismatch : .partial, code: "check_failed",
      printable("--fail-on \(first.1.condition): \(first.1.figure) is \(first.1.value.text)"),
      remedy: "transfers report \(report)")
  }
}
