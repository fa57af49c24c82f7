import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct SumsTests {
  private func brief(_ text: String, name: String = "SUMS") throws -> [String] {
    try ManifestScene.entries(.sums, text, name: name).map(\.brief)
  }

  private func cause(_ text: String, name: String = "SUMS") -> String? { ManifestScene.cause(.sums, text, name: name) }

  @Test func everyFormThatToolsWrite() throws {
    let text = """
      \u{FEFF}# made by a tool

      \(String.md5)  a.txt
      \(String.sha1) *dir/b.bin\r
      \(String.sha256.uppercased())  ./c d
      \(String.sha512) e
      SHA256 (f (1).iso) = \(String.sha256)
      SHA2-512(g)= \(String.sha512)
      TIMESTAMP = 1700000000
      md5 (h) = 1B2M2Y8AsgTpgAmY7PhCfg==
      """
    #expect(
      try brief(text) == [
        "3: a.txt < a.txt - md5", "4: dir/b.bin < dir/b.bin - sha1", "5: c d < c d - sha256", "6: e < e - sha512",
        "7: f (1).iso < f (1).iso - sha256", "8: g < g - sha512", "10: h < h - md5",
      ])
    let digests = try ManifestScene.entries(.sums, text).map { $0.digests[0].description }
    #expect(digests[2] == "sha256:" + .sha256 && digests[6] == "md5:" + .md5)
  }

  @Test func escapedNames() throws {
    let text = #"""
      \\#(String.md5)  a\nb\\c\rd
      \SHA1 (x\ny) = \#(String.sha1)
      \#(String.md5)  plain\name
      """#
    let names = try ManifestScene.entries(.sums, text).map(\.path)
    #expect(names == [NameBytes("a\nb\\c\rd"), NameBytes("x\ny"), NameBytes("plain\\name")])
    #expect(cause("\\\(String.md5)  a\\tb")?.hasSuffix("has a backslash that escapes nothing") == true)
    #expect(cause("\\\(String.md5)  a\\")?.hasSuffix("has a backslash that escapes nothing") == true)
    #expect(cause("\\\(String.md5)  a\\n/../b")?.hasSuffix("\"..\" component") == true)
  }

  @Test func consecutiveLinesOfOneNameAreOneEntry() throws {
    let text = """
      MD5 (a) = \(String.md5)
      SHA512 (a) = \(String.sha512)
      SIZE (a) = 12
      RMD160 (a) = 9c1185a5c5e9fc54612808977ee8f548b2258d31
      SHA256 (a) = \(String.sha256)
      Size (b) = 3 bytes
      SHA1 (b) = \(String.sha1)
      SHA1 (b) = \(String.sha1)
      """
    #expect(try brief(text) == ["1: a < a 12 sha512 sha256 md5", "6: b < b 3 sha1"])
    let other = String(repeating: "0", count: 32)
    #expect(cause("MD5 (a) = \(String.md5)\n\(other)  a") == "line 2: it has two different md5 digests")
    #expect(cause("SIZE (a) = 1\nSIZE (a) = 2") == "line 2: \"a\" has two different sizes")
  }

  @Test func signedTextsAreReadAndSaySo() throws {
    let begin = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n"
    let end = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n=abcd\n-----END PGP SIGNATURE-----\n"
    let line = "\(String.md5)  a\n"
    let text = begin + line + "- # - dashes\n" + "- -----BEGIN x\n".replacing("- -----BEGIN x", with: "") + end
    #expect(try brief(text) == ["4: a < a - md5"])
    #expect(ManifestScene.read(.sums, Array(text.utf8)).isSigned)
    #expect(!ManifestScene.read(.sums, Array(line.utf8)).isSigned)
    #expect(cause(line + begin + line + end)?.contains("outside of the signed text") == true)
    #expect(cause(begin + line + end + line)?.contains("outside of the signed text") == true)
    for cut in [begin, begin + line, begin + line + "-----BEGIN PGP SIGNATURE-----\n"] {
      #expect(cause(cut)?.contains("cut off") == true)
    }
  }

  @Test(
    arguments: [
      ("hello", "it is neither"), ("\(String.md5)", "it is neither"), ("\(String.md5)  ", "it names no file"),
      ("\(String.md5)x  a", "it is neither"), ("abcdef01  a", "has 8 hexadecimal digits"),
      (String(repeating: "a", count: 56) + "  a", "has 56 hexadecimal digits"),
      ("MD5 (a) = \(String.sha1)", "its md5 digest is not 32 hexadecimal digits"),
      ("MD5 (a) = \(String.md5.dropLast())g", "its md5 digest is not"), ("MD5 (a) \(String.md5)", "it is neither"),
      ("(a) = \(String.md5)", "it is neither"), (") MD5 (", "it is neither"),
      ("BLAKE2b (a) = 00", "\"a\" has only digests that are not known here (BLAKE2b)"),
      ("SIZE (a) = -1", "its size is not"), ("SIZE (a) = 9007199254740993", "its size is not"),
      ("\(String.md5)  /etc/passwd", "\"/etc/passwd\" begins at the root"),
      ("\(String.md5)  a/../../b", "has a \".\" or \"..\" component"), ("\(String.md5)  a\0b", "control character"),
      ("<html><title>Log in</title>", "it is neither"), ("\u{1B}[31m", "it is neither"),
    ])
  func whatIsRefused(_ line: String, _ expected: String) {
    let cause = cause("# one\n\(line)\n")
    #expect(cause?.hasPrefix("line 2: ") == true && cause?.contains(expected) == true, "\(line): \(cause ?? "taken")")
  }

  @Test(arguments: ["B2SUMS", "x.iso.blake2b", "B3SUMS.txt", "SHA3-256SUMS", "x.b3sum", "x_B2SUMS.asc"])
  func namesOfDigestsOfTheSameLength(_ name: String) {
    #expect(cause("\(String.sha512)  a", name: name)?.contains("are not known here") == true)
    #expect(cause("SHA512 (a) = \(String.sha512)", name: name) == nil)
    #expect(cause("\(String.sha512)  a", name: "b2b-sums") == nil)
  }

  @Test func hostileNamesAreEscapedInErrors() throws {
    let text = Array("\(String.md5)  ../\u{1B}[2J\u{202E}x".utf8)
    let error = try #require(ManifestScene.read(.sums, text, name: "a\nb").error)
    #expect(
      error.description
        == "read manifest \"a\\x0ab\": line 1: \"../\\x1b[2J\\xe2\\x80\\xaex\" has a \".\" or \"..\" component; write the path without them"
    )
  }

  @Test func textsInUTF16AreNamed() {
    let bytes: [UInt8] = [0xFF, 0xFE] + String.md5.utf8.flatMap { [$0, 0] }
    #expect(ManifestScene.read(.sums, bytes).error?.cause == "line 1: it is written in UTF-16")
  }
}
