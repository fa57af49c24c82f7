import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ManifestFormatTests {
  private func format(_ name: String, _ front: String = "") -> ManifestFormat {
    ManifestFormat(name: NameBytes(name), front: Array(front.utf8))
  }

  @Test(
    arguments: [
      ("SHA256SUMS", .sums), ("d/MD5SUMS.txt", .sums), ("sha1sum.txt", .sums), ("SHA512SUMS.asc", .sums),
      ("x.iso.sha256", .sums), ("SHA256", .sums), ("x.md5sum", .sums), ("x.SHA1.txt", .sums), ("x.meta4", .metalink),
      ("x.METALINK", .metalink), ("bag/fetch.txt", .bagit), ("manifest-sha256.txt", .bagit), ("x.csv", .csv),
      ("x.tsv", .csv), ("x.jsonl", .jsonl), ("x.ndjson", .jsonl), ("urls.txt", .list), ("sha256", .sums),
      ("tool_1.5_SHA256SUMS", .sums), ("checksums.txt", .sums), ("possum.txt", .list),
      ("tagmanifest-md5.txt", .sums), ("", .list),
    ] as [(String, ManifestFormat)])
  func byName(_ name: String, _ expected: ManifestFormat) {
    #expect(format(name) == expected)
    #expect(format(name, "{\"path\":\"a\"}") == (expected == .list ? .jsonl : expected))
  }

  @Test(
    arguments: [
      ("\n \n<?xml", .metalink), ("\u{FEFF}<metalink", .metalink), (" {\"path\"", .jsonl),
      ("# x\r\n\(String.md5)  a\n", .sums), ("SHA256 (a) = \(String.sha256)", .sums), ("SIZE (a) = 1", .sums),
      ("-----BEGIN PGP SIGNED MESSAGE-----\n", .sums), ("TIMESTAMP = 1\n", .sums), ("\\\(String.md5)  a\\nb", .sums),
      ("url,path\n", .csv), ("\"Path\", \"SHA256\"\n", .csv), ("size\tURL\n", .csv), ("url\n", .list),
      ("https://h/a,path\n", .list), ("https://h/a\tpath\n", .list), ("https://h/a\tb\n", .list), ("a\nb\n", .list),
      ("", .list), ("# only\n", .list), ("\0\u{1}", .list), ("[1]", .list),
    ] as [(String, ManifestFormat)])
  func byContent(_ front: String, _ expected: ManifestFormat) {
    #expect(format("x.txt", front) == expected, "\(front)")
  }

  @Test func pathsThatAreListedTwice() throws {
    func entry(_ path: String, _ url: String, _ digests: [Digest] = [], size: Int64? = nil) -> ManifestEntry {
      ManifestEntry(location: .urls([ManifestURL(url)]), path: NameBytes(path), size: size, digests: digests, line: 7)
    }
    let (md5, sha1) = (Digest(.md5, [UInt8](repeating: 1, count: 16)), Digest(.sha1, [UInt8](repeating: 1, count: 20)))
    let list = NameBytes("list")
    var names = ManifestNames()
    #expect(try names.insert(entry("a", "u", [md5]), of: list) == .first)
    #expect(try names.insert(entry("b", "u"), of: list) == .first)
    #expect(try names.insert(entry("a", "u", [md5]), of: list) == .again)
    #expect(try names.insert(entry("a", "u", [sha1]), of: list) == .again)
    let wrong = [
      entry("a", "v", [md5]), entry("a", "u", [Digest(.md5, [UInt8](repeating: 2, count: 16))]),
      entry("a", "u", [md5], size: 1), entry("a", "u", [Digest(.sha1, [UInt8](repeating: 2, count: 20))]),
    ]
    for entry in wrong {
      let error = #expect(throws: TransferError.self) { try names.insert(entry, of: list) }
      #expect(error?.cause == "line 7: \"a\" was listed before, with another source, size or digest")
    }
  }
}
