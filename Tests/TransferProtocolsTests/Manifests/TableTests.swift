import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct TableTests {
  private func brief(_ text: String) throws -> [String] { try ManifestScene.entries(.csv, text).map(\.brief) }
  private func cause(_ text: String) -> String? { ManifestScene.cause(.csv, text) }

  @Test func columnsInAnyOrderWithQuotes() throws {
    let text = #"""
      \#u{FEFF}note,"Path",SIZE,url,digest,SHA-512,md5\#r
      "two\#r
      lines, ""quoted""","a, b",10,https://h/x,"sha256:\#(String.sha256),blake3:00",,\#(String.md5)\#r

      ,,,files/c,,,
      ,d,0,,sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:,\#(String.sha512),
      """#
    #expect(
      try brief(text) == [
        "2: a, b < https://h/x 10 sha256 md5", "5: files/c < files/c -", "6: d < d 0 sha512 sha256",
      ])
  }

  @Test func tabsSeparateWhenTheHeaderHasOne() throws {
    #expect(try brief("url\tpath\nx,y\t\"a\"\"b\"\n") == ["2: a\"b < x,y -"])
  }

  @Test(
    arguments: [
      ("size,md5\n1,2", "line 1: the header has no column \"url\" or \"path\""),
      ("path,PATH\na,b", "line 1: two columns of the header say the same"),
      ("sha256,sha-256,path\n,,b", "line 1: two columns of the header say the same"),
      ("path,size\na", "line 2: it has 1 fields, and the header 2"),
      ("path,size\na,1,2", "line 2: it has 3 fields, and the header 2"),
      ("path,size\na\"b,1", "line 2: a double quote is inside a field without quotes"),
      ("path,size\n\"a\"b,1", "line 2: there is text after the closing double quote"),
      ("path,size\nx,1\n\"a\n\n,1", "line 3: a double quote is never closed"),
      ("path,size\na,-1", "line 2: its size is not"), ("path,size\na,1.5", "line 2: its size is not"),
      ("path,size\na,9007199254740993", "line 2: its size is not"),
      ("path,size\na,99999999999999999999", "line 2: its size is not"), ("path,size\n,1", "line 2: it has neither"),
      ("path,md5\na,\(String.sha1)", "line 2: its md5 digest is not"),
      ("path,digest\na,\(String.sha256)", "line 2: its digest names no algorithm"),
      ("path,digest\na,sha256:\(String.sha1)", "line 2: its sha256 digest is not"),
      ("path,digest\na,blake3:00", "line 2: its digest is of \"blake3\", which is not known here"),
      (
        "path,digest,md5\na,md5:\(String.md5),\(String.md5.replacing("d", with: "e"))",
        "line 2: it has two different md5"
      ),
      ("note,path\n\"a\nb\",../x", "line 2: \"../x\" has a"),
      ("path,url\nx,https://a:b@h/x", "line 2: its URL carries"),
    ])
  func whatIsRefused(_ text: String, _ expected: String) {
    let cause = cause(text)
    #expect(cause?.hasPrefix(expected) == true, "\(text): \(cause ?? "taken")")
  }

  @Test func runawayQuotesEnd() {
    let text = "path,size\n\"" + String(repeating: String(repeating: "a", count: 999) + "\n", count: 1100)
    #expect(ManifestScene.read(.csv, Array(text.utf8)).error?.cause == "line 2: a double quote is never closed")
  }

  @Test func objectsOfLines() throws {
    let text = """
      {"url":"https://h/x","size":5,"sha256":"\(String.sha256)","note":[{"url":1}]}\r

      {"path":"a\\u0020b","url":null,"digest":"md5:\(String.md5)","Size":"7"}
      { "path" : "c\\\\d" }
      """
    #expect(
      try ManifestScene.entries(.jsonl, text).map(\.brief) == [
        "1: x < https://h/x 5 sha256", "3: a b < a b 7 md5", "4: c\\\\d < c\\\\d -",
      ])
  }

  @Test(
    arguments: [
      ("[1]", "it is not a JSON object"), ("{", "it is not a JSON object"),
      ("{\"path\":\"a\"}x", "it is not a JSON object"),
      ("{\"path\":5}", "its \"path\" is not a text"), ("{\"path\":\"a\",\"size\":-1}", "its size is not"),
      ("{\"path\":\"a\",\"size\":1.5}", "its size is not"),
      ("{\"path\":\"a\",\"size\":9007199254740993}", "its size is not"),
      ("{\"path\":\"a\",\"size\":true}", "its size is not"), ("{}", "it has neither"),
      ("{\"path\":\"\"}", "it has neither"),
      ("{\"path\":\"a\",\"path\":\"b\"}", "it has \"path\" twice"),
      ("{\"path\":\"a\",\"size\":1,\"SIZE\":null}", "it has \"SIZE\" twice"),
      ("{\"path\":\"a\\u0000\"}", "control character"), ("{\"path\":\"a\\u001bb\"}", "control character"),
      ("{\"path\":\"\\u002e./a\"}", "\"..\" component"), ("{\"path\":\"a\",\"md5\":\"00\"}", "its md5 digest is not"),
      (String(repeating: "[", count: 100_000), "nested too deep"),
      ("{\"url\":\"https://h/a?token=x\"}", "carries a credential"),
    ])
  func objectsThatAreRefused(_ line: String, _ expected: String) {
    let cause = ManifestScene.cause(.jsonl, "{\"path\":\"a\"}\n" + line)
    #expect(cause?.hasPrefix("line 2: ") == true && cause?.contains(expected) == true, "\(line): \(cause ?? "taken")")
  }

  @Test(arguments: [
    ("9007199254740992", false), ("9007199254740993", true), ("9223372036854775807", true), ("0", true), ("-1", true),
  ])
  func piecesHaveTheLengthOfAFileAtMost(_ length: String, _ isRefused: Bool) {
    let digest = base64([UInt8](repeating: 1, count: 32))
    let line = "{\"path\":\"a\",\"size\":5,\"piece_digests\":\"sha256:\(length):\(digest)\"}"
    let cause = ManifestScene.cause(.jsonl, line)
    #expect(cause?.contains("its pieces cannot be read") == (isRefused ? true : nil), "\(cause ?? "taken")")
  }
}
