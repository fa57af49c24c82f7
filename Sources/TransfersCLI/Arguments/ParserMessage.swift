import TransferModel

/// A message of the argument parser in the form of the program's own errors: what was wrong, and what is allowed.
/// Source: ArgumentParser 1.8, `ErrorMessageGenerator`; a message of another form is passed on as it is.
struct ParserMessage {
  let text: String
  /// What to do instead; nil for the command's help.
  let remedy: String?

  init(_ message: String) {
    let lines = message.split(whereSeparator: \.isNewline).map(String.init)
    let joined = printable(lines.joined(separator: " "))
    let pattern = /The value '(.*?)' is invalid for '((?:-[^' ]+ )?)<([^>]+)>'/
    guard let first = lines.first, let match = first.firstMatch(of: pattern) else {
      (text, remedy) = (joined.hasSuffix(".") ? String(joined.dropLast()) : joined, nil)
      return
    }
    let (value, option, kind) = (String(match.1), String(match.2), String(match.3))
    let choices = Self.choices(lines, after: match.range.upperBound)
    let subject = printable("\(option)\"\(value)\"")
    guard choices.isEmpty else {
      text = "\(subject) is not one of \(choices.joined(separator: ", "))"
      remedy = Self.offer(choices, for: value).map { "\(option)\($0)" }
      return
    }
    text = "\(subject) \(Self.fault(of: value, kind))"
    remedy = Self.examples[kind].map { "\(option)\($0)" }
  }

  /// The words that the parser would accept: `Please provide one of 'a', 'b' or 'c'.`, or a line for each.
  private static func choices(_ lines: [String], after end: String.Index) -> [String] {
    let listed = lines.dropFirst().compactMap { $0.hasPrefix("  - ") ? String($0.dropFirst(4)) : nil }
    guard listed.isEmpty, let offer = lines[0][end...].firstMatch(of: /Please provide (?:one of )?(.*)/) else {
      return listed.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
    }
    return offer.1.matches(of: /'([^']*)'/).map { String($0.1) }
  }

  /// The word that was probably meant. Of a few short words, most are near to each other, so that all are offered.
  private static func offer(_ choices: [String], for value: String) -> String? {
    let near = EditDistance.nearest(to: value, in: choices)
    guard choices.count <= 4, let last = choices.last else { return near }
    if let near, EditDistance.between(value, near) * 4 <= value.utf8.count { return near }
    return choices.count == 1 ? last : "\(choices.dropLast().joined(separator: ", ")) or \(last)"
  }

  private static func fault(of value: String, _ kind: String) -> String {
    let isNumber = Int64(value) != nil
    switch kind {
    case "n", "number", "id": return isNumber ? "is out of range" : "is not a number"
    case "time" where isNumber: return "needs a unit"
    default: return meaning[kind].map { "is not \($0)" } ?? "is not valid"
    }
  }

  /// What the values of options are, by the names that their help gives them.
  private static let meaning = [
    "time": "a time with its unit", "bytes/s": "a rate in bytes per second", "bytes": "a number of bytes",
    "size": "a number of bytes", "k/n": "a share", "times": "a number or a range of numbers",
    "expr": "MEASURE<TIME", "what": "keep, delete or move:FOLDER",
  ]

  private static let examples = [
    "time": "90s (or 500ms, 30m, 8h, 7d)", "bytes/s": "20M (or 500K, 1.5MiB; not bits)",
    "bytes": "16MiB (or 4096, 500K)", "size": "16MiB (or 4096, 500K)", "k/n": "3/28", "times": "3 (or >3, 2-5)",
    "expr": "'file.wall<10m'",
  ]
}
