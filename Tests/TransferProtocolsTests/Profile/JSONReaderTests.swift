import Testing

@testable import TransferProtocols

@Suite struct JSONReaderTests {
  private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

  @Test func values() throws {
    let json = try read(
      " {\"a\": [1, -2.50, 1e9, true, false, null], \"b\":\"x\\u00e9\\ud83d\\ude00\\n\\/\", \"c\":{}}\r\n")
    #expect(json["a"] == .array([.int(1), .number("-2.50"), .number("1e9"), .bool(true), .bool(false), .null]))
    #expect(json["b"] == .string("xé\u{1F600}\n/"))
    #expect(json["c"] == .object([]))
    #expect(try read("99999999999999999999") == .number("99999999999999999999"))
    #expect(try read("\"\\ud800x\\udc00\"") == .string("\u{FFFD}x\u{FFFD}"))
    #expect(try read("{\"a\":1,\"a\":2}")["a"] == .int(2))
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1", "1e", "-", "tru", "nul", "\"a", "\"\u{01}\"",
    "\"\\x\"", "\"\\u12\"", "[1 2]", "1 2", "{} x", "{\"a\" 1}", "NaN", "'a'",
  ])
  func whatIsNotJSON(_ text: String) {
    #expect(throws: JSONFault.self) { try read(text) }
  }

  @Test func depthAndSizeAreBounded() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try read(nested(64)) }
    #expect(throws: JSONFault.tooDeep) { try read(nested(65)) }
    #expect(throws: JSONFault.tooDeep) { try read(String(repeating: "{\"a\":", count: 100_000)) }
    #expect(throws: JSONFault.tooLarge) { try JSONReader.read([UInt8](repeating: 0x20, count: (4 << 20) + 1)) }
    #expect(throws: JSONFault.notUTF8) { try JSONReader.read([0x22, 0xFF, 0x22]) }
  }

  @Test(arguments: [
    ("$", "{\"a\":1}"), ("$.a.b[0]", "7"), ("$.list[*].n", "1,2"), ("$[\"odd.key\"]", "5"), ("$['odd.key']", "5"),
    ("$.list[1].n", "2"), ("$.list[2].n", ""), ("$.a.x", ""), ("$.a.b.c", ""), ("$.@odata", "9"), ("$.obj.*", "1,2"),
  ])
  func paths(_ path: String, _ expected: String) throws {
    let text =
      path == "$"
      ? "{\"a\":1}"
      : "{\"a\":{\"b\":[7]},\"list\":[{\"n\":1},{\"n\":2},{}],\"odd.key\":5,\"@odata\":9,\"obj\":{\"x\":1,\"y\":2}}"
    let values = try JSONPath(path).values(in: read(text))
    #expect(values.map { JSONText.of($0) }.joined(separator: ",") == expected)
  }

  @Test(arguments: ["", "a", "$.", "$[", "$[x]", "$[-1]", "$.a b", "$[\"a]", "$..a"])
  func wrongPaths(_ path: String) {
    #expect(throws: TemplateSyntaxFault.self) { try JSONPath(path) }
  }

  @Test(arguments: [
    ("/R/Id", "x"), ("//n", "1,2,3"), ("/R/L//n", "1,2"), ("//L/n", "1"), ("/Id", ""), ("/R/L/D/n", "2"),
  ])
  func xmlPaths(_ path: String, _ expected: String) throws {
    let text = "<R xmlns:d=\"u\"><Id> x\n</Id><d:L><n>1</n><D><n>2</n></D></d:L><n>3</n></R>"
    let root = try XMLElement(document: Array(text.utf8))
    #expect(try XMLPath(path).texts(in: root).joined(separator: ",") == expected)
  }

  @Test(arguments: ["", "a", "/", "//", "/a/", "///a"])
  func wrongXMLPaths(_ path: String) {
    #expect(throws: TemplateSyntaxFault.self) { try XMLPath(path) }
  }
}
