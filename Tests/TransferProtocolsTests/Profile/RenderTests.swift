import StrictYAML
import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct RenderTests {
  private static let uid = UID(high: 7, low: 9)

  private func render(_ step: String, top: String = "", scope: ProfileScope = TemplateTests.scope) throws
    -> RenderedRequest
  {
    let text = """
      profile: 1
      name: x
      inputs: [{name: path}]
      chunk: {hash: [crc32], idempotent: true}
      \(top)
      steps:
        init: {method: POST, url: /i, extract: {session.token: {json: $.t}, session.urls: {json: $.u}, session.opt: {json: $.o}, session.bad: {json: $.b}}}
        chunk: \(step)
      """
    let profile = try ProfileReadTests.read(text)
    let step = try #require(profile.step(.chunk))
    let source = RenderedRequest.Source(
      method: step.method, url: step.url, query: step.query, headers: step.headers, usesAuth: step.usesAuth,
      body: step.body)
    return try RenderedRequest(source, of: profile, scope, uid: Self.uid)
  }

  @Test(arguments: [
    ("https://b.example/{{chunk.number}}", "", "https://b.example/3"),
    ("/block", "", "https://h.example/x/block"),
    ("block", "", "https://h.example/x/block"),
    ("", "", "https://h.example/x"),
    ("/block", "base_url: 'https://api.example/v1/'", "https://api.example/v1/block"),
    ("{{session.urls[0] | pathencode}}", "base_url: 'https://api.example'", "https://api.example/u0"),
    ("/{{file.path|pathencode}}", "base_url: 'https://a.example'", "https://a.example/dir/%C3%9C%20mlaut.tar.gz"),
  ])
  func urls(_ url: String, _ top: String, _ expected: String) throws {
    #expect(try render("{method: PUT, url: \"\(url)\", body: {kind: raw}}", top: top).url == expected)
  }

  @Test func parametersAreEncodedAndEmptyOptionalOnesLeftOut() throws {
    let request = try render(
      "{method: PUT, url: '/b?x=1', query: {\"a b\": \"{{file.name}}&=\", \"opt?\": \"{{session.opt|default('')}}\", e: \"\", t: \"{{session.token}}\"}, body: {kind: raw}}"
    )
    #expect(request.url == "https://h.example/x/b?x=1&a%20b=%C3%9C%20mlaut.tar.gz%26%3D&e=&t=T%2F1%2B2")
  }

  @Test(arguments: [
    "/{{file.name}}", "ftp://h/x", "https://user:pw@h/x", "https:///x", "/x#y", "/%zz", "//{{input.path}}",
  ])
  func wrongURLsAreRefused(_ url: String) throws {
    #expect(throws: RenderFault.self) { try render("{method: PUT, url: \"\(url)\", body: {kind: raw}}") }
  }

  @Test func headersOfStepsTakeThePlaceOfCommonOnes() throws {
    let top = "headers: {X-A: common, X-B: b}\nauth: {headers: {Authorization: \"T {{session.token}}\"}}"
    let request = try render("{method: PUT, url: /, headers: {x-a: own, \"X-O?\": \"\"}, body: {kind: raw}}", top: top)
    let headers = request.headers.map { "\($0.name): \($0.value)" }
    #expect(headers == ["X-B: b", "Authorization: T T/1+2", "x-a: own", "Content-Type: application/octet-stream"])
    let without = try render("{method: PUT, url: /, auth: off, body: {kind: raw}}", top: top)
    #expect(!without.headers.contains { $0.name == "Authorization" })
  }

  @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u{7F}"])
  func aTokenCannotBeginAnotherHeader(_ token: String) throws {
    var scope = TemplateTests.scope
    scope.session["bad"] = .string(token)
    let step = "{method: PUT, url: /, headers: {X-Token: \"{{session.bad}}\"}, body: {kind: raw}}"
    #expect { try render(step, scope: scope) } throws: {
      ($0 as? RenderFault)?.message == "the header X-Token would hold a line break or another control character"
    }
  }

  private func body(_ body: String) throws -> String {
    // Steps other than chunk do not send the file; they render the same.
    var names = ProfileNames()
    names.part = ["etag"]
    names.session = ["token"]
    names.inputs = ["path"]
    let templates = TemplateReader(nodes: NodeReader(faults: FoundFaults()), names: names, place: .last)
    let node = try #require(try YAMLReader.read(Array("{body: \(body)}".utf8)).entries?.first).value
    let rules = BodyDecoder(templates: templates, what: "x", isSingle: false).body(node)
    try #require(templates.nodes.faults.all.isEmpty, "\(templates.nodes.faults.all)")
    guard case .bytes(let bytes) = try rules.render(TemplateTests.scope, uid: Self.uid).body else { return "?" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    (
      "{kind: json, value: {n: \"{{file.name}}\", s: \"{{file.size|int}}\", t: \"{{file.size}}\", c: false, z: null, f: 1.5}}",
      "{\"n\":\"Ü mlaut.tar.gz\",\"s\":10000,\"t\":\"10000\",\"c\":false,\"z\":null,\"f\":1.5}"
    ),
    (
      "{kind: json, value: {parts: {$each: parts, etag: \"{{it.etag}}\", partNumber: \"{{it.number|int}}\"}}}",
      "{\"parts\":[{\"etag\":\"e1\",\"partNumber\":1},{\"etag\":\"e2\",\"partNumber\":2}]}"
    ),
    ("{kind: json, value: [0, {$each: parts, $value: \"{{it.etag}}\"}, 9]}", "[0,\"e1\",\"e2\",9]"),
    ("{kind: json, value: {p: \"{{parts.number|json}}\"}}", "{\"p\":[1,2]}"),
    ("{kind: json, value: '{\"a\":\"{{session.token}}\"}'}", "{\"a\":\"T/1+2\"}"),
    (
      "{kind: xml, value: {C: {Part: {$each: parts, N: \"{{it.number}}\", E: \"<{{it.etag}}>\"}, L: [a, b]}}}",
      "<C><Part><N>1</N><E>&lt;e1&gt;</E></Part><Part><N>2</N><E>&lt;e2&gt;</E></Part><L>a</L><L>b</L></C>"
    ),
    ("{kind: text, value: \"{{parts.etag|join(',')}}\"}", "e1,e2"),
    (
      "{kind: form, fields: [{name: a, value: \"{{file.name}}\"}, {name: \"o?\", value: \"\"}, {from_map: {x: y, \"e?\": \"\"}}]}",
      "a=%C3%9C%20mlaut.tar.gz&x=y"
    ),
    ("{kind: empty}", ""),
  ])
  func bodies(_ text: String, _ expected: String) throws {
    #expect(try body(text) == expected)
  }

  @Test func aTextThatIsNotJSONIsNotSentAsJSON() {
    #expect(throws: RenderFault.self) { try body("{kind: json, value: '{\"a\":{{session.token}}}'}") }
  }

  @Test func aFormAroundTheChunk() throws {
    let request = try render(
      "{method: POST, url: /, body: {kind: multipart, fields: [{name: n, value: \"{{chunk.number}}\"}, {name: file, file: chunk, filename: \"{{file.name}}\"}, {name: \"o?\", value: \"\"}]}}"
    )
    var form = Multipart(uid: Self.uid)
    form.add(name: Array("n".utf8), value: Array("3".utf8))
    form.addFile(
      name: Array("file".utf8), filename: Array("Ü mlaut.tar.gz".utf8), type: Array("application/octet-stream".utf8))
    #expect(request.body == .envelope(prefix: form.prefix, suffix: form.suffix))
    #expect(request.headers.map(\.value) == [form.contentType])
  }
}
