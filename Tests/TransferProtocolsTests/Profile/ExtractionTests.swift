import StrictYAML
import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct ExtractionTests {
  static func reply(_ status: Int = 200, _ body: String = "", _ fields: HTTPFields = [:]) -> TransferReply {
    var reply = TransferReply()
    reply.status = status
    reply.body = Array(body.utf8)
    reply.fields = fields
    return reply
  }

  /// Reads an extraction as it is written in a profile.
  private func extraction(_ text: String) throws -> Extraction {
    let templates = TemplateReader(nodes: NodeReader(faults: FoundFaults()), names: ProfileNames(), place: .chunk)
    let node = try YAMLReader.read(Array(text.utf8))
    let extraction = ExtractionDecoder(templates: templates).extraction(node, "x", hasFormat: true)
    try #require(templates.nodes.faults.all.isEmpty, "\(templates.nodes.faults.all)")
    return try #require(extraction)
  }

  private func take(_ text: String, _ reply: TransferReply, url: String = "https://h.example/a/b?c") throws
    -> TemplateValue?
  {
    var scope = ProfileScope()
    scope.chunk = ["last": .bool(true), "first": .bool(false)]
    return try extraction(text).value(in: ReplyReader(reply, url: url), scope)
  }

  static let json =
    "{\"a\":{\"t\":\"x\",\"n\":5,\"b\":true,\"z\":null,\"f\":1.5},\"l\":[{\"n\":1},{\"n\":3}],\"odd.key\":\"o\",\"r\":[\"26-\",\"0-5\"]}"

  @Test(arguments: [
    ("{json: $.a.t}", TemplateValue.string("x")),
    ("{json: $.a.n}", .int(5)),
    ("{json: $.a.n, plus: 1}", .int(6)),
    ("{json: $.a.n, type: string}", .string("5")),
    ("{json: $.a.b}", .bool(true)),
    ("{json: $.a.f}", .string("1.5")),
    ("{json: $.a.z, default: d}", .string("d")),
    ("{json: $.a.missing, default: 7}", .int(7)),
    ("{json: '$.l[*].n'}", .list([.int(1), .int(3)])),
    ("{json: '$[\"odd.key\"]'}", .string("o")),
    ("{json: $.r}", .list([.string("26-"), .string("0-5")])),
    ("{header: X-T, resolve: url}", .string("https://h.example/a/up/1")),
    ("{header: range, regex: 'bytes=0-(\\d+)', plus: 1, default: 0}", .int(4_194_304)),
    ("{header: X-None, regex: 'bytes=0-(\\d+)', plus: 1, default: 0}", .int(0)),
    ("{status: true}", .int(200)),
    ("{regex: '\"t\":\"(.)\"'}", .string("x")),
    ("{json: $.a.n, when: chunk.last}", .int(5)),
    ("{header: X-Date, type: time}", .time(784_111_777_000)),
    ("{json: $.a.n, type: time}", .time(5_000)),
  ])
  func values(_ text: String, _ expected: TemplateValue) throws {
    var fields: HTTPFields = [HTTPField.Name("X-T")!: "up/1", HTTPField.Name("Range")!: "bytes=0-4194303"]
    fields[HTTPField.Name("X-Date")!] = "Sun, 06 Nov 1994 08:49:37 GMT"
    let value = try #require(try take(text, Self.reply(200, Self.json, fields)))
    #expect(try value == expected || value.equals(expected), "\(value)")
  }

  @Test(arguments: ["{json: $.a.missing}", "{json: $.a.t, when: chunk.first}", "{xml: /a}", "{header: X-None}"])
  func nothingIsThere(_ text: String) throws {
    #expect(try take(text, Self.reply(200, Self.json)) == nil)
  }

  @Test(arguments: [
    ("{json: $.data.upToken, required: true}", "{}", "the answer has no $.data.upToken"),
    (
      "{json: $.t, required: true}", "<!DOCTYPE html><html>Sign in</html>", "the server answered an HTML page, not JSON"
    ),
    ("{json: $.t, required: true}", "\n <html lang=en>", "the server answered an HTML page, not JSON"),
    ("{json: $.t, required: true}", "", "the answer is empty, not JSON"),
    ("{json: $.t, required: true}", "{\"t\":", "the answer is not JSON"),
    ("{json: '$.t[*].n', required: true}", "{}", "the answer has no $.t[*].n"),
    ("{json: '$.t[*]', required: true}", "{\"t\":null}", "the answer has no $.t[*]"),
    ("{json: $.t, type: int}", "{\"t\":\"x\"}", "$.t of the answer is not a whole number"),
    ("{json: $.t, type: time}", "{\"t\":\"soon\"}", "$.t of the answer is not a time"),
    ("{json: $.t, plus: 1}", "{\"t\":9223372036854775807}", "$.t of the answer is too large a number"),
    ("{xml: /a, required: true}", "<html></html>", "the server answered an HTML page, not XML"),
    ("{xml: /a, required: true}", "<!DOCTYPE x [<!ENTITY e 'f'>]><a>&e;</a>", "the answer is not XML that can be read"),
  ])
  func whatIsMissingIsSaid(_ text: String, _ body: String, _ message: String) {
    #expect { try take(text, Self.reply(200, body)) } throws: { ($0 as? Extraction.Fault)?.message == message }
  }

  @Test func aRequiredListMayBeEmpty() throws {
    #expect(try take("{json: '$.t[*]', required: true}", Self.reply(200, "{\"t\":[]}")) == .list([]))
    #expect(try take("{json: '$.t[*]', required: true, default: x}", Self.reply(200, "{}")) == .string("x"))
  }

  @Test func aPageWithAnHTMLTypeIsNoJSON() {
    let reply = Self.reply(200, "{\"t\":1}", [.contentType: "text/html; charset=utf-8"])
    #expect { try take("{json: $.t, required: true}", reply) } throws: {
      ($0 as? Extraction.Fault)?.message == "the server answered an HTML page, not JSON"
    }
  }

  @Test func xmlValuesAreFoundAtAnyDepth() throws {
    let body =
      "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/u/id/</d:href></d:response>"
      + "<d:response><d:href>/u/id/00001</d:href></d:response><d:response><d:href>/u/id/00007</d:href></d:response></d:multistatus>"
    let numbers = try extraction("{xml: //response/href, regex: '/(\\d{5})$', type: int}")
    let reader = ReplyReader(Self.reply(207, body), url: "https://h/")
    #expect(try numbers.values(in: reader) == [.int(1), .int(7)])
  }

  // MARK: - Conditions

  private func holds(_ text: String, _ reply: TransferReply, earlier: Set<Int> = []) throws -> Bool {
    var names = ProfileNames()
    names.chunkHashes = ["crc32"]
    let templates = TemplateReader(nodes: NodeReader(faults: FoundFaults()), names: names, place: .chunk)
    let condition = ConditionDecoder(templates: templates).condition(try YAMLReader.read(Array(text.utf8)), "if")
    try #require(templates.nodes.faults.all.isEmpty, "\(templates.nodes.faults.all)")
    var scope = ProfileScope()
    scope.chunk = ["crc32": .digest([0, 0, 1, 0])]
    return try condition.holds(ReplyReader(reply, url: "https://h/"), scope, earlier: earlier)
  }

  @Test(arguments: [
    ("{status: [200-299, 409]}", true), ("{status: 410}", false),
    ("{json: {path: $.code, eq: 40031}}", true), ("{json: {path: $.code, eq: '40031'}}", true),
    ("{json: {path: $.code, ne: 0}}", true), ("{json: {path: $.code, eq: 0}}", false),
    ("{json: {path: $.none, ne: 0}}", false), ("{header: {X-None: {ne: a}}}", false),
    ("{header: {X-State: {ne: a}}}", true),
    ("{json: {path: $.ok, eq: false}}", true), ("{json: {path: $.none, exists: false}}", true),
    ("{json: {path: $.nil, exists: true}}", false), ("{json: {path: $.code, in: [1, 40031]}}", true),
    ("{json: {path: $.msg, matches: '^seq'}}", true), ("{json: {path: $.crc, eq: '{{chunk.crc32|dec}}'}}", true),
    ("{json: {path: '$.tags[*]', eq: b}}", true),
    ("{json: [{path: $.code, eq: 40031}, {path: $.ok, eq: true}]}", false),
    ("{body_regex: 'sequence (error|gap)'}", true), ("{header: {X-State: ready}}", true),
    ("{header: {X-State: {matches: '^x'}}}", false), ("{curl: 0}", true), ("{curl: [55, 56]}", false),
    ("{status: 409, seen: [423]}", true), ("{status: 409, seen: 500-599}", false),
    ("{xml: {path: /a, eq: b}}", false),
  ])
  func conditions(_ text: String, _ expected: Bool) throws {
    let body =
      "{\"code\":40031,\"ok\":false,\"nil\":null,\"msg\":\"sequence error\",\"crc\":256,\"tags\":[\"a\",\"b\"]}"
    let reply = Self.reply(409, body, [HTTPField.Name("X-State")!: "ready"])
    #expect(try holds(text, reply, earlier: [423]) == expected)
  }

  // MARK: - URLs

  /// RFC 3986 section 5.4, except for fragments and other schemes.
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../../../g", "http://a/g"),
    ("./../g", "http://a/b/g"), ("g;x=1/../y", "http://a/b/c/y"), ("g#s", "http://a/b/c/g"),
    ("https://x/y", "https://x/y"),
  ])
  func references(_ reference: String, _ expected: String) {
    #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
  }
}
