import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct MetalinkTests {
  private func document(_ inside: String, _ root: String = "xmlns=\"urn:ietf:params:xml:ns:metalink\"") -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metalink \(root)>\n\(inside)\n</metalink>\n"
  }

  private func file(_ inside: String) -> String {
    document("<file name=\"a\">\(inside)</file>")
  }

  private func cause(_ text: String) -> String? { ManifestScene.cause(.metalink, text) }

  /// The second example of RFC 5854 section 1.2, with more around it.
  @Test func whatPublishersWrite() throws {
    let text = document(
      """
      <published>2009-05-15T12:23:23Z</published><origin dynamic="true">http://x/y</origin>
      <file name="dir/example &amp; 1.ext">
        <size> 14471447 </size><identity>Example</identity><signature mediatype="application/pgp-signature">x</signature>
        <hash type="sha-256">\(String.sha256)</hash><hash type="whirlpool">00</hash><hash type='md5'>\(String.md5)</hash>
        <pieces length="10000000" type="sha-1"><hash>\(String.sha1)</hash><hash>\(String.sha1)</hash></pieces>
        <pieces length="9000000" type="sha-256"><hash>\(String.sha256)</hash><hash>\(String.sha256)</hash></pieces>
        <pieces length="1" type="tiger"><hash>0</hash></pieces>
        <url>https://last/a</url><url location="DE" priority="2">https://de/a</url><url priority="1">ftp://x/a</url>
        <url location="de" priority="1">https://first/a?x&amp;y</url><url>https://later/a</url><url>https://last/a</url>
        <metaurl mediatype="torrent" priority="1">https://x/a.torrent</metaurl>
        <x:url xmlns:x="urn:x">https://evil/a</x:url><x:any xmlns:x="urn:x"><url>https://evil/b</url></x:any>
      </file>
      <file name="./b"><url>http://h/b</url></file>
      """)
    let entries = try ManifestScene.entries(.metalink, text)
    #expect(
      entries.map(\.brief) == [
        "4: dir/example & 1.ext < https://first/a?x&y|https://de/a|https://last/a|https://later/a 14471447 sha256 md5",
        "15: b < http://h/b -",
      ])
    guard case .urls(let urls) = entries[0].location else { throw ManifestFault("no URLs", "") }
    #expect(urls.map(\.priority) == [1, 2, 999_999, 999_999] && urls.map(\.country) == ["de", "de", nil, nil])
    let pieces = try #require(entries[0].pieces)
    #expect(pieces.algorithm == .sha256 && pieces.length == 9_000_000 && pieces.count == 2)
    #expect(pieces[1].description == "sha256:" + .sha256)
  }

  @Test func namespacesMayHavePrefixes() throws {
    let text = """
      <m:metalink xmlns:m='urn:ietf:params:xml:ns:metalink'><m:file name='a'><m:url>https://h/a</m:url><url>https://e/</url>\
      </m:file><file name='b'/></m:metalink>
      """
    #expect(try ManifestScene.entries(.metalink, text).map(\.brief) == ["1: a < https://h/a -"])
  }

  @Test func metalink3IsNamed() {
    let old = document("<files/>", "version=\"3.0\" xmlns=\"http://www.metalinker.org/\"")
    #expect(cause(old) == "line 2: it is Metalink 3, and only Metalink 4 (RFC 5854) is read")
    #expect(cause(document("", ""))?.contains("not Metalink 4") == true)
    #expect(cause("<html><body>Log in</body></html>")?.contains("not Metalink 4") == true)
  }

  @Test(
    arguments: [
      ("", "\"a\" has no URL"), ("<url>ftp://h/a</url>", "\"a\" has no URL of a scheme that is fetched"),
      ("<url>a/b</url>", "the scheme of its URL is unknown"), ("<url></url>", "the scheme of its URL is unknown"),
      ("<url>https://u:secret@h/a</url>", "its URL carries user information"),
      ("<url>https://h/a?sig=secret</url>", "carries a credential"),
      ("<url priority=\"0\">https://h/a</url>", "priority"),
      ("<url priority=\"1000000\">https://h/a</url>", "priority"), ("<size>-1</size>", "its size is not"),
      ("<size></size>", "its size is not"), ("<size>1</size><size>1</size>", "\"a\" has two sizes"),
      ("<hash>\(String.md5)</hash>", "\"a\" has a hash without a type"),
      ("<hash type=\"md5\">\(String.sha1)</hash>", "its md5 digest is not"),
      (
        "<hash type=\"md5\">\(String.md5)</hash><hash type=\"md5\">\(String(repeating: "0", count: 32))</hash>",
        "two different"
      ),
      ("<pieces type=\"md5\"/>", "its size is not"), ("<pieces length=\"0\" type=\"md5\"/>", "pieces without a length"),
      ("<url>https://h/a</url><pieces length=\"1\" type=\"md5\"/>", "\"a\" has pieces and no size"),
      (
        "<url>https://h/a</url><size>3</size><pieces length=\"2\" type=\"md5\"><hash>\(String.md5)</hash></pieces>",
        "\"a\" has hashes of 1 pieces, and 2 pieces"
      ),
      ("<pieces length=\"2\" type=\"md5\"><hash>0</hash></pieces>", "its md5 digest is not"),
      ("<url x='1' x='2'>https://h/a</url>", "not well-formed"),
      ("<url x='1'y='2'>https://h/a</url>", "not well-formed"),
      ("<url x>https://h/a</url>", "not well-formed"), ("<url x='<'>https://h/a</url>", "not well-formed"),
      ("<url x='&y;'>https://h/a</url>", "not well-formed"), ("</url>", "not well-formed"),
    ])
  func whatIsRefused(_ inside: String, _ expected: String) {
    let cause = cause(file(inside))
    #expect(cause?.hasPrefix("line 3: ") == true && cause?.contains(expected) == true, "\(inside): \(cause ?? "taken")")
    #expect(cause?.contains("secret") == false)
  }

  @Test func wholeDocumentsThatAreRefused() {
    let url = "<url>https://h/a</url>"
    #expect(cause(document("<file>\(url)</file>")) == "line 3: a file has no name")
    #expect(cause(document("<file name=\"../a\">\(url)</file>"))?.contains("\"..\" component") == true)
    #expect(cause(document("<file name=\"a&#10;b\">\(url)</file>"))?.contains("control character") == true)
    let twice = "<file name=\"a\">\(url)</file>\n<file name=\"./a\">\(url)</file>"
    #expect(cause(document(twice)) == "line 4: \"a\" is listed twice")
    #expect(cause(document("")) == "line 5: it lists no file")
    #expect(cause(String(file(url).dropLast(5))) == "line 4: it ends before its last element does")
    #expect(cause("") == "line 1: it ends before its last element does")
    let bomb = "<!DOCTYPE m [<!ENTITY a \"\(String(repeating: "x", count: 100))\"><!ENTITY b \"&a;&a;\">]>" + file(url)
    #expect(cause(bomb)?.contains("it has a document type") == true)
    #expect(cause(file(String(repeating: "<x>", count: 1000)))?.contains("nested too deep") == true)
    let latin = Array(file("\u{FF}").utf8.filter { $0 != 0xC3 })
    #expect(ManifestScene.read(.metalink, latin).error?.cause == "line 1: it is not UTF-8")
  }

  @Test func documentsAreBounded() throws {
    let reader = MetalinkReader(NameBytes("x"))
    let block = [UInt8](repeating: 0x20, count: 32 << 20)
    try block.withUnsafeBytes { try reader.append($0) }
    try block.withUnsafeBytes { try reader.append($0) }
    #expect(throws: TransferError.self) { try [UInt8(0x20)].withUnsafeBytes { try reader.append($0) } }
  }
}
