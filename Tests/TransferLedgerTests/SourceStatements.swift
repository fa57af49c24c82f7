@testable import TransferLedger
import TransferModel

/// A SQL statement of the program, as its source has it. Every statement is a literal there: the connection accepts
/// nothing else, except for the few texts of ``Connection/rowsOnce(_:row:)`` and ``Connection/execute(_:)``.
struct SourceStatement: CustomStringConvertible {
  /// The path below `Sources/TransferLedger`.
  let file: String
  let text: String

  var description: String { "\(file): \(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))" }

  /// Whether it changes rows of the ledger.
  var writes: Bool { !text.hasPrefix("SELECT") && !text.hasPrefix("WITH") }

  /// The texts that SQLite receives: one for each scope of a filter.
  var variants: [String] {
    guard text.contains("{") else { return [text] }
    if text.contains("{guard}") { return [Self.filled(text, guards)] }
    return Self.filters.map { Self.filled(text, $0.parts) }
  }

  private static func filled(_ text: String, _ parts: [(name: String, text: String)]) -> String {
    parts.reduce(text) { text, part in text.replacing("{\(part.name)}", with: part.text) }
  }

  /// The guard of the one row that the statement changes.
  private var guards: [(name: String, text: String)] {
    let name = text.split(separator: " ").lazy.compactMap { RowGuard.Row(rawValue: String($0)) }.first ?? .session
    return RowGuard(row: name, old: nil, new: "").parts
  }

  private static let filters: [RowFilter] = {
    var (files, batch) = (RowFilter(), RowFilter())
    files.files = [1...1]
    batch.batches = [1...1]
    return [RowFilter(), batch, files]
  }()

  /// All statements in the sources.
  static func all() throws -> [SourceStatement] {
    let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Sources/TransferLedger"
    return try swiftFiles(in: root).flatMap { path in
      literals(String(decoding: try fileBytes(root + "/" + path), as: UTF8.self))
        .filter { text in keywords.contains { text.hasPrefix($0 + " ") || text.hasPrefix($0 + "\n") } }
        .filter { !$0.contains("\\(") }.map { SourceStatement(file: path, text: $0) }
    }
  }

  private static let keywords = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"]

  private static func swiftFiles(in root: String, _ folder: String = "") throws -> [String] {
    try fileNames(in: root + "/" + folder).flatMap { name in
      let path = folder + name
      if name.hasSuffix(".swift") { return [path] }
      return name.contains(".") ? [] : try swiftFiles(in: root, path + "/")
    }
  }

  /// The string literals of a Swift source, without leading whitespace.
  private static func literals(_ source: String) -> [String] {
    var found: [String] = []
    var long: [Substring]?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.drop { $0 == " " }
      if let lines = long {
        if words.hasPrefix("\"\"\"") {
          found.append(lines.joined(separator: "\n"))
          long = nil
        } else {
          long = lines + [words]
        }
      } else if words.hasSuffix("\"\"\"") {
        long = []
      } else if !words.hasPrefix("//") {
        found += shortLiterals(line)
      }
    }
    return found
  }

  private static func shortLiterals(_ line: Substring) -> [String] {
    var found: [String] = []
    var literal: String?
    var isEscaped = false
    for character in line {
      switch (literal, character) {
      case (let text?, _) where isEscaped:
        literal = text + (character == "(" ? "\\(" : String(character))
        isEscaped = false
      case (.some, "\\"): isEscaped = true
      case (let text?, "\""):
        found.append(text)
        literal = nil
      case (let text?, _): literal = text + String(character)
      case (nil, "\""): literal = ""
      case (nil, _): break
      }
    }
    return found
  }
}
