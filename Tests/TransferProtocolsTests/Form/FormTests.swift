import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct FormTests {
  private let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc32c))

  private func form(
    _ destination: String = "form+http://h/up", change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> FormProtocol {
    var settings = BatchSettings(destination: destination)
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! FormProtocol
  }

  private func body(_ request: TransferRequest, _ file: String = "hello") throws -> String {
    let envelope = try #require(request.envelope)
    return String(decoding: envelope.prefix + Array(file.utf8) + envelope.suffix, as: UTF8.self)
  }

  @Test func theWholeFrame() throws {
    let facts = Scene.facts(key: "in/a \"b\"\r\n.pdf")
    let request = try form { $0.fields = ["dir={path}", "n=<{name}>"] }.request(
      chunk, facts, Scene.context(.bearer(token: "t0")))
    let type = try #require(request.fields[.contentType])
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = type.dropFirst("multipart/form-data; boundary=".count)
    #expect(
      try body(request) == """
        --\(boundary)\r
        Content-Disposition: form-data; name="dir"\r
        \r
        in/a "b"\r\n.pdf\r
        --\(boundary)\r
        Content-Disposition: form-data; name="n"\r
        \r
        <a "b"\r\n.pdf>\r
        --\(boundary)\r
        Content-Disposition: form-data; name="file"; filename="a %22b%22%0D%0A.pdf"\r
        Content-Type: application/pdf\r
        \r
        hello\r
        --\(boundary)--\r

        """)
    #expect(request.method == .post)
    #expect(request.url == "http://h/up")
    #expect(request.fields[.authorization] == "Bearer t0")
  }

  @Test func bytesThatAreNoTextStay() throws {
    let name: [UInt8] = [0xFF, 0x5C, 0xC3, 0xBC]
    let facts = Scene.facts { $0.file.key = NameBytes(name) }
    let request = try form { $0.fields = ["x={name}"] }.request(chunk, facts, Scene.context(nil))
    let prefix = try #require(request.envelope).prefix
    #expect(prefix.contains(Array("filename=\"".utf8) + name + [0x22]))
    #expect(prefix.contains([0x0D, 0x0A] + name + [0x0D, 0x0A]))
  }

  @Test func theBoundaryIsOfTheFileAndStays() throws {
    func boundary(_ uid: UID) throws -> String? {
      try form().request(chunk, Scene.facts { $0.file.uid = uid }, Scene.context(nil)).fields[.contentType]
    }
    let other = UID.make(wallMs: 1)
    #expect(try boundary(Scene.uid) == boundary(Scene.uid))
    #expect(try boundary(Scene.uid) != boundary(other))
  }

  @Test func optionsOfTheFile() throws {
    let request = try form {
      $0.fileField = "up\"load"
      $0.contentType = "text/x; charset=utf-8"
    }.request(chunk, Scene.facts(key: "a.pdf"), Scene.context(nil))
    let text = try body(request)
    #expect(text.contains("name=\"up%22load\"; filename=\"a.pdf\"\r\nContent-Type: text/x; charset=utf-8\r\n"))
  }

  /// The URL belongs to a program and is the same for all files.
  @Test func placesAndKeys() throws {
    #expect(try form("form+https://H:443/up/?x=1").location(ofKey: NameBytes("")) == "https://h/up/?x=1")
    #expect(try form().location(ofKey: NameBytes("a/b c")) == "http://h/up#a/b%20c")
    let url = try form("form+http://h/up?to={path}").request(chunk, Scene.facts(key: "a/b"), Scene.context(nil)).url
    #expect(url == "http://h/up?to=a%2Fb")
    func key(_ destination: String, _ fields: [String]? = nil) throws -> (String, Bool) {
      var settings = BatchSettings(destination: destination)
      settings.fields = fields
      let destination = try Destination(settings)
      return (
        destination.key(forRelativePath: NameBytes("a/b"), isSingleFile: false).description, destination.mayJoinPaths
      )
    }
    #expect(try key("form+http://h/up/") == ("b", true))
    #expect(try key("form+http://h/up/", ["p={path}"]) == ("a/b", false))
    #expect(try key("form+http://h/up?{path}") == ("a/b", false))
  }

  @Test func theFieldsAreOfThePlace() throws {
    func place(_ destination: String, _ fields: [String] = [], file: String? = nil) throws -> String {
      var settings = BatchSettings(destination: "form+http://h/" + destination)
      (settings.fields, settings.fileField) = (fields, file)
      return try AllProtocols.make(settings, credentialsRegion: nil).keyPlace
    }
    #expect(try place("up") == "http://h/up with protocol=form")
    let fields = "field=a=%7Bpath%7D&field=b=x%20y"
    #expect(try place("up", ["b=x y", "a={path}"]) == "http://h/up with protocol=form&" + fields)
    #expect(try place("up", ["a=1&field=b=2"]) != place("up", ["a=1", "b=2"]))
    #expect(try place("up", ["a=1", "a=2"]) != place("up", ["a=2", "a=1"]))
    #expect(try place("up", file: "doc") == "http://h/up with protocol=form&file-field=doc")
    #expect(try place("up?a={name}&b=") != place("up?a=&b={name}"))
  }

  @Test(arguments: [
    (200, "stored 0 none whole none"), (201, "stored 0 none whole none"), (302, "http.redirect unknown"),
    (400, "http.400 permanent"), (401, "auth.refused permanent"), (408, "http.4xx unknown"),
    (413, "http.413 permanent"), (429, "http.429 retry(isThrottled: true)"), (500, "http.500 unknown"),
    (502, "http.502 unknown"), (503, "http.503 unknown"),
  ])
  func answers(_ status: Int, _ expected: String) throws {
    // The digest is that of a page about the upload.
    let page = ("Repr-Digest", "crc32c=:AAAAAA==:")
    #expect(
      text(try form().interpret(Scene.reply(status, [page]), to: chunk, Scene.facts(), Scene.context(nil))) == expected)
  }

  @Test func aLostAnswerIsNeverRepeated() throws {
    let form = try form()
    #expect(!form.abilities.repeatable)
    #expect(
      text(form.interpret(Scene.broken(), to: chunk, Scene.facts(), Scene.context(nil))) == "proto.lost_answer unknown")
    #expect(
      text(form.interpret(Scene.broken(mayHaveArrived: false), to: chunk, Scene.facts(), Scene.context(nil)))
        == "net.refused retry(isThrottled: false)")
  }

  @Test(
    arguments: [
      ["field": ["x"]], ["field": ["=x"]], ["field": ["Password=CANARY"]],
      ["file-field": ""], ["content-type": "CANARY"], ["content-type": "a/b\r\nX: y"],
      ["content-type": ""],
    ] as [[String: OptionValue]])
  func whatIsRefused(_ options: [String: OptionValue]) throws {
    do throws(TransferError) {
      _ = try AllProtocols.make(BatchSettings(destination: "form+http://h/", options: options), credentialsRegion: nil)
      Issue.record("accepted: \(options)")
    } catch {
      #expect(error.kind == .usage)
      #expect(options["field"] == nil || !error.description.contains("CANARY"))
    }
  }

  @Test(
    arguments: [
      ("http://h/", ["field": ["a=b"]]), ("http://h/", ["file-field": "f"]),
    ] as [(String, [String: OptionValue])])
  func optionsOfOthersAreRefused(_ destination: String, _ options: [String: OptionValue]) {
    #expect(throws: TransferError.self) {
      try AllProtocols.refuseUnsupportedOptions(BatchSettings(destination: destination, options: options))
    }
  }

  @Test func aFormCannotRefuseToReplace() {
    #expect(throws: TransferError.self) {
      try AllProtocols.refuseUnsupportedOptions(
        BatchSettings(destination: "form+http://h/", options: ["if-none-match": true]))
    }
  }
}

extension Array where Element: Equatable {
  fileprivate func contains(_ part: [Element]) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}
