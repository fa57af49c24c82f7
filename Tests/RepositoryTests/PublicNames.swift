/// The public declarations of a folder of sources, read from their text: `swift format` sees to it that the indentation
/// shows what belongs to what.
struct PublicNames {
  struct Declaration {
    /// `FileRow.path`, `TransferClient.add(_:_:notice:)`.
    let name: String
    /// The type whose member it is; empty at the top level.
    let type: String
    let isType: Bool
    /// Without body.
    let text: String
  }

  private(set) var declarations: [Declaration] = []
  /// Types and extensions around the current line: the indentation of their first line, their name, and whether it
  /// is public: the cases of an enum and the requirements of a protocol are so without the word.
  private var scopes: [(indentation: Int, name: String, isOpen: Bool, isProtocol: Bool)] = []

  init(under folders: [String]) {
    for file in folders.flatMap({ Repository.files(under: $0, suffix: ".swift") }) { read(Repository.lines(file)) }
  }

  /// The names of the types.
  var types: Set<String> { Set(declarations.filter(\.isType).map(\.name)) }

  private mutating func read(_ lines: [Substring]) {
    scopes = []
    for (number, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      let words = Self.words(line.dropFirst(indentation))
      guard let keyword = words.firstIndex(where: Self.keywords.contains) else { continue }
      while let scope = scopes.last, scope.indentation >= indentation { scopes.removeLast() }
      let text = Self.head(lines[number...])
      let isPublic = words[..<keyword].contains("public") || isPublicByItsType(words[keyword], indentation)
      note(words[keyword], text, isPublic: isPublic, indentation)
    }
  }

  /// Whether a line is a case of a public enum, or a requirement of a public protocol.
  private func isPublicByItsType(_ keyword: String, _ indentation: Int) -> Bool {
    guard let scope = scopes.last, scope.indentation + 2 == indentation else { return false }
    return scope.isOpen && (scope.isProtocol || keyword == "case")
  }

  private mutating func note(_ keyword: String, _ text: String, isPublic: Bool, _ indentation: Int) {
    let type = scopes.last?.name ?? ""
    let isType = Self.typeKeywords.contains(keyword)
    let names = Self.names(keyword, text).map { type.isEmpty || keyword == "extension" ? $0 : "\(type).\($0)" }
    if isPublic {
      declarations += names.map { Declaration(name: $0, type: type, isType: isType, text: text) }
    }
    guard isType || keyword == "extension", let name = names.first else { return }
    scopes.append((indentation, name, isPublic, keyword == "protocol"))
  }

  private static let typeKeywords: Set<String> = ["struct", "enum", "class", "protocol", "actor"]
  private static let keywords =
    typeKeywords.union(["extension", "func", "var", "let", "init", "subscript", "case", "typealias"])
  private static let modifiers: Set<String> = [
    "public", "package", "internal", "private", "fileprivate", "static", "final", "mutating", "nonisolated", "indirect",
    "convenience", "required", "override", "lazy", "weak", "unowned", "prefix",
  ]

  /// The first words of a line up to its keyword; none if the line does not begin with a declaration.
  private static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    for word in line.split(separator: " ") {
      let plain = String(word.prefix { $0 != "(" && $0 != "?" && $0 != "<" })
      words.append(plain)
      if keywords.contains(plain) { return words }
      guard modifiers.contains(plain) || word.hasPrefix("@") else { return [] }
    }
    return []
  }

  /// A declaration without its body, in one line.
  private static func head(_ lines: ArraySlice<Substring>) -> String {
    var (text, depth) = ("", 0)
    for line in lines {
      for character in line {
        if depth == 0 && (character == "{" || character == "=" && endsAtValue(text)) { return text }
        if "([".contains(character) { depth += 1 } else if ")]".contains(character) { depth -= 1 }
        text.append(character)
      }
      guard depth > 0 || line.hasSuffix(",") else { return text }
      text += " "
    }
    return text
  }

  /// Whether a declaration is complete before its value: the value of a variable without a type says what it is.
  private static func endsAtValue(_ text: String) -> Bool {
    guard text.hasSuffix(" "), !text.hasSuffix("func ") else { return false }
    return text.contains(":") || !(text.contains("var ") || text.contains("let "))
  }

  /// What a declaration declares: one name, or those of several cases.
  private static func names(_ keyword: String, _ text: String) -> [String] {
    guard let start = text.firstRange(of: keyword)?.upperBound else { return [] }
    let rest = text[start...].drop { $0 == " " }
    switch keyword {
    case "case": return parts(rest, between: "()").map { String($0.prefix { $0 != "(" && $0 != " " }) }
    case "init", "subscript": return ["\(keyword)\(labels(rest, isCall: keyword == "init"))"]
    case "func":
      let name = rest.first?.isLetter == true ? rest.prefix { $0 != "(" && $0 != "<" } : rest.prefix { $0 != " " }
      return ["\(name)\(labels(rest, isCall: true))"]
    default: return [String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })]
    }
  }

  /// `(_:notice:)`.
  private static func labels(_ text: Substring, isCall: Bool) -> String {
    guard let open = text.firstIndex(of: "(") else { return "()" }
    var (depth, inside) = (0, Substring())
    for index in text[open...].indices {
      if text[index] == "(" { depth += 1 } else if text[index] == ")" { depth -= 1 }
      if depth == 0 {
        inside = text[text.index(after: open)..<index]
        break
      }
    }
    let names = parts(inside, between: "([<)]>").map { part in
      let words = part.prefix { $0 != ":" }.split(separator: " ")
      return isCall || words.count > 1 ? "\(words.first ?? ""):" : "_:"
    }
    return "(\(names.joined()))"
  }

  /// The parts of a list with commas, which may also be inside of brackets.
  private static func parts(_ list: Substring, between brackets: String) -> [Substring] {
    let (opening, closing) = (brackets.prefix(brackets.count / 2), brackets.suffix(brackets.count / 2))
    var (parts, depth, start) = ([Substring](), 0, list.startIndex)
    for index in list.indices {
      if opening.contains(list[index]) { depth += 1 } else if closing.contains(list[index]) { depth -= 1 }
      guard depth == 0, list[index] == "," else { continue }
      parts.append(list[start..<index].drop { $0 == " " })
      start = list.index(after: index)
    }
    parts.append(list[start...].drop { $0 == " " })
    return parts.filter { !$0.isEmpty }
  }
}
