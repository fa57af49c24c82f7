import Testing
import TransferModel

@testable import TransferEngine

@Suite struct PathRulesTests {
  @Test(arguments: [
    ("*.bam", "a.bam", true), ("*.bam", "x/y/a.bam", true), ("*.bam", "a.bam.bai", false),
    ("x/*.bam", "x/a.bam", true), ("x/*.bam", "x/y/a.bam", false), ("x/**.bam", "x/y/a.bam", true),
    ("**/tmp", "tmp", true), ("**/tmp", "a/b/tmp", true), ("/top", "top", true), ("/top", "a/top", false),
    ("/a/top", "a/top", true), ("/a/top", "b/a/top", false), ("?", "ab", false), ("a[0-9]c", "a5c", true),
    ("a[!0-9]c", "a5c", false), ("a[!0-9]c", "axc", true), ("[", "[", true), ("a\\*b", "a*b", true),
    ("a\\*b", "axb", false),
    ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false), ("", "", true), ("*", "", true),
  ])
  func patternsMatchAsDocumented(pattern: String, path: String, expected: Bool) {
    let rule = PathRule(kind: .exclude, pattern: pattern)
    #expect((PathRules([rule]).exclusion(ofFile: NameBytes(path)) != nil) == expected)
  }

  @Test func theFirstRuleThatMatchesDecides() {
    let rules = PathRules([
      PathRule(kind: .exclude, pattern: "*.tmp"), PathRule(kind: .include, pattern: "keep*"),
      PathRule(kind: .exclude, pattern: "*.log"),
    ])
    #expect(rules.exclusion(ofFile: NameBytes("keep.tmp")) == "--exclude *.tmp")
    #expect(rules.exclusion(ofFile: NameBytes("keep.log")) == nil)
    #expect(rules.exclusion(ofFile: NameBytes("other.log")) == "--exclude *.log")
    #expect(rules.exclusion(ofFile: NameBytes("other")) == "no --include matches")
    #expect(PathRules().exclusion(ofFile: NameBytes("other")) == nil)
  }

  @Test func aDirectoryRuleKeepsFilesOfThatName() {
    let rules = PathRules([PathRule(kind: .exclude, pattern: "cache/")])
    #expect(rules.exclusion(ofFile: NameBytes("cache")) == nil)
    #expect(rules.exclusion(ofDirectory: NameBytes("a/cache")) == "--exclude cache/")
  }

  @Test func anIncludedFolderIsTakenWithAllBelowIt() {
    for pattern in ["logs/", "logs", "/logs/", "/logs"] {
      let rules = PathRules([PathRule(kind: .include, pattern: pattern), PathRule(kind: .exclude, pattern: "tmp/")])
      #expect(rules.exclusion(ofFile: NameBytes("logs/a/b")) == nil, "\(pattern)")
      #expect(rules.exclusion(ofDirectory: NameBytes("logs/tmp")) == nil, "\(pattern)")
      #expect(rules.exclusion(ofFile: NameBytes("other/a")) == "no --include matches")
      #expect((rules.exclusion(ofFile: NameBytes("x/logs/a")) == nil) == !pattern.hasPrefix("/"))
    }
    let wild = PathRules([PathRule(kind: .include, pattern: "l*")])
    #expect(wild.exclusion(ofFile: NameBytes("logs/a")) == "no --include matches")
  }
}
