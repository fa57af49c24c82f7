import ArgumentParser
import TransferModel
import TransferReports

/// Selection of files by properties: direction, size, time, attempts, proof.
struct FileTerms: Hashable, Sendable {
  var direction: DirectionWord?
  var minSize: SizeBound?
  var maxSize: SizeBound?
  var slowerThan: SpanBound?
  var attempts: CountBound?
  var unverified = false

  /// Each option, and whether it was given.
  var options: [(String, Bool)] {
    words.map { ($0.option, $0.value != nil) } + [("--unverified", unverified)]
  }

  /// The options that take a value, as they were typed.
  var words: [(option: String, value: String?)] {
    [
      ("--direction", direction?.rawValue), ("--min-size", minSize?.text), ("--max-size", maxSize?.text),
      ("--slower-than", slowerThan?.text), ("--attempts", attempts?.text),
    ]
  }

  /// The terms for the document's `filters`.
  var filters: [String: Cell] {
    var filters: [String: Cell] = [:]
    if let direction { filters["direction"] = .text(direction.rawValue) }
    if let minSize { filters["min_size"] = .bytes(minSize.bytes) }
    if let maxSize { filters["max_size"] = .bytes(maxSize.bytes) }
    if let slowerThan { filters["slower_than_ms"] = .milliseconds(slowerThan.ms) }
    if let attempts { filters["attempts"] = .text(attempts.text) }
    if unverified { filters["unverified"] = .flag(true) }
    return filters
  }

  func add(to filter: inout RowFilter) {
    filter.direction = direction?.direction
    (filter.minSize, filter.maxSize) = (minSize?.bytes, maxSize?.bytes)
    (filter.slowerThanMs, filter.attemptCount) = (slowerThan?.ms, attempts?.range)
    filter.isUnverified = unverified
  }
}

/// The direction, as typed.
enum DirectionWord: String, ExpressibleByArgument, CaseIterable, Sendable {
  case up, down

  var direction: Direction { self == .up ? .upload : .download }
}

/// A size as it was typed; 0 is valid.
struct SizeBound: ExpressibleByArgument, Hashable, Sendable {
  let text: String
  let bytes: Int64

  init?(argument: String) {
    guard let bytes = ByteQuantity(text: argument)?.bytes else { return nil }
    (text, self.bytes) = (argument, bytes)
  }
}

/// A length of time as it was typed.
struct SpanBound: ExpressibleByArgument, Hashable, Sendable {
  let text: String
  let ms: Int64

  init?(argument: String) {
    guard let ms = TimeSpan(text: argument)?.ms else { return nil }
    (text, self.ms) = (argument, ms)
  }
}

/// Numbers as they were typed: `3`, `=3`, `>3`, `>=3`, `<3`, `<=3`, `2-5`.
struct CountBound: ExpressibleByArgument, Hashable, Sendable {
  let text: String
  let range: ClosedRange<Int64>

  init?(argument: String) {
    let sign = argument.prefix { "<>=".contains($0) }
    let ends = argument.dropFirst(sign.count).split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
    guard let first = ends.first ?? nil, let last = ends.last ?? nil,
      ends.count == 1 || ends.count == 2 && sign.isEmpty,
      let range = Self.range(sign, first, last)
    else { return nil }
    (text, self.range) = (argument, range)
  }

  private static func number(_ text: Substring) -> Int64? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(text) : nil
  }

  /// nil if the numbers are out of range: negative, or larger than the maximum.
  private static func range(_ sign: Substring, _ first: Int64, _ last: Int64) -> ClosedRange<Int64>? {
    switch sign {
    case "", "=", "==": first <= last ? first...last : nil
    case ">=": first...(.max)
    case ">": first < .max ? (first + 1)...(.max) : nil
    case "<=": 0...first
    case "<": first > 0 ? 0...(first - 1) : nil
    default: nil
    }
  }
}
