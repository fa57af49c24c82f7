import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct BagItTests {
  private func read(_ fetch: String, _ manifests: [(String, String)]) -> ManifestScene.Outcome {
    var outcome = ManifestScene.Outcome()
    do throws(TransferError) {
      try BagIt.read(
        fetch: BagIt.Text(NameBytes("bag/fetch.txt"), Array(fetch.utf8)),
        manifests: manifests.map { BagIt.Text(NameBytes($0.0), Array($0.1.utf8)) }
      ) { outcome.entries.append($0) }
    } catch {
      outcome.error = error
    }
    return outcome
  }

  @Test func fetchedFilesGetTheirDigests() throws {
    let outcome = read(
      "https://h/1 10 data/a b\r\nhttps://h/2\t-\tdata/100%25%0d%0Ax%20\nhttps://h/2 - data/100%25%0d%0Ax%20\n",
      [
        (
          "bag/manifest-md5.txt",
          "\(String.md5)  data/a b\n\(String.md5) data/100%25%0D%0ax%20\n\(String.md5) data/here\n"
        ),
        ("bag/manifest-sha512.txt", "\(String.sha512)\tdata/100%25%0D%0Ax%20\n\(String.sha512) ./data/a b\n"),
        ("bag/manifest-sha3256.txt", "what?\n"), ("bag/tagmanifest-md5.txt", "what?\n"), ("bag/bagit.txt", "what?\n"),
      ])
    #expect(outcome.error == nil)
    #expect(
      outcome.entries.map(\.brief) == [
        "1: data/a b < https://h/1 10 sha512 md5", "2: data/100%\\x0d\\x0ax%20 < https://h/2 - sha512 md5",
      ])
  }

  @Test func eachListCanBeReadByItself() throws {
    let fetch = try ManifestScene.entries(.bagit, "https://h/1 10 data/a\n", name: "fetch.txt")
    #expect(fetch.map(\.brief) == ["1: data/a < https://h/1 10"])
    let payload = try ManifestScene.entries(.bagit, "\(String.md5)  data/a\n", name: "x/Manifest-MD5.txt")
    #expect(payload.map(\.brief) == ["1: data/a < data/a - md5"])
    #expect(
      ManifestScene.cause(.bagit, "00  data/a", name: "manifest-sha3256.txt")
        == "line 1: digests of \"sha3256\" are not known here")
  }

  @Test(
    arguments: [
      ("https://h/1 10", "it is not \"URL LENGTH PATH\""), ("https://h/1", "it is not \"URL LENGTH PATH\""),
      ("https://h/1 ten data/a", "its size is not"), ("https://h/1 -1 data/a", "its size is not"),
      ("a 10 data/a", "the scheme of its URL is unknown"), ("https://x:y@h/1 1 data/a", "user information"),
      ("https://h/1 1 bagit.txt", "is not below \"data/\""), ("https://h/1 1 data/../x", "\"..\" component"),
      ("https://h/1 1 /data/x", "begins at the root"), ("https://h/1 1 data/", "ends with a slash"),
      ("https://h/1 1 data", "is not below"), ("https://h/1 1 data/missing", "is not in every payload manifest"),
      ("https://h/other 1 data/a", "was listed before"), ("https://h/1 2 data/a", "was listed before"),
    ])
  func whatIsRefused(_ line: String, _ expected: String) {
    let outcome = read("https://h/1 1 data/a\n" + line, [("manifest-md5.txt", "\(String.md5)  data/a")])
    let cause = outcome.error?.cause
    #expect(cause?.hasPrefix("line 2: ") == true && cause?.contains(expected) == true, "\(line): \(cause ?? "taken")")
  }

  @Test func manifestsThatContradictThemselves() {
    let other = String(repeating: "0", count: 32)
    let outcome = read("https://h/1 1 data/a", [("manifest-md5.txt", "\(String.md5) data/a\n\(other) data/a")])
    #expect(outcome.error?.cause == "line 2: it has two different md5 digests")
    #expect(outcome.error?.subject == NameBytes("manifest-md5.txt"))
  }
}
