import Testing
import TransferModel

@testable import TransferEngine

/// Which rule determines which property of a file.
@Suite struct ObjectRulesTests {
  private let rules = ObjectRules([
    ObjectRule(pattern: "raw/**", setting: .storageClass, value: "GLACIER"),
    ObjectRule(pattern: "*.bam", setting: .tag("kind"), value: "reads"),
    ObjectRule(pattern: "**", setting: .storageClass, value: "STANDARD_IA"),
    ObjectRule(pattern: "*.bam", setting: .tag("kind"), value: "never"),
  ])

  private func values(_ path: String) -> [String: String]? {
    Array(path.utf8).withUnsafeBytes { rules.properties(of: $0, $0, mode: 0o100644)?.values }
  }

  @Test func forEachSettingTheFirstMatchDecides() {
    #expect(values("raw/a.txt") == ["storage_class": "GLACIER"])
    #expect(values("raw/x/a.bam") == ["storage_class": "GLACIER", "tag.kind": "reads"])
    #expect(values("a.bam") == ["storage_class": "STANDARD_IA", "tag.kind": "reads"])
    #expect(Array("a".utf8).withUnsafeBytes { ObjectRules().properties(of: $0, $0, mode: 0o100644) } == nil)
  }

  @Test(arguments: [("[a", "\"[\" without \"]\""), ("raw/", "matches folders")])
  func aPatternThatMatchesNoFileIsAProblem(_ pattern: String, _ cause: String) {
    let rules = ObjectRules([ObjectRule(pattern: pattern, setting: .contentType, value: "a/b")])
    #expect(rules.problem?.cause.contains(cause) == true)
  }
}
