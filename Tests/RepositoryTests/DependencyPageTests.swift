import Testing

/// docs/dependencies.md names the sources that are written by hand, and their number of lines.
@Suite struct DependencyPageTests {
  /// `A`, `B` (N lines): folders or files of these names in Sources.
  private struct Claim {
    let names: [String]
    let lines: Int
  }

  private static let sources = Repository.files(under: "Sources")

  @Test func theSourcesAreWhereThePageSaysAndAsLong() throws {
    let claims = try Self.claims(try #require(Repository.text("docs/dependencies.md")))
    #expect(claims.count > 25, "the page is not read correctly")
    for claim in claims {
      var count = 0
      for name in claim.names {
        let found = Self.sources.filter { Self.isNamed(name, $0) }
        #expect(!found.isEmpty, "\(name) is not in Sources")
        // As `wc -l` counts: the text ends with a line end.
        count += found.reduce(0) { $0 + Repository.lines($1).count - 1 }
      }
      #expect(
        abs(count - claim.lines) <= max(10, claim.lines / 10),
        "\(claim.names) have \(count) lines now, and the page says \(claim.lines)")
    }
  }

  private static func claims(_ page: String) throws -> [Claim] {
    let text = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return text.matches(of: /((?:`[^` ]+`(?:, | and | ))+)\((?:about )?([0-9,]+)(?: lines|\))/).compactMap { match in
      let names = match.1.split(separator: "`").filter { $0.first.map(\.isLetter) ?? false && !$0.hasPrefix("and ") }
      return Int(match.2.filter { $0 != "," }).map { Claim(names: names.map(String.init), lines: $0) }
    }
  }

  /// A folder, with or without `Sources/`, or a file with or without its suffix.
  private static func isNamed(_ name: String, _ path: String) -> Bool {
    let name = name.hasPrefix("Sources/") ? String(name.dropFirst(8)) : name
    if path.contains("/\(name)/") || path == "Sources/\(name)" { return true }
    return path.split(separator: "/").last.map { $0 == "\(name).swift" } ?? false
  }
}
