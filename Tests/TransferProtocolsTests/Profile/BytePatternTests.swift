import Testing

@testable import TransferProtocols

@Suite struct BytePatternTests {
  private func match(_ pattern: String, _ text: String) throws -> String? {
    try BytePattern(pattern).firstMatch(in: text.utf8).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    arguments: [
      ("bytes=0-(\\d+)", "bytes=0-4194303", "4194303"),
      ("/(\\d{5})$", "/dav/uploads/u/00012", "00012"),
      ("/(\\d{5})$", "/dav/uploads/u/000123", nil),
      ("a|b|cd", "xcd", "cd"),
      ("(a|ab)(c|bcd)", "abcd", "a"),
      ("x(?:a|b)+(c)?", "xabab", "xabab"),
      ("^abc$", "abc", "abc"),
      ("^abc$", "abcd", nil),
      ("a*", "", ""),
      ("a+?", "aaa", "a"),
      ("<(.+)>", "<a><b>", "a><b"),
      ("<(.+?)>", "<a><b>", "a"),
      ("a{2,3}", "aaaa", "aaa"),
      ("a{2,}?", "aaaa", "aa"),
      ("(a{0,2})b", "aaab", "aa"),
      ("[^a-c\\d]+", "ab1xyz2", "xyz"),
      ("[]x-]+", "a]-x", "]-x"),
      ("(?i)hello", "say HeLLo", "HeLLo"),
      ("(?i)[a-c]+", "xABCd", "ABC"),
      ("\\.\\*\\{", "a.*{", ".*{"),
      ("a.c", "a\nc abc", "abc"),
      ("größe=(\\w+)", "größe=abc_1;", "abc_1"),
      ("((a)|b)*", "abab", "b"),
      ("(a*)*", "aa", "aa"),
      ("\\S+\\s\\W", "ab -", "ab -"),
      ("", "abc", ""),
    ] as [(String, String, String?)])
  func matches(_ pattern: String, _ text: String, _ expected: String?) throws {
    #expect(try match(pattern, text) == expected)
  }

  /// Patterns that take exponential time in other engines: 2^28 ways here.
  @Test(.timeLimit(.minutes(1)), arguments: ["(a+)+$", "(a|a)*b", "(a*)*b", "a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaab"])
  func noTextMakesItSlow(_ pattern: String) throws {
    let pattern = try BytePattern(pattern)
    #expect(pattern.firstMatch(in: [UInt8](repeating: 0x61, count: 3_000) + [0x21]) == nil)
  }

  @Test func onlyTheFirst64KiBAreLookedAt() throws {
    let pattern = try BytePattern("b")
    #expect(pattern.matches([UInt8](repeating: 0x61, count: BytePattern.largestInput - 1) + [0x62]))
    #expect(!pattern.matches([UInt8](repeating: 0x61, count: BytePattern.largestInput) + [0x62]))
  }

  @Test(arguments: [
    "(", ")", "a)", "[a", "[z-a]", "*a", "a**", "a{3,1}", "a{", "a{x}", "a{201}", "\\q", "\\", "(?=a)", "[é]", "(?i",
    "((a{200}){200}){200}",
  ])
  func mistakesAreRefused(_ pattern: String) {
    #expect(throws: TemplateSyntaxFault.self) { try BytePattern(pattern) }
  }

  @Test func deepGroupsAreRefused() {
    #expect(throws: TemplateSyntaxFault.self) {
      try BytePattern(String(repeating: "(", count: 5_000) + String(repeating: ")", count: 5_000))
    }
    #expect(throws: TemplateSyntaxFault.self) { try BytePattern(String(repeating: "|", count: 5_000)) }
  }
}
