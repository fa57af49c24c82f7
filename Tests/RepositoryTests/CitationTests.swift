import Testing

/// Files and headings that documents and comments refer to exist in the repository.
@Suite struct CitationTests {
  static let documents =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
    + Repository.files(under: "docs", suffix: ".md")

  /// Relative links lead to an existing file or folder, and the text after `#` is a heading there.
  @Test(arguments: documents)
  func everyLinkLeadsSomewhere(_ document: String) throws {
    for link in Self.links(try #require(Repository.text(document))) where !link.contains("://") {
      let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let folder = document.split(separator: "/").dropLast().joined(separator: "/")
      let path = parts[0].isEmpty ? document : Self.resolved(String(parts[0]), from: folder)
      #expect(Repository.exists(path), "\(document) links to \(link)")
      if parts.count > 1 { #expect(Self.anchors(path).contains(String(parts[1])), "\(document) links to \(link)") }
    }
  }

  /// Files that are named in documents or in comments of the code exist.
  @Test func everyNamedFileIsThere() {
    let names = Set(Self.all.compactMap { $0.split(separator: "/").last.map(String.init) })
    for file in Self.documents + Self.code {
      let isDocument = file.hasSuffix(".md")
      for (number, line) in Repository.lines(file).enumerated() where isDocument || Self.isComment(line) {
        for word in Self.namedFiles(line) {
          let isThere = word.contains("/") ? Repository.exists(word) : names.contains(word)
          #expect(isThere, "\(file):\(number + 1) names \(word)")
        }
      }
    }
  }

  private static let folders = ["Sources", "Tests", "docs", "migrations", "profiles", "tools"]
  private static let code = ["Sources", "Tests", "migrations", "profiles", "tools"].flatMap { folder in
    Repository.files(under: folder).filter { !$0.hasPrefix("tools/mutants.d/") && !$0.hasPrefix("Tests/Goldens/") }
  }
  private static let all =
    folders.flatMap { Repository.files(under: $0) } + [
      "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "Package.swift",
      ".swift-format",
    ]

  /// The targets of `[text](target)`.
  private static func links(_ text: String) -> [String] {
    text.split(separator: "](").dropFirst().compactMap { rest in
      rest.firstIndex(of: ")").map { String(rest[..<$0]) }
    }
  }

  private static func resolved(_ path: String, from folder: String) -> String {
    var parts: [Substring] = folder.split(separator: "/")
    for part in path.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  /// The names of headings in links: lower case, hyphens for spaces, no other punctuation except `-` and `_`.
  private static func anchors(_ path: String) -> [String] {
    Repository.lines(path).filter { $0.hasPrefix("#") }.map { line in
      let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
      return String(
        title.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : nil })
    }
  }

  private static func isComment(_ line: Substring) -> Bool {
    let text = line.utf8.drop { $0 == 0x20 }
    return text.starts(with: "//".utf8) || text.starts(with: "# ".utf8) || text.starts(with: "-- ".utf8)
  }

  /// Words that look like a file of this repository: a path that begins in one of its folders, or the name of a
  /// document, a Swift file or a migration. Names with a star are patterns and are not checked.
  private static func namedFiles(_ line: Substring) -> [String] {
    line.utf8.split { !signs.contains($0) }.compactMap { word in
      guard word.contains(0x2E) || word.contains(0x2F) else { return nil }
      var name = String(Substring(word))
      while let last = name.last, ".:/-".contains(last) { name.removeLast() }
      guard !name.contains(where: { "*:<>$".contains($0) }), let first = name.first, first != "-", first != "." else {
        return nil
      }
      let isPath = folders.contains { name.hasPrefix($0 + "/") }
      let isName = !name.contains("/") && [".md", ".swift", ".sql"].contains { name.hasSuffix($0) }
      return isPath || isName ? name : nil
    }
  }

  private static let signs = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/*:<>$".utf8)
}
