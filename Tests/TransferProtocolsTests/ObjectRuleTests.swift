import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Rules for the properties of objects: their syntax, the destinations that support them, and what requests carry.
@Suite struct ObjectRuleTests {
  @Test(arguments: [
    ("**/*.bam:storage_class=GLACIER", "**/*.bam", "storage_class", "GLACIER"),
    ("*:content_type=text/csv; charset=utf-8", "*", "content_type", "text/csv; charset=utf-8"),
    ("a:b/*:header.Cache-Control=max-age=3, private", "a:b/*", "header.cache-control", "max-age=3, private"),
    ("*.x:tag.Project=a:tag.b=c", "*.x", "tag.Project", "a:tag.b=c"),
    ("*:header.x-amz-meta-origin=http://h/?a=b", "*", "header.x-amz-meta-origin", "http://h/?a=b"),
  ])
  func areRead(_ text: String, _ pattern: String, _ setting: String, _ value: String) throws {
    let rule = try ObjectRule(parsing: text)
    #expect((rule.pattern, rule.setting, rule.value) == (pattern, setting, value))
  }

  @Test(arguments: [
    "*.bam", "*.bam:storage_class", ":storage_class=GLACIER", "*:class=GLACIER", "*:header.=x", "*:tag.=x",
    "*:content_type=text", "*:storage_class=A B", "*:storage_class=", "*:header.a b=x", "*:header.x-a=",
    "*:header.x-a=a\u{7}b", "*:header.x-a=é", "*:header.x-a= a", "*:tag.aws:x=y", "*:tag.a=b&c",
    "*:header.content-type=text/csv", "*:header.x-amz-tagging=a=b", "*:header.content-length=3", "*:header.host=h",
    "*:header.if-match=x", "*:header.upload-offset=3", "*:header.x-amz-date=x", "*:header.transfer-encoding=chunked",
    "*:header.if=(<urn:x>)", "*:header.http2-settings=x", "*:header.X-HTTP-Method=DELETE",
    "*:header.x-method-override=GET",
  ])
  func whatIsInvalidOrTheProgramsOwnIsRefused(_ text: String) {
    #expect(throws: TransferError.self) { try ObjectRule(parsing: text) }
  }

  @Test(arguments: [
    "*:header.authorization=Bearer s3cr3t", "*:header.x-auth-token=s3cr3t", "*:header.cookie=s3cr3t",
    "*:header.x-api-key=s3cr3t", "*:header.x-who=Bearer s3cr3t",
    "*:header.x-amz-server-side-encryption-customer-key=s3cr3t", "*:header.x-amz-meta-password=s3cr3t",
  ])
  func secretsAreRefusedAndNotRepeated(_ text: String) {
    let error = #expect(throws: TransferError.self) { try ObjectRule(parsing: text) }
    #expect(error?.cause.contains("secret") == true)
    #expect(error?.description.contains("s3cr3t") == false)
  }

  @Test(arguments: [
    ("s3://bucket/", ["content_type", "storage_class", "header.a", "tag.k"]),
    ("https://h/", ["content_type", "header.a"]), ("dav+https://h/", ["content_type", "header.a"]),
    ("tus+https://h/files/", ["content_type", "header.a"]), ("form+https://h/", ["content_type", "header.a"]),
    ("resumable+https://h/up", ["content_type", "header.a"]), ("davpatch+https://h/", ["content_type", "header.a"]),
  ])
  func aDestinationRefusesWhatItHasNot(_ destination: String, _ known: [String]) throws {
    let rules = ["content_type=a/b", "storage_class=X", "header.a=b", "tag.k=v"].map {
      try? ObjectRule(parsing: "*:\($0)")
    }
    var settings = BatchSettings(destination: destination)
    settings.rules = rules.compactMap { $0 }
    #expect(settings.rules?.count == 4)
    let foreign = try AllProtocols.unsupportedRules(settings).map(\.setting)
    #expect(Set(foreign) == Set(["content_type", "storage_class", "header.a", "tag.k"]).subtracting(known))
    settings.rules = settings.rules?.filter { foreign.contains($0.setting) }
    if !foreign.isEmpty { #expect(throws: TransferError.self) { try AllProtocols.refuseUnsupportedOptions(settings) } }
  }

  @Test func anObjectHasTenTags() throws {
    var settings = BatchSettings(destination: "s3://bucket/")
    settings.rules = try (0..<10).map { try ObjectRule(parsing: "*:tag.k\($0)=v") }
    try AllProtocols.refuseUnsupportedOptions(settings)
    settings.rules?.append(try ObjectRule(parsing: "*.x:tag.another=v"))
    #expect(throws: TransferError.self) { try AllProtocols.refuseUnsupportedOptions(settings) }
  }

  private let set = ObjectProperties([
    "content_type": "text/csv", "storage_class": "GLACIER", "header.cache-control": "no-cache", "tag.b": "x y",
    "tag.a": "1",
  ])

  private func field(_ request: TransferRequest, _ name: String) -> String? {
    request.fields[HTTPField.Name(name)!]
  }

  @Test func s3HasThemWhereTheObjectIsMade() throws {
    let small = Scene.facts { $0.file.properties = set }
    let large = Scene.facts(size: 40 << 20, parts: 3, session: "U") { $0.file.properties = set }
    let chunk = Scene.chunk(0, "hello", .crc64nvme, .md5)
    for request in [
      try Scene.s3().request(.chunk(chunk), small, Scene.context()),
      try Scene.s3().request(.create, large, Scene.context()),
    ] {
      #expect(field(request, "content-type") == "text/csv")
      #expect(field(request, "x-amz-storage-class") == "GLACIER")
      #expect(field(request, "x-amz-tagging") == "a=1&b=x%20y")
      #expect(field(request, "cache-control") == "no-cache")
      let signed = request.fields[.authorization] ?? ""
      for name in ["cache-control", "x-amz-storage-class", "x-amz-tagging"] { #expect(signed.contains(name)) }
    }
    let part = try Scene.s3().request(.chunk(chunk), large, Scene.context())
    #expect(field(part, "x-amz-tagging") == nil && field(part, "cache-control") == nil)
  }

  @Test func aRuleWinsOverTheTypeOfTheBatch() throws {
    let s3 = try Scene.s3 { $0.contentType = "application/x-all" }
    let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc64nvme, .md5))
    #expect(
      field(try s3.request(chunk, Scene.facts(key: "a.csv"), Scene.context()), "content-type") == "application/x-all")
    let byName = Scene.facts(key: "a.csv") { $0.file.properties = ObjectProperties(["content_type": "auto"]) }
    #expect(field(try s3.request(chunk, byName, Scene.context()), "content-type") == "text/csv")
  }

  @Test func webProtocolsHaveThemWhereTheObjectIsMade() throws {
    let chunk = StepRequest.chunk(Scene.chunk(0, "hello", .crc32c))
    let put = try Scene.web("https://h/").request(chunk, Scene.facts { $0.file.properties = set }, Scene.context(nil))
    #expect(field(put, "content-type") == "text/csv" && field(put, "cache-control") == "no-cache")
    #expect(field(put, "x-amz-storage-class") == nil)

    let form = try AllProtocols.make(BatchSettings(destination: "form+http://h/up"), credentialsRegion: nil).request(
      chunk, Scene.facts { $0.file.properties = set }, Scene.context(nil))
    #expect(field(form, "cache-control") == "no-cache")
    let frame = String(decoding: try #require(form.envelope).prefix, as: UTF8.self)
    #expect(frame.contains("Content-Type: text/csv\r\n"))

    var tusFacts = Scene.facts { $0.file.properties = set }
    let tus = try AllProtocols.make(BatchSettings(destination: "tus+http://h/files/"), credentialsRegion: nil)
    let created = try tus.request(.create, tusFacts, Scene.context(nil))
    #expect(field(created, "cache-control") == "no-cache" && field(created, "upload-length") == "5")
    #expect(field(created, "upload-metadata")?.contains("filetype \(base64(Array("text/csv".utf8)))") == true)
    tusFacts.session = SessionFacts(remoteID: "http://h/files/1", intendedAtMs: 0)
    #expect(field(try tus.request(chunk, tusFacts, Scene.context(nil)), "cache-control") == nil)

    let resumable = try AllProtocols.make(BatchSettings(destination: "resumable+http://h/up"), credentialsRegion: nil)
      .request(.create, Scene.facts { $0.file.properties = set }, Scene.context(nil))
    #expect(field(resumable, "content-type") == "text/csv" && field(resumable, "cache-control") == "no-cache")

    var davFacts = Scene.facts { $0.file.properties = set }
    davFacts.session = SessionFacts(remoteID: "http://h/tmp", intendedAtMs: 0)
    let dav = try AllProtocols.make(BatchSettings(destination: "davpatch+http://h/"), credentialsRegion: nil)
      .request(.create, davFacts, Scene.context(nil))
    #expect(field(dav, "content-type") == "text/csv" && field(dav, "cache-control") == "no-cache")
  }
}
