public import TransferModel

/// Selects paths below a source: `--include` and `--exclude`, in the given order.
///
/// The first matching rule decides. If none matches, a file is selected, unless there is an include rule. Patterns are
/// bytes: `*` and `?` stop at a slash, `**` crosses them, `[a-z]` and `[!a-z]` are sets, a backslash escapes the next
/// byte. A pattern without a slash is compared with the last component at any depth; one with a slash with the whole
/// relative path (a leading slash only anchors it); one with a trailing slash with directories, which are then not
/// entered. An include rule with a trailing slash or without wildcards also selects everything below the directories
/// that it matches.
public struct PathRules: Sendable {
  private struct Matcher: Sendable {
    let kind: PathRule.Kind
    let glob: PathGlob
    let label: String
    let text: [UInt8]

    init(_ rule: PathRule) {
      (kind, glob, label, text) = (rule.kind, PathGlob(rule.pattern), rule.label, Array(rule.pattern.utf8))
    }

    func matches(_ path: NameBytes, isDirectory: Bool) -> Bool {
      if glob.matches(path, isDirectory: isDirectory) { return true }
      guard kind == .include, glob.coversFolders else { return false }
      let slashes = path.bytes.indices.dropFirst().filter { path.bytes[$0] == 0x2F }
      return slashes.contains { glob.matches(NameBytes(Array(path.bytes[..<$0])), isDirectory: true) }
    }
  }

  private let rules: [Matcher]
  private let hasInclude: Bool

  public init(_ rules: [PathRule] = []) {
    self.rules = rules.map(Matcher.init)
    hasInclude = rules.contains { $0.kind == .include }
  }

  /// The first invalid rule; nil if all are valid.
  var problem: (text: String, problem: GlobProblem)? {
    for rule in rules { if let problem = rule.glob.problem { return (rule.label, problem) } }
    return nil
  }

  /// The first rule that begins with the path of the base itself, behind which paths are compared, and the rest of its
  /// pattern; nil if there is none.
  /// - Parameter has: whether the base has an entry of this name, so that the rule may mean it.
  func ruleWithBase(_ base: NameBytes, has: (NameBytes) -> Bool) -> (text: String, rest: NameBytes)? {
    guard base.bytes.count > 1 else { return nil }
    for rule in rules where rule.text.starts(with: base.bytes) {
      let rest = Array(rule.text.dropFirst(base.bytes.count))
      guard rest.first ?? 0x2F == 0x2F else { continue }
      let first = rule.text.split(separator: 0x2F).first.map { NameBytes(Array($0)) }
      if let first, !has(first) { return (rule.label, NameBytes(rest)) }
    }
    return nil
  }

  /// The same as ``exclusion(ofFile:)-(NameBytes)`` for bytes in place.
  func exclusion(ofFile path: BorrowedName) -> String? {
    rules.isEmpty ? nil : exclusion(ofFile: NameBytes(Array(path)))
  }

  func exclusion(ofDirectory path: BorrowedName) -> String? {
    rules.isEmpty ? nil : exclusion(ofDirectory: NameBytes(Array(path)))
  }

  /// nil if the file at `path`, relative to the base, is selected; else the rule that excludes it.
  public func exclusion(ofFile path: NameBytes) -> String? {
    guard let rule = rules.first(where: { $0.matches(path, isDirectory: false) }) else {
      return hasInclude ? "no --include matches" : nil
    }
    return rule.kind == .include ? nil : rule.label
  }

  /// The rule that excludes a directory; nil if it is entered.
  public func exclusion(ofDirectory path: NameBytes) -> String? {
    guard let rule = rules.first(where: { $0.matches(path, isDirectory: true) }), rule.kind == .exclude else {
      return nil
    }
    return rule.label
  }
}

/// One pattern of ``PathRules``.
struct PathGlob: Sendable {
  private let pattern: [UInt8]
  private let matchesWholePath: Bool
  let matchesDirectoriesOnly: Bool

  init(_ text: String) {
    var pattern = Array(text.utf8)[...]
    matchesDirectoriesOnly = pattern.last == 0x2F && pattern.count > 1
    if matchesDirectoriesOnly { pattern = pattern.dropLast() }
    matchesWholePath = pattern.contains(0x2F)
    if pattern.first == 0x2F { pattern = pattern.dropFirst() }
    self.pattern = Array(pattern)
  }

  func matches(_ path: NameBytes, isDirectory: Bool) -> Bool {
    guard isDirectory || !matchesDirectoriesOnly else { return false }
    return globMatches(pattern[...], (matchesWholePath ? path : path.lastComponent).bytes[...])
  }

  /// Whether it names folders alone, or one entry that may be a folder.
  var coversFolders: Bool {
    matchesDirectoriesOnly || !pattern.isEmpty && !pattern.contains { [0x2A, 0x3F, 0x5B, 0x5C].contains($0) }
  }

  /// Why it is invalid, or matches no path; nil if it is valid.
  var problem: GlobProblem? {
    if let cause = globProblem(pattern) { return GlobProblem(cause: cause, remedy: "write [[] for the character") }
    return dots ?? braces
  }

  private var dots: GlobProblem? {
    let parts = pattern.split(separator: 0x2F).map { String(decoding: $0, as: UTF8.self) }
    guard parts.contains(where: { $0 == "." || $0 == ".." }) else { return nil }
    let name = parts.last { $0 != "." && $0 != ".." && !$0.contains("*") } ?? "FOLDER"
    return GlobProblem(
      cause: "it matches nothing: it is compared with paths below the base, and these have no \".\" and \"..\"",
      remedy: "\"\(name)\" at any depth, or \"/\(name)\" directly below the base")
  }

  /// `{a,b}`, which other programs expand.
  private var braces: GlobProblem? {
    guard let open = globIndex(of: 0x7B, in: pattern[...]),
      let close = globIndex(of: 0x7D, in: pattern[(open + 1)...])
    else { return nil }
    let parts = pattern[(open + 1)..<close].split(separator: 0x2C, omittingEmptySubsequences: false)
    guard parts.count > 1 else { return nil }
    let (before, behind) = (Array(pattern[..<open]), Array(pattern[(close + 1)...]))
    let each = parts.prefix(2).map { part in
      "\"" + String(decoding: before + Array(part) + behind, as: UTF8.self) + "\""
    }
    return GlobProblem(
      cause: "braces are no alternatives in a pattern",
      remedy: "an option for each pattern, \(each.joined(separator: " and ")); [{] is the character itself")
  }
}

/// Why a pattern cannot be used.
struct GlobProblem: Sendable, Hashable {
  var cause: String
  var remedy: String
}

/// The first place of a byte that is neither escaped nor in a set, in a valid pattern.
private func globIndex(of wanted: UInt8, in pattern: ArraySlice<UInt8>) -> Int? {
  var index = pattern.startIndex
  while index < pattern.endIndex {
    switch pattern[index] {
    case wanted: return index
    case 0x5C: index += 2
    case 0x5B:
      let isNegated = pattern[(index + 1)...].first == 0x21 || pattern[(index + 1)...].first == 0x5E
      index = (pattern[(index + 1)...].dropFirst(isNegated ? 2 : 1).firstIndex(of: 0x5D) ?? index) + 1
    default: index += 1
    }
  }
  return nil
}

/// Shell-like matching of bytes. Linear for each star, without recursion on `*`, so the cost of a hostile pattern grows
/// only with the number of its `**`.
func globMatches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
  var pattern = pattern
  var text = text
  var star: (pattern: ArraySlice<UInt8>, text: ArraySlice<UInt8>, crosses: Bool)?
  while true {
    if pattern.first == 0x2A {
      let crosses = pattern.dropFirst().first == 0x2A
      pattern = pattern.dropFirst(crosses ? 2 : 1)
      // `**/` also matches zero directories.
      if crosses && pattern.first == 0x2F && globMatches(pattern.dropFirst(), text) { return true }
      star = (pattern, text, crosses)
    } else if let rest = matchOne(pattern, text) {
      pattern = rest
      text = text.dropFirst()
    } else if pattern.isEmpty && text.isEmpty {
      return true
    } else if let retry = star, let skipped = retry.text.first, retry.crosses || skipped != 0x2F {
      text = retry.text.dropFirst()
      pattern = retry.pattern
      star = (retry.pattern, text, retry.crosses)
    } else {
      return false
    }
  }
}

/// Why a pattern is invalid; nil if it is valid.
func globProblem(_ pattern: [UInt8]) -> String? {
  var rest = pattern[...]
  while let byte = rest.popFirst() {
    if byte == 0x5C && rest.popFirst() == nil {
      return "a backslash at the end takes the next character as it is, and there is none"
    }
    guard byte == 0x5B else { continue }
    let isNegated = rest.first == 0x21 || rest.first == 0x5E
    guard let close = rest.dropFirst(isNegated ? 2 : 1).firstIndex(of: 0x5D) else { return "\"[\" without \"]\"" }
    rest = rest[(close + 1)...]
  }
  return nil
}

/// Matches one byte of text with the beginning of a pattern that is not a star; returns the rest of the pattern, or
/// nil.
private func matchOne(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
  guard let first = pattern.first, let byte = text.first else { return nil }
  switch first {
  case 0x3F: return byte == 0x2F ? nil : pattern.dropFirst()
  case 0x5C where pattern.count > 1: return pattern.dropFirst().first == byte ? pattern.dropFirst(2) : nil
  case 0x5B: return matchSet(pattern.dropFirst(), byte) ?? (byte == 0x5B ? pattern.dropFirst() : nil)
  default: return first == byte ? pattern.dropFirst() : nil
  }
}

private func matchSet(_ set: ArraySlice<UInt8>, _ byte: UInt8) -> ArraySlice<UInt8>? {
  guard byte != 0x2F, let close = set.dropFirst().firstIndex(of: 0x5D) else { return nil }
  let isNegated = set.first == 0x21 || set.first == 0x5E
  let members = Array(set[(isNegated ? set.startIndex + 1 : set.startIndex)..<close])
  var isMember = false
  var i = 0
  while i < members.count {
    if i + 2 < members.count && members[i + 1] == 0x2D {
      isMember = isMember || (members[i] <= byte && byte <= members[i + 2])
      i += 3
    } else {
      isMember = isMember || members[i] == byte
      i += 1
    }
  }
  return isMember != isNegated ? set[(close + 1)...] : nil
}
