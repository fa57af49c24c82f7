import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Recognises what `--output` of a command that moves files wrote before, in each format, so that a scheduled command
/// may replace its own result and no other file.
struct EarlierOutput {
  /// The beginning without the sequences that colour text.
  private let beginning: String
  private let end: String

  private static let beginningSize = 4_096
  /// The members behind "schema" have the path of the ledger and the rules of a plan.
  private static let endSize = 65_536

  /// Whether nothing is there, or an empty file, a device or pipe, or an earlier result.
  static func mayReplace(_ path: [CChar]) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR || errno == ENXIO }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { return false }
    guard facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0 else { return true }
    return EarlierOutput(descriptor, size: facts.st_size).isResult
  }

  init(beginning: String, end: String) {
    self.beginning = Self.withoutColour(beginning)
    self.end = end
  }

  private init(_ descriptor: Int32, size: off_t) {
    self.init(
      beginning: Self.text(descriptor, at: 0, Self.beginningSize),
      end: Self.text(descriptor, at: max(0, size - off_t(Self.endSize)), Self.endSize))
  }

  private static func text(_ descriptor: Int32, at offset: off_t, _ limit: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = pread(descriptor, &bytes, limit, offset)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// `ESC [ … m` and carriage returns removed.
  private static func withoutColour(_ text: String) -> String {
    var kept = String.UnicodeScalarView()
    var isSequence = false
    for scalar in text.unicodeScalars {
      if scalar.value == 0x1B { isSequence = true }
      // Lines of CSV end with CR LF.
      if !isSequence, scalar != "\r" { kept.append(scalar) }
      if scalar == "m" { isSequence = false }
    }
    return String(kept)
  }

  var isResult: Bool { isJSON || isHTML || isMetrics || isMarkdown || isTable || isText }

  private var lines: [Substring] { beginning.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false) }
  private var firstLine: Substring { lines.first ?? "" }

  /// A document, or a record on each line.
  private var isJSON: Bool { beginning.hasPrefix("{\"") && end.contains("\"schema\":\"transfers.") }

  private var isHTML: Bool { beginning.hasPrefix(HTMLPages.opening) && beginning.contains("<title>Transfers: ") }

  private var isMetrics: Bool { beginning.utf8.starts(with: MetricsFile.beginning) }

  private var isMarkdown: Bool {
    if beginning.hasPrefix("# Run\n\n- **") { return true }
    if beginning.hasPrefix("# Add\n\n") { return lines.count > 2 && Self.isAdded(lines[2]) }
    guard firstLine.hasPrefix("| "), firstLine.hasSuffix(" |") else { return false }
    let cells = firstLine.split(separator: "|").map { $0.filter { $0 != " " } }
    return Self.isPlan(cells, of: PlanPrinter.columns.compactMap(\.heading.title))
  }

  /// CSV and TSV: a plan, or key and value.
  private var isTable: Bool {
    for separator in [",", "\t"] as [Character] {
      let cells = firstLine.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
      if cells == ["key", "value"] {
        return lines.count < 2 || Self.isFigure(lines[1].prefix { $0 != separator })
      }
      if Self.isPlan(cells, of: PlanPrinter.columns.map(\.heading.key) + ["path_b64", "key_b64"]) { return true }
    }
    return false
  }

  /// Text for people: the line of what was recorded, the summary, a plan, or chosen figures.
  private var isText: Bool {
    let line = firstLine
    let beginnings = ["transfers: ", "contacts ", "nothing to send", "nothing to fetch"]
    if beginnings.contains(where: { line.hasPrefix($0) }) { return true }
    if Self.isAdded(line) || Self.isSummary(line) { return true }
    let words = line.split(separator: " ").map(String.init)
    if Self.isPlan(words, of: PlanPrinter.columns.compactMap(\.heading.title)) { return true }
    guard let key = words.first, line.dropFirst(key.count).hasPrefix("  ") else { return false }
    return Self.isFigure(key[...])
  }

  // MARK: - Lines

  /// `b412: 118 new, …` or, if no batch was made, `0 new, …`.
  private static func isAdded(_ line: Substring) -> Bool {
    var rest = line
    if let batch = batch(rest), rest.dropFirst(batch).hasPrefix(": ") { rest = rest.dropFirst(batch + 2) }
    let count = digits(rest)
    let word = rest.dropFirst(count)
    return count > 0 && (word.hasPrefix(" new, ") || word.hasPrefix(" new ("))
  }

  /// `b412 partial: 116 done, …` or `ok: 3 done, …`.
  private static func isSummary(_ line: Substring) -> Bool {
    var rest = line
    if let batch = batch(rest), rest.dropFirst(batch).hasPrefix(" ") { rest = rest.dropFirst(batch + 1) }
    let result = rest.prefix { ("a"..."z").contains($0) || $0 == " " }
    rest = rest.dropFirst(result.count)
    guard !result.isEmpty, rest.hasPrefix(": ") else { return false }
    rest = rest.dropFirst(2)
    let count = digits(rest)
    return count > 0 && rest.dropFirst(count).hasPrefix(" done")
  }

  /// The length of `b412` at the beginning; nil if there is none.
  private static func batch(_ line: Substring) -> Int? {
    let count = digits(line.dropFirst())
    return line.first == "b" && count > 0 ? count + 1 : nil
  }

  private static func digits(_ line: Substring) -> Int { line.prefix { ("0"..."9").contains($0) }.count }

  private static func isPlan(_ cells: [String], of columns: [String]) -> Bool {
    !cells.isEmpty && Set(cells).count == cells.count && cells.allSatisfy { columns.contains($0) }
  }

  private static func isFigure(_ key: Substring) -> Bool { figures.contains(String(key.prefix { $0 != "." })) }

  /// The first parts of the names of all figures of a summary.
  private static let figures: Set<String> = {
    let all = [RunOutput.sample(ofPush: true).report, RunOutput.sample(ofPush: false).report, AddOutput.sample.report]
    let keys = all.flatMap { FigureTree($0).leaves().map { String($0.key.prefix { $0 != "." }) } }
    // Lists without entries have no leaf.
    return Set(keys + ["failures", "next", "unreachable_hosts"])
  }()
}
