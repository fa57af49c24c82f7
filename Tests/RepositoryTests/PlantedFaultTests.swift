import Testing

/// The planted faults of `tools/mutants` fit the sources, and the tests that have to fail exist: to plant all of them
/// takes hours, and only a few are planted each day.
@Suite struct PlantedFaultTests {
  private static let patches = Repository.files(under: "tools/mutants.d", suffix: ".patch")

  @Test func theySayWhatHasToFail() {
    let tests = Self.declared()
    #expect(Self.patches.count > 200 && tests.count > 1_000, "the files are not read correctly")
    for patch in Self.patches {
      let head = Repository.lines(patch).prefix { !$0.hasPrefix("diff ") && !$0.hasPrefix("--- ") }
      let must = head.compactMap { Self.value($0, of: "must-fail: ") }
      #expect(must.count == 1 && head.first?.hasSuffix(".") == true, "\(patch)")
      for filter in must.compactMap({ Self.value($0, of: "unit ") }).joined(separator: "|").split(separator: "|") {
        let name = filter.split { $0 == "." || $0 == "/" || $0 == " " }.last ?? ""
        let isThere = Repository.exists("Tests/\(name)") || tests.contains { $0.hasPrefix(name) }
        #expect(isThere && !name.isEmpty, "\(patch): no test is called \(filter)")
      }
    }
  }

  /// Each hunk replaces lines that its file has.
  @Test func theyFitTheSources() {
    for patch in Self.patches {
      var file: [Substring] = []
      var hunk: [Substring] = []
      func check() {
        #expect(Self.holds(file, hunk), "\(patch) does not apply")
        hunk = []
      }
      for line in Repository.lines(patch) {
        if line.hasPrefix("diff ") || line.hasPrefix("--- ") || line.hasPrefix("@@") {
          check()
        } else if let path = Self.value(line, of: "+++ b/") {
          file = Repository.lines(String(path))
        } else if !file.isEmpty, line.hasPrefix(" ") || line.hasPrefix("-") {
          hunk.append(line.dropFirst())
        }
      }
      check()
    }
  }

  /// The names of suites and tests, among others.
  private static func declared() -> Set<Substring> {
    var names: Set<Substring> = []
    for file in Repository.files(under: "Tests", suffix: ".swift") {
      for line in Repository.lines(file) {
        let words = line.split { $0 == " " || $0 == "(" || $0 == ":" }
        for (word, name) in zip(words, words.dropFirst()) where ["struct", "class", "func"].contains(word) {
          names.insert(name)
        }
      }
    }
    return names
  }

  private static func value(_ line: Substring, of prefix: String) -> Substring? {
    line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : nil
  }

  /// Whether these lines follow each other in the file.
  private static func holds(_ file: [Substring], _ lines: [Substring]) -> Bool {
    guard let first = lines.first else { return true }
    return file.indices.contains { file[$0] == first && file[$0...].starts(with: lines) }
  }
}
