import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct TemplateTests {
  static let scope: ProfileScope = {
    var scope = ProfileScope()
    let md5 = Digest(.md5, [UInt8](0..<16))
    scope.file = ProfileScope.file(
      path: NameBytes("dir/Ü mlaut.tar.gz"), size: 10_000, mtimeMs: 784_111_777_123, hashes: ["md5": md5])
    scope.chunk = ProfileScope.chunk(
      2, of: ChunkLayout(size: 10_000, chunkSize: 4_096), base: 1, hashes: ["crc32": Digest(crc32: 0x00C0_FFEE)])
    scope.session = ["token": .string("T/1+2"), "urls": .list([.string("u0"), .string("u1"), .string("u2")])]
    scope.parts = [["etag": .string("e1"), "number": .int(1)], ["etag": .string("e2"), "number": .int(2)]]
    scope.input = ["url": .string("https://h.example/x"), "path": .string("/a/é\"\u{1F600}")]
    scope.nowMs = 1_700_000_000_999
    scope.uuid = "0190"
    return scope
  }()

  private func render(_ text: String) throws -> String { try Template(parsing: text).text(Self.scope) }

  @Test(arguments: [
    ("plain", "plain"),
    ("{{file.name}}", "Ü mlaut.tar.gz"),
    ("{{file.path}}", "dir/Ü mlaut.tar.gz"),
    ("{{file.ext}}/{{file.size}}", "gz/10000"),
    ("{{ file.mtime }}", "784111777"),
    ("{{file.mtime|unix_ms}}", "784111777123"),
    ("{{file.mtime|httpdate}}", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("{{file.mtime|iso8601}}", "1994-11-06T08:49:37Z"),
    ("{{file.mime}}", "application/gzip"),
    ("{{file.md5}}", "000102030405060708090a0b0c0d0e0f"),
    ("{{file.md5|raw|base64}}", "AAECAwQFBgcICQoLDA0ODw=="),
    ("{{file.name|urlencode}}", "%C3%9C%20mlaut.tar.gz"),
    ("{{file.path|pathencode}}", "dir/%C3%9C%20mlaut.tar.gz"),
    ("{{file.path|urlencode}}", "dir%2F%C3%9C%20mlaut.tar.gz"),
    ("{{file.path|basename|strip_ext}}", "Ü mlaut.tar"),
    ("{{file.path|ext|upper}}", "GZ"),
    ("{{chunk.index}},{{chunk.number}},{{chunk.count}}", "2,3,3"),
    ("{{chunk.start}}-{{chunk.end}}/{{chunk.end_exclusive}}", "8192-9999/10000"),
    ("{{chunk.size}} of {{chunk.nominal_size}}", "1808 of 4096"),
    ("{{chunk.last}} {{chunk.first}}", "true false"),
    ("{{chunk.crc32}} {{chunk.crc32|hex|upper}} {{chunk.crc32|dec}}", "00c0ffee 00C0FFEE 12648430"),
    ("{{chunk.number|pad(5)}}", "00003"),
    ("{{session.urls[chunk.index]}}", "u2"),
    ("{{session.token|base64url}} {{session.token|base64}}", "VC8xKzI= VC8xKzI="),
    ("{{parts.etag|join(',')}}", "e1,e2"),
    ("{{parts[1].etag}}", "e2"),
    ("{{parts.number|json}}", "[1,2]"),
    ("{{input.path|ascii_json}}", "\"/a/\\u00e9\\\"\\ud83d\\ude00\""),
    ("{{input.path|json}}", "\"/a/é\\\"\u{1F600}\""),
    ("{{session.none|default('x')}}{{session.none|default(7)}}", "x7"),
    ("{{now.unix}} {{now}} {{uuid}} {{attempt}}", "1700000000 1700000000 0190 1"),
    ("{{chunk.size + 2 * 3 - 8 / 4}} {{(1 + 2) * 3}} {{-2 - -5}}", "1812 9 3"),
    ("{{chunk.number - 1 | pad(2)}}", "02"),
    ("{{'{{'}}", "{{"),
    ("a}}b{c", "a}}b{c"),
    ("{\"offset\":{{chunk.start}}}", "{\"offset\":8192}"),
  ])
  func rendered(_ text: String, _ expected: String) throws {
    #expect(try render(text) == expected)
  }

  @Test(arguments: [
    ("chunk.last and not chunk.first", true),
    ("chunk.size < 4096", true),
    ("chunk.size >= 1808 and chunk.size <= 1808", true),
    ("chunk.size > 5000 or file.ext == 'gz'", true),
    ("file.ext != 'gz'", false),
    ("(file.path|ext) == 'gz'", true),
    ("session.none", false),
    ("session.none == null", true),
    ("session.token == null", false),
    ("not session.none and session.token", true),
    ("chunk.number == '3'", true),
    ("1 + 2 == 3 and 2 * 3 == 6", true),
    ("true and false or true", true),
    ("false and session.none / 0", false),
  ])
  func conditions(_ text: String, _ expected: Bool) throws {
    #expect(try ExpressionParser.parse(text).value(Self.scope).isTrue == expected)
  }

  @Test(arguments: [
    ("{{9223372036854775807 + 1}}", RenderFault.Kind.overflow),
    ("{{9223372036854775807 * 2}}", .overflow),
    ("{{-9223372036854775807 - 2}}", .overflow),
    ("{{1 / 0}}", .value),
    ("{{session.none}}", .missing),
    ("{{session.none|urlencode}}", .missing),
    ("{{session.urls[3]}}", .missing),
    ("{{session.urls}}", .value),
    ("{{file.name|int}}", .value),
    ("{{file.name|httpdate}}", .value),
    ("{{file.md5|dec}}", .value),
    ("{{file.name|join(',')}}", .value),
    ("{{file.name|pad(65)}}", .value),
  ])
  func whatCannotBeRendered(_ text: String, _ kind: RenderFault.Kind) throws {
    let template = try Template(parsing: text)
    #expect { try template.text(Self.scope) } throws: { ($0 as? RenderFault)?.kind == kind }
  }

  @Test(arguments: [
    ("{{file.name", 11), ("{{file.name|nothing}}", 12), ("{{}}", 2), ("{{file.}}", 7), ("{{a b}}", 4),
    ("{{file.name|pad}}", 12), ("{{file.name|upper(1)}}", 12), ("{{'abc}}", 2), ("{{(1 + 2}}", 8), ("{{a[1}}", 5),
    ("{{99999999999999999999}}", 2),
  ])
  func mistakesAreFoundWhereTheyAre(_ text: String, _ offset: Int) {
    #expect { try Template(parsing: text) } throws: { ($0 as? TemplateSyntaxFault)?.offset == offset }
  }

  @Test func deepExpressionsAreRefused() {
    for piece in ["(", "-", "not "] {
      #expect(throws: TemplateSyntaxFault.self) {
        try ExpressionParser.parse(String(repeating: piece, count: 5_000) + "1")
      }
    }
  }

  @Test(arguments: ["+1", "|lower", " and 1", "|default(1+1)"]) func longExpressionsAreRefused(_ piece: String) throws {
    #expect(throws: TemplateSyntaxFault.self) {
      try ExpressionParser.parse("1" + String(repeating: piece, count: 100_000))
    }
    _ = try ExpressionParser.parse("1" + String(repeating: piece, count: 128))
  }

  @Test func bytesOfNamesStayWhatTheyAre() throws {
    var scope = Self.scope
    scope.file = ProfileScope.file(path: NameBytes([0x61, 0xFF, 0x2E, 0x62]), size: 1, mtimeMs: 0)
    #expect(try Template(parsing: "{{file.name}}").render(scope) == [0x61, 0xFF, 0x2E, 0x62])
    #expect(try Template(parsing: "{{file.name|urlencode}}").text(scope) == "a%FF.b")
    #expect { try Template(parsing: "{{file.name|json}}").text(scope) } throws: {
      ($0 as? RenderFault)?.kind == .notUTF8
    }
  }

  @Test func hiddenFilesHaveNoExtension() {
    #expect(FileName(Array(".profile".utf8)).ext == [])
    #expect(FileName(Array("a.b/c".utf8)).ext == [])
    #expect(FileName(Array("a.b/c".utf8)).stem == Array("a.b/c".utf8))
  }
}
