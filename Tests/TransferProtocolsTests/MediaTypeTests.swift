import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct MediaTypeTests {
  @Test(arguments: [
    ("a.pdf", "application/pdf"), ("in/A.PDF", "application/pdf"), ("a.tar.gz", "application/gzip"),
    ("a", "application/octet-stream"), (".pdf", "application/octet-stream"), ("a.", "application/octet-stream"),
    ("a.pdf/b", "application/octet-stream"), ("a.xyzzy", "application/octet-stream"), ("ü.JPG", "image/jpeg"),
  ])
  func byName(_ name: String, _ type: String) {
    #expect(MediaType.of(NameBytes(name).lastComponent.bytes) == type)
  }

  @Test func bodiesOfOtherProtocols() throws {
    func type(_ contentType: String?) throws -> String? {
      try Scene.web("http://h/") { $0.contentType = contentType }
        .request(.chunk(Scene.chunk()), Scene.facts(key: "a.csv"), Scene.context(nil)).fields[.contentType]
    }
    #expect(try type(nil) == "application/octet-stream")
    #expect(try type("auto") == "text/csv")
    #expect(try type("text/plain; charset=utf-8") == "text/plain; charset=utf-8")
  }

  /// Settings that were not given are not stored.
  @Test func settingsHoldOnlyWhatWasSaid() {
    var settings = BatchSettings(destination: "http://h/")
    settings.acceptsHTML = false
    settings.fields = []
    settings.contentType = nil
    #expect(settings.options.isEmpty)
  }
}
