import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct DestinationTests {
  private func error(_ text: String) -> TransferError? {
    do throws(TransferError) {
      _ = try Destination(parsing: text)
      return nil
    } catch {
      return error
    }
  }

  /// Each file would fail for its key.
  @Test(arguments: ["s3://bucket/../x/", "s3://bucket/a/./b/", "s3://bucket/.."])
  func aPrefixIsNotRelative(_ text: String) {
    #expect(error(text)?.kind == .usage && error(text)?.remedy == "write the prefix without them")
    #expect(error("s3://bucket/..a/.b/") == nil)
  }

  private func key(_ destination: String, _ path: String, single: Bool = false) throws -> String {
    try Destination(parsing: destination).key(forRelativePath: NameBytes(path), isSingleFile: single).description
  }

  @Test(arguments: [
    ("s3://bucket", "a/b", false, "a/b"), ("s3://bucket/", "a/b", false, "a/b"),
    ("s3://bucket/p/", "a/b", false, "p/a/b"),
    ("s3://bucket/p", "a/b", false, "p/a/b"), ("s3://bucket/p", "b", true, "p"), ("s3://bucket/p/", "b", true, "p/b"),
    ("s3://bucket/p//", "b", true, "p//b"), ("s3://bucket/a?b#c%20@d/", "e", false, "a?b#c%20@d/e"),
    ("http://h/in/", "a/b", false, "in/a/b"), ("http://h", "b", true, "b"), ("https://h/x%20y", "b", true, "x y"),
    ("http://h/p?x=1", "b", true, "p"), ("post+http://h/u?n={path}", "a/b", false, "a/b"),
    ("post+http://h/u?n={name}", "a/b", false, "b"), ("http://h/{name}/{path}", "a/b", false, "a/b"),
    ("dav+https://h/d/", "a/b", false, "d/a/b"), ("http://h/in/{path}", "a/b", false, "in/a/b"),
    ("http://h/in/{name}", "a/b", false, "in/b"), ("http://h/in/{path}", "b", true, "in/b"),
    ("post+http://h/in/pre-{path}?x=1", "a/b", false, "in/pre-a/b"), ("http://h/{path}/x", "a/b", false, "a/b"),
    ("http://h/@home/", "a", true, "@home/a"),
  ])
  func keys(_ destination: String, _ path: String, _ single: Bool, _ expected: String) throws {
    #expect(try key(destination, path, single: single) == expected)
  }

  @Test(arguments: [
    ("http://H:80/in/", "in/a b", "http://h/in/a%20b"), ("http://h:8080/", "a", "http://h:8080/a"),
    ("https://h:443/", "a", "https://h/a"), ("http://[::1]:9/", "a", "http://[::1]:9/a"),
    ("http://h/d/?q=1&r", "d/a", "http://h/d/a?q=1&r"),
    ("http://h/u/{path}?n={name}", "a/b c", "http://h/u/a/b%20c?n=b%20c"),
    ("post+https://h?n={path}", "a/b", "https://h/?n=a%2Fb"),
    ("dav+http://h/d/", "d/a", "http://h/d/a"), ("http://h/in/{path}", "in/a b", "http://h/in/a%20b"),
    ("http://h/%69n+1/{name}?x=1", "in+1/a b", "http://h/%69n+1/a%20b?x=1"),
  ])
  func urls(_ destination: String, _ key: String, _ expected: String) throws {
    #expect(try Scene.web(destination).location(ofKey: NameBytes(key)) == expected)
  }

  @Test func placesAreStableAndTellEndpointsApart() throws {
    let none = NameBytes("")
    #expect(try Scene.s3("s3://bucket/p/").location(ofKey: none) == "s3://bucket/")
    #expect(
      try Scene.s3("s3://bucket/p/") { $0.endpointURL = "HTTP://127.0.0.1:5100/" }.location(ofKey: none)
        == "s3+http://127.0.0.1:5100/bucket/")
    #expect(
      try Scene.s3("s3://bucket") { $0.region = "eu-west-1" }.location(ofKey: NameBytes("a/b")) == "s3://bucket/a/b")
    #expect(try Scene.web("http://h/a/").location(ofKey: none) == "http://h/")
  }

  /// The ledger knows an object by its place and key, however its URL was typed.
  @Test(arguments: [
    ("http://h/in/{path}", "http://h/in/"), ("http://h/%69n/{name}", "http://h/in/"),
    ("resumable+http://h/in/{path}", "http://h/in/"), ("http://h/in/{path}?a=1", "http://h/in/?a=1"),
  ])
  func aTemplateThatEndsWithItsFieldIsItsFolder(_ template: String, _ folder: String) throws {
    #expect(try keyPlace(template) == keyPlace(folder))
    #expect(try key(template, "b") == key(folder, "b"))
  }

  private func keyPlace(_ destination: String) throws -> String {
    try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil).keyPlace
  }

  @Test(arguments: [
    "http://h/{path}/x", "http://h/in?n={path}", "http://h/a%2Fb/{path}", "http://h/in/{path}?n={name}",
  ])
  func anyOtherTemplateIsAPlaceOfItsOwn(_ template: String) throws {
    #expect(try Scene.web(template).keyPlace == template)
  }

  @Test(arguments: [
    "", "bucket", "ftp://h/", "s3://", "s3://a/", "s3://b_+/x", "http://", "http:///x", "http://h/#f", "http://h:0/",
    "http://h:99999/",
    "http://h:x/", "http://h h/", "http://ü/", "http://[::1/", "http://[zz]/", "http://h/%zz", "http://h/a%2Fb",
    "http://h/a%00b",
    "http://h/../x", "http://h/a/./b", "http://h/{x}", "http://h/{path", "dav+http://h/{path}", "dav+http://h/?q",
    "s4://bucket/",
    "http://h/?q= x",
  ])
  func whatIsRefused(_ text: String) {
    #expect(error(text)?.kind == .usage, "\(text)")
  }

  @Test func unknownSchemesNameTheKnownOnes() {
    let text = error("ftp://h/")?.description ?? ""
    for scheme in Destination.schemes { #expect(text.contains(scheme)) }
  }

  @Test(arguments: [
    "http://user:CANARY@h/", "https://CANARY@h/x", "s3://AKIA:CANARY@bucket/", "s3://AKIA:CAN/CANARY@bucket/",
    "http://u:p/CANARY@h/",
    "http://u:p?CANARY@h/", "http://u:p#CANARY@h/", "dav+http://u:CANARY@h/", "ftp://u:CANARY@h/",
    "http://h/?token=CANARY", "post+http://h/?a=1&X-Amz-Signature=CANARY",
    "http://h/{path}?sig=CANARY", "http://h/?Access_Token=CANARY", "u:CANARY@h",
  ])
  func secretsAreRefusedAndNeverQuoted(_ text: String) {
    #expect(error(text) != nil)
    #expect(error(text)?.description.contains("CANARY") == false)
  }

  @Test func userInformationHasARemedy() {
    #expect(error("http://user:pw@h/")?.remedy.contains("--auth") == true)
  }

  /// As in `transfers add URL in/`.
  @Test func aFolderIsForDownloads() {
    #expect(error("in/")?.remedy.contains("\"transfers pull\" fetches") == true)
  }

  @Test func endpointsAreOriginsWithoutSecrets() {
    for text in ["h:1", "ftp://h", "http://h/path", "http://h?x", "http://u:CANARY@h"] {
      do {
        _ = try Scene.s3 { $0.endpointURL = text }
        Issue.record("\(text) was accepted")
      } catch {
        #expect(!"\(error)".contains("CANARY"))
      }
    }
  }

  @Test(
    arguments: [
      ("bucket", nil, false), ("bucket", "http://127.0.0.1", true), ("bucket", "http://localhost", true),
      ("bucket", "http://h:1", true),
      ("bucket", "https://s3.example.com", true), ("bucket", "https://s3.eu-west-1.amazonaws.com", false),
      ("bucket", "https://s3.cn-north-1.amazonaws.com.cn", false), ("bucket", "https://amazonaws.com.example", true),
      ("b.ucket", nil, true), ("Bucket", nil, true),
      ("bucket", "http://[::1]", true),
    ] as [(String, String?, Bool)])
  func pathStyle(_ bucket: String, _ endpoint: String?, _ expected: Bool) throws {
    let s3 = try Scene.s3("s3://\(bucket)/") { $0.endpointURL = endpoint }
    #expect(s3.settings.usesPathStyle == expected)
    for isPath in [true, false] {
      let asked = try Scene.s3("s3://\(bucket)/") {
        $0.endpointURL = endpoint
        $0.usePathStyle = isPath
      }
      #expect(asked.settings.usesPathStyle == isPath)
    }
  }

  @Test func keysThatCannotBeExpressed() throws {
    let (s3, put) = (try Scene.s3(), try Scene.web("http://h/"))
    #expect(s3.refusal(ofKey: NameBytes([0xFF])) != nil)
    #expect(put.refusal(ofKey: NameBytes([0xFF])) == nil)
    #expect(s3.refusal(ofKey: NameBytes(String(repeating: "k", count: 1024))) == nil)
    #expect(s3.refusal(ofKey: NameBytes(String(repeating: "k", count: 1025))) != nil)
    for proto in [s3 as any TransferProtocol, put] {
      for key in ["", "a\0b", "..", "a/../b", "./a"] {
        #expect(proto.refusal(ofKey: NameBytes(key))?.code == .sourceName)
      }
      for key in ["a", "a/b", "..a", "a\nb", "a//b"] { #expect(proto.refusal(ofKey: NameBytes(key)) == nil) }
    }
  }

  @Test func theOneListMakesWhatItNames() throws {
    // An example of each protocol, as shown to users.
    let made = try AllProtocols.descriptions.dropLast().map { description in
      let destination = description.usage.replacing("(s)", with: "")
      return try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil).name
    }
    let profile = ProfileSettings(name: "x", text: ProfileReadTests.smallest())
    let last = try AllProtocols.make(BatchSettings(destination: "http://h/", profile: profile), credentialsRegion: nil)
    #expect(made + [last.name] == AllProtocols.names)
    #expect(AllProtocols.descriptions.map(\.name) == AllProtocols.names)
    #expect(AllProtocols.profiles.map(\.name) == BuiltinProfile.names)
    for description in AllProtocols.descriptions.dropLast() {
      let scheme = description.destination.replacing("(s)", with: "")
      let destination = scheme + (scheme == "s3://" ? "bucket/" : "h/")
      let made = try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil)
      #expect(made.name == description.name)
      #expect(made.abilities.resumable == description.isResumable)
      #expect(made.abilities.repeatable == !description.exactlyOnce.hasPrefix("no"))
    }
    #expect(throws: TransferError.self) {
      try AllProtocols.make(
        BatchSettings(destination: "s3://bucket/", options: ["part-size": 1]), credentialsRegion: nil)
    }
  }
}
