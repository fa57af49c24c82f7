import FoundationEssentials
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ClassAdTests {
  private func read(_ text: String) throws -> [ClassAd] { try read(Array(text.utf8)) }

  private func read(_ bytes: [UInt8]) throws -> [ClassAd] {
    var reader = ClassAdReader(bytes)
    var ads: [ClassAd] = []
    while let ad = try reader.next() { ads.append(ad) }
    return ads
  }

  private func recorded(_ name: String) throws -> [ClassAd] {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return try read(Array(try Data(contentsOf: URL(filePath: "\(root)/Goldens/condor/\(name)"))))
  }

  /// Written by ClassAd 25.14 of HTCondor.
  @Test func whatHTCondorWritesIsRead() throws {
    let two = try recorded("input-v2.ads")
    #expect(
      two.map { $0.string("LocalFileName") }
        == [
          "plain", "with space", "quote\"backslash\\", "new\nline", "tab\t", "bell\u{7}", "ünïcode", "single'quote",
          "// no comment", "; ] }",
        ].map { NameBytes("/scratch/dir_29062/\($0)") })
    #expect(two.map { $0.string("url") } == (0..<10).map { NameBytes("https://files.example/in/\($0)") })
    let hint = ClassAd([("cache", .string("near")), ("weights", .list([.integer(1), .real(2.5), .boolean(true)]))])
    #expect(two.allSatisfy { $0["PLUGINDATA"] == .ad(hint) })

    let four = try recorded("input-v4.ads")
    #expect(four.map { $0.string("Url")?.utf8 } == [nil, nil, "https://files.example/a", nil, "s3://bucket/b"])
    #expect(four[0]["PluginData"] == .expression && four[3]["Requirements"] == .expression)
  }

  @Test func commentsAndBlanksStandAnywhere() throws {
    let ads = try read("// one\n[ /* ] */ a = \"x\" \"y\" ; // ;\n\t'b c' = -7 ;; ] /* [ */\n[]\n   ")
    #expect(ads == [ClassAd([("a", .string("xy")), ("b c", .integer(-7))]), ClassAd()])
  }

  @Test func aNameAgainReplacesItsValue() throws {
    let ad = try #require(try read("[A = 1; a = undefined; B = 1.5e3; c = .5; d = TRUE]").first)
    #expect(ad.names == ["A", "B", "c", "d"])
    #expect(ad.values == [.undefined, .real(1_500), .real(0.5), .boolean(true)])
  }

  @Test(arguments: [
    "[a = f(\"]\", ']', {1, [b=2]}); u = 1]", "[a = x > 3 ? 1 : 2; u = 1]", "[a = 10K; u = 1]",
    "[a = {1, 2}[0]; u = 1]",
    "[a = [b = 1].b; u = 1]", "[a = \"x\" == y; u = 1]", "[a = -x; u = 1]", "[a = 1 /* ; */ + 1; u = 1]",
  ])
  func expressionsArePassedOver(_ text: String) throws {
    #expect(try read(text) == [ClassAd([("a", .expression), ("u", .integer(1))])])
  }

  @Test func escapesAreBytes() throws {
    #expect(
      try read(#"[a = "\a\b\t\n\v\f\r\\\"\'\?\101\1019\47x\400"]"#) == [
        ClassAd([
          ("a", .string([7, 8, 9, 10, 11, 12, 13, 0x5C, 0x22, 0x27, 0x3F, 0x41, 0x41, 0x39, 0x27, 0x78, 0x20, 0x30]))
        ])
      ])
    #expect(try read([0x5B, 0x61, 0x3D, 0x22, 0xFF, 0xFE, 0x22, 0x5D]) == [ClassAd([("a", .string([0xFF, 0xFE]))])])
  }

  @Test(arguments: [
    ("[a = 1", 1, "it ends within a ClassAd"), ("[a = \"x]\n\n", 3, "a string has no end"),
    ("\n[a = 1; /* ]", 2, "a comment has no end"), ("[a = 1]\n[", 2, "it ends within a ClassAd"),
    ("[a = 1] x", 1, "a ClassAd begins with ["), ("[1a = 1]", 1, "a name of an attribute is expected"),
    ("[a : 1]", 1, "a name is followed by ="), ("[a = (1]; b = 2]", 1, "brackets do not match"),
    ("[a = \"\\0\"]", 1, "a string has a NUL in it"),
    ("[a = \"\\q\"]", 1, "a string has an escape that ClassAds do not have"),
    ("[a = {1,", 1, "it ends within a ClassAd"), ("[", 1, "it ends within a ClassAd"),
    ("[a=\"\\", 1, "a string has no end"),
  ])
  func whatIsWrongIsSaid(_ text: String, _ line: Int, _ cause: String) {
    #expect(throws: ClassAdReader.Fault(line: line, cause: cause)) { try read(text) }
  }

  /// A prefix of any length yields an error or what was complete, and never a crash.
  @Test func everyPrefixEnds() throws {
    let text = Array("[a = \"x\\n\"; b = {1, [c = 'd' + f(2)]}] // e\n[f = \"/*\"]".utf8)
    for count in 0...text.count {
      var reader = ClassAdReader(Array(text[..<count]))
      while (try? reader.next()) != nil {}
      #expect(reader.end <= count && (reader.end > 0) == (count >= 38), "\(count)")
    }
  }

  @Test func nestingIsBounded() throws {
    let depth = ClassAdReader.deepest
    func nested(_ depth: Int) -> String {
      String(repeating: "[a = ", count: depth) + "1" + String(repeating: "]", count: depth)
    }
    #expect(try read(nested(depth)).count == 1)
    #expect(throws: ClassAdReader.Fault.self) { try read(nested(depth + 1)) }
    #expect(throws: ClassAdReader.Fault.self) { try read("[a = " + String(repeating: "{", count: 100_000)) }
    #expect(throws: ClassAdReader.Fault.self) { try read("[a = " + String(repeating: "(", count: 100_000)) }
  }

  @Test func tenThousandAdsAreRead() throws {
    let text = (0..<10_000).map { "[ Url = \"https://h/\($0)\"; LocalFileName = \"/s/\($0)\" ]" }.joined()
    #expect(try read(text).last?.string("localfilename") == NameBytes("/s/9999"))
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    let all = ClassAd([
      ("s", .string((1...255).map { UInt8($0) })), ("i", .integer(.min)), ("r", .real(1e-5)), ("b", .boolean(false)),
      ("l", .list([.ad(ClassAd([("x", .undefined)])), .list([])])),
    ])
    #expect(try read(all.newText) == [all])
    #expect(!all.newText.contains(0x0A))
    #expect(
      String(decoding: ClassAd([("a", .string("x\"y")), ("b", .integer(4))]).longText, as: UTF8.self)
        == "a = \"x\\\"y\"\nb = 4\n")
  }
}
