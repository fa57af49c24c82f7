import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ManifestListTests {
  private func cause(_ text: String) -> String? { ManifestScene.cause(.list, text) }

  @Test func urlsAndPathsWithTheirTargets() throws {
    let text = """
      \u{FEFF}https://h/a/b%20c.bin?v=1

      HTTP://h:8080/x\tdeep/er/y\r
      ./dir/a b?c#d
      # x\tz
      """
    #expect(
      try ManifestScene.entries(.list, text).map(\.brief) == [
        "1: b c.bin < https://h/a/b%20c.bin?v=1 -", "3: deep/er/y < HTTP://h:8080/x -",
        "4: dir/a b?c#d < dir/a b?c#d -", "5: z < # x -",
      ])
  }

  @Test(
    arguments: [
      ("https://h/", "its URL names no file"), ("https://h", "its URL names no file"),
      ("https://h?x=/a", "its URL names no file"), ("https://h/a%2fb", "holds a slash"),
      ("https://h/a%2", "is not followed by two"), ("https://h/%2e%2E", "\"..\" component"),
      ("https://h/a%00b", "control character"), ("https://h/a b", "holds characters that no URL has"),
      ("https://h/ä", "holds characters that no URL has"), ("https://h/a#b", "is never sent"),
      ("ftp://h/a", "the scheme of its URL is unknown"), ("file:///etc/passwd", "the scheme of its URL is unknown"),
      ("https:///a", "the host or the port of its URL is wrong"), ("https://h:0/a", "port"),
      ("https://h\\evil/a", "host"), ("//h/a", "begins at the root"), ("a\tb\tc", "control character"),
      ("a\t", "no target path"), ("\tb", "no URL is before"), ("a\t/b", "begins at the root"),
      ("a\t../b", "\"..\" component"), ("a\t\u{7F}", "control character"), ("a/", "ends with a slash"),
      ("a//b", "empty component"), ("./", "it names no file"),
      ("https://" + String(repeating: "h", count: 9000), "longer"),
    ])
  func whatIsRefused(_ line: String, _ expected: String) {
    let cause = cause("a\n\(line)")
    #expect(cause?.hasPrefix("line 2: ") == true && cause?.contains(expected) == true, "\(line): \(cause ?? "taken")")
  }

  /// The second URL of a server is checked by comparison with the first; its own secrets are still found.
  @Test(
    arguments: [
      "https://user:pass%word@h/a", "https://pass%word@h/a", "https://h:443@pass%word/a",
      "https://h/a?X-Amz-Signature=pass%word", "https://h/a?x=1&%74oken=pass%word", "https://h/a?SIG=pass%word",
      "https://h?password=pass%word",
    ])
  func noSecretIsTakenNorQuoted(_ url: String) throws {
    for front in ["", "https://h/first\n"] {
      let error = try #require(ManifestScene.read(.list, Array((front + url + "\tx").utf8)).error)
      #expect(!error.description.contains("pass") && error.kind == .badList)
      #expect(error.cause.contains("user information") || error.cause.contains("credential"))
    }
  }

  /// A URL in place of a path is refused as a path, and is not quoted either.
  @Test func noSecretIsQuotedFromTheWrongPlace() {
    let url = "https://user:pass%word@h/a?token=pass%word"
    let texts: [(ManifestFormat, String)] = [
      (.list, "x\t\(url)"), (.sums, "\(String.md5)  \(url)"), (.sums, "MD5 (./\(url)) = \(String.md5)"),
      (.csv, "path,md5\n\(url),"), (.jsonl, "{\"path\":\"\(url)\"}"), (.bagit, "https://h/a - \(url)"),
      (.metalink, "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='\(url)'/></metalink>"),
    ]
    for (format, text) in texts {
      let cause = ManifestScene.cause(format, text, name: "fetch.txt")
      #expect(cause?.contains("\"https://…\" has an empty component") == true, "\(cause ?? "taken")")
    }
  }

  @Test func theKnownServerIsComparedWhole() {
    #expect(cause("https://h/a\nhttps://h@evil/a")?.contains("user information") == true)
    #expect(cause("https://h/a\nhttps://h:99999/a")?.contains("port") == true)
    #expect(cause("https://h/a\nhttps://h") == "line 2: its URL names no file")
  }

  @Test func longLinesEndInAnErrorWhereverTheyAreCut() {
    let long = [UInt8](repeating: 0x61, count: (1 << 20) + 1)
    for step in [nil, 70_000] {
      let outcome = ManifestScene.read(.list, Array("x\n".utf8) + long + [0x0A], step: step)
      #expect(outcome.error?.cause == "line 2: it is longer than 1048576 bytes" && outcome.entries.count == 1)
    }
  }

  @Test func nothingIsNothing() throws {
    for format in ManifestFormat.allCases where format != .metalink {
      #expect(try ManifestScene.entries(format, "").isEmpty)
      #expect(try ManifestScene.entries(format, "\u{FEFF}\r\n\n").isEmpty)
    }
  }

  /// Python writes bytes of a name that are not UTF-8 as `\udcff`: as U+FFFD they would be another name.
  @Test(arguments: [#"\ud800"#, #"\udcff"#, #"\ud83dx"#, #"\ud83d\u0041"#])
  func halvesOfSurrogatePairsAreNoNames(_ half: String) throws {
    func text(_ name: String) -> String {
      #"{"path":"a","url":"http://h/a"}"# + "\n" + #"{"path":"b\#(name)","url":"http://h/b"}"#
    }
    let cause = try #require(ManifestScene.cause(.jsonl, text(half)))
    #expect(cause.contains("line 2") && cause.contains("half of a surrogate pair"), "\(cause)")
    let pair = try ManifestScene.entries(.jsonl, text(#"\ud83d\ude00"#))
    #expect(pair.map(\.path) == [NameBytes("a"), NameBytes("b\u{1F600}")])
  }
}
