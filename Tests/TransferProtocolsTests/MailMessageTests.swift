import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct MailMessageTests {
  @Test(arguments: ["root", "ops@example.org", "a.b+c@x-y.example", "o'neil@h"])
  func isAnAddress(_ text: String) { #expect(MailMessage.isAddress(text)) }

  @Test(arguments: [
    "", "@h", "a@", "a@b@c", "a b@h", "a,b@h", "-oQ/tmp", "a@-h", "a@h..i", ".a@h", "a@h\nBcc: x@y", "Ops <a@h>",
    "\"a\"@h",
    "a@h\u{E9}", "a@[1.2.3.4]",
  ])
  func isNoAddress(_ text: String) { #expect(!MailMessage.isAddress(text)) }

  private func text(_ subject: String, _ lines: [String], id: String = "ab-1", host: String = "h1") -> String {
    String(
      decoding: MailMessage.bytes(to: ["a@h", "b@h"], subject: subject, id: id, host: host, lines: lines), as: UTF8.self
    )
  }

  @Test func aMessageHasItsHeadersAndLines() {
    #expect(
      text("job nightly: partial", ["one", "", ".", "two"]) == """
        To: a@h,
         b@h
        Subject: job nightly: partial
        Message-ID: <ab-1@h1>
        Auto-Submitted: auto-generated
        MIME-Version: 1.0
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: 7bit

        one

        .
        two

        """)
  }

  @Test func nothingEndsAHeader() {
    let hostile = text("a\nBcc: x@y\r\n\nbody", ["x\nBcc: y"], id: "i>\nBcc: z", host: "h\nBcc: w")
    let lines = hostile.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(!lines.contains { $0.hasPrefix("Bcc") })
    #expect(lines.firstIndex(of: "").map { lines[$0 + 1] } == "x\\x0aBcc: y")
    #expect(lines.contains("Message-ID: <iBccz@localhost>"))
  }

  /// RFC 2047: at most 75 characters a word, 76 a line, and no character split between two words.
  @Test func aSubjectThatIsNotPlainIsEncodedByWholeCharacters() throws {
    let subject = String(repeating: "\u{1F600}\u{E9}x", count: 20) + "\n=?"
    var decoded: [UInt8] = []
    for line in ("Subject: " + MailMessage.header(subject, after: 9)).split(separator: "\n") {
      #expect(line.utf8.count <= 76)
      let word = line.drop { $0 != "=" }
      #expect(word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?=") && word.utf8.count <= 75)
      let bytes = try #require(bytesFromBase64(String(word.dropFirst(10).dropLast(2))))
      #expect(String(validating: bytes, as: UTF8.self) != nil)
      decoded += bytes
    }
    #expect(String(decoding: decoded, as: UTF8.self) == subject)
    #expect(MailMessage.header("=?UTF-8?Q?x?=", after: 9).hasPrefix("=?UTF-8?B?"))
  }

  @Test func linesAreBounded() {
    let message = text("s", Array(repeating: String(repeating: "\u{E9}", count: 5_000), count: 100))
    let lines = message.split(separator: "\n")
    #expect(lines.allSatisfy { $0.utf8.count <= 998 })
    #expect(lines.count == 8 + MailMessage.mostLines + 1)
    #expect(message.contains("Content-Transfer-Encoding: 8bit"))
  }
}
