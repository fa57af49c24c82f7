import Testing
import TransferModel
import TransferProtocols

/// URLs of files to fetch, as users write them.
@Suite struct DownloadURLTests {
  @Test func keysOfBucketsAreTakenAsTheyAre() throws {
    let url = try DownloadURL("S3://bucket/d%20e/a b?c#d+%.bin")
    #expect(url.origin == .bucket("bucket", scheme: "s3"))
    #expect(url.key == NameBytes("d%20e/a b?c#d+%.bin") && url.name == NameBytes("a b?c#d+%.bin"))
    #expect("\(url)" == "s3://bucket/d%20e/a b?c#d+%.bin")
    let base = try DownloadURL(base: "s3://bucket/d e")
    #expect(try base.appending(NameBytes("x y")).key == NameBytes("d e/x y"))
    #expect(try DownloadURL("s3://bucket/d e/x?y").path(below: base) == NameBytes("x?y"))
    for wrong in ["s3://bucket", "s3://bucket/", "s3://bucket/a/", "s3://bucket/a/../b", "s3://b/x", "s3:///x"] {
      #expect(throws: TransferError.self, "\(wrong)") { try DownloadURL(wrong) }
    }
  }

  @Test(arguments: [
    ("http://h/a/b.txt", "http://h", "a/b.txt", "b.txt"),
    ("HTTPS://Host:443/a", "https://host", "a", "a"),
    ("http://h:8080/a%20b", "http://h:8080", "a%20b", "a b"),
    ("http://h/a b/ü{1}.txt", "http://h", "a%20b/%C3%BC%7B1%7D.txt", "ü{1}.txt"),
    ("http://h/get?id=1&v=a/b", "http://h", "get?id=1&v=a/b", "get"),
    ("http://h/x%2Fy", "http://h", "x%2Fy", "x/y"), ("http://h//a", "http://h", "a", "a"),
    ("http://[::1]:9/a+b", "http://[::1]:9", "a+b", "a+b"),
  ])
  func whatIsAskedForIsWhatWasWritten(_ text: String, _ origin: String, _ key: String, _ name: String) throws {
    let url = try DownloadURL(text)
    #expect(url.origin.description == origin)
    #expect(url.key == NameBytes(key))
    #expect(url.name == NameBytes(name))
  }

  @Test(arguments: [
    "h/a", "ftp://h/a", "http:///a", "http://h", "http://h/", "http://h/d/", "http://h/?a", "http://h/a#b",
    "http://h/a/../b", "http://h/./b", "http://h/%zz", "http://h/a\nb", "http://user:secret@h/a",
    "http://h/a?token=secret", "http://h/a?X-Amz-Signature=secret&b",
  ])
  func whatCannotBeFetchedIsRefusedWithoutSecrets(_ text: String) throws {
    let error = #expect(throws: TransferError.self) { try DownloadURL(text) }
    #expect(error?.kind == .usage)
    #expect(error.map { "\($0)".contains("secret") } == false)
  }

  @Test func aBaseHoldsPaths() throws {
    let base = try DownloadURL(base: "http://h/d%20e")
    #expect(try base.appending(NameBytes("x y/%.txt")).key == NameBytes("d%20e/x%20y/%25.txt"))
    #expect(try DownloadURL("http://h/d%20e/x%20y?v=1").path(below: base) == NameBytes("x y"))
    #expect(try DownloadURL("http://g/d%20e/x").path(below: base) == nil)
    #expect(try DownloadURL("http://h/d%20ef/x").path(below: base) == nil)
    #expect(throws: TransferError.self) { try DownloadURL(base: "http://h/d?x=1") }
    #expect(try DownloadURL(base: "http://h").appending(NameBytes("a")).key == NameBytes("a"))
  }

  /// Destinations of uploads, and URLs of other tools, of which a plain GET serves the same file.
  @Test(arguments: [
    ("gs://my-bucket/d e/a?b#c%.bin", "https://storage.googleapis.com/my-bucket/d%20e/a%3Fb%23c%25.bin"),
    ("GS://b_1.x/a", "https://storage.googleapis.com/b_1.x/a"),
    ("tus+https://h:1080/files/24e5?x=1", "https://h:1080/files/24e5?x=1"),
    ("tus+http://h/files/a", "http://h/files/a"),
  ])
  func otherURLsAreTheirPlainForms(_ text: String, _ plain: String) throws {
    #expect(try DownloadURL(text) == DownloadURL(plain))
  }

  @Test func aBaseMayBeABucketOfGoogle() throws {
    let base = try DownloadURL(base: "gs://b/d e")
    #expect(try base.appending(NameBytes("x y")) == DownloadURL("gs://b/d e/x y"))
    #expect(try DownloadURL(base: "gs://b").appending(NameBytes("a")) == DownloadURL("gs://b/a"))
    #expect(try DownloadURL(base: "tus+http://h/files").appending(NameBytes("a")) == DownloadURL("http://h/files/a"))
  }

  @Test(arguments: [
    ("gs://b/", "write s3://b/ with --endpoint-url https://storage.googleapis.com and the HMAC keys of the bucket"),
    ("gs://b/d/", "write s3://b/d/ with --endpoint-url https://storage.googleapis.com and the HMAC keys of the bucket"),
    ("gs://B@c/d", "write gs://bucket/object"), ("gs:///d", "write gs://bucket/object"),
    ("form+https://u:secret@h/a?sig=secret", "write https://…@h/a"), ("tus+http://h/files/", nil),
  ])
  func whatHasNoPlainFormHasARemedy(_ text: String, _ remedy: String?) {
    let error = #expect(throws: TransferError.self) { try DownloadURL(text) }
    #expect(error?.kind == .usage && error.map { "\($0)".contains("secret") } == false)
    if let remedy { #expect(error?.remedy == remedy) }
  }

  @Test(arguments: [("foo.", "foo."), ("a/b?token=secret", "a/b"), ("user:secret@h/a", "…")])
  func anErrorNamesWhatWasTyped(_ text: String, _ shown: String) {
    let error = #expect(throws: TransferError.self) { try DownloadURL(text) }
    #expect(error?.subject == NameBytes(shown) && error?.cause == "it has no scheme")
  }

  @Test func theRemedyNamesWhatCanBeFetched() {
    let error = #expect(throws: TransferError.self) { try DownloadURL("ftp://h/a") }
    #expect(error?.remedy == "use one of http://, https://, dav+http://, dav+https://, s3://")
  }
}
