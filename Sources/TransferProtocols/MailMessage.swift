import TransferModel

/// A message for `sendmail -t`, with the recipients in its headers. None of its values can end a header line, whatever
/// they contain. Sources: RFC 5322 (2.1.1, 3.4.1), RFC 2047 (2, 5), RFC 3834 (5).
package enum MailMessage {
  /// The path on every Unix mail system. Source: Filesystem Hierarchy Standard 3.0, "/usr/sbin".
  package static let sendmail = "/usr/sbin/sendmail"

  /// Maximum number of lines of a message, and of bytes of a line: RFC 5322 allows 998.
  static let mostLines = 40
  static let mostLineBytes = 900

  /// Whether it is a plain address, `user@host.example`, or a user of this machine: no comments, quotes or lists.
  package static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard text.utf8.count <= 254, (1...2).contains(parts.count), isDotAtom(parts[0]), parts[0].first != "-" else {
      return false
    }
    return parts.count == 1 || parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy(isLabel)
  }

  private static func isDotAtom(_ text: Substring) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
      !atom.isEmpty && atom.utf8.allSatisfy { isAlphanumeric($0) || Array("!#$%&'*+-/=?^_`{|}~".utf8).contains($0) }
    }
  }

  private static func isLabel(_ text: Substring) -> Bool {
    !text.isEmpty && text.first != "-" && text.last != "-" && text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// - Parameters:
  /// - addresses: valid addresses (``isAddress(_:)``).
  /// - id: the same in each delivery of a message, so that a mail system can drop duplicates.
  ///   - host: the name of this machine.
  /// - lines: any text; long lines are truncated, and excess lines are left out.
  package static func bytes(
    to addresses: [String], subject: String, id: String, host: String, lines: [String]
  ) -> [UInt8] {
    let body = lines.prefix(mostLines).map(shortened) + (lines.count > mostLines ? ["…"] : [])
    let isASCII = body.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
    let place = host.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E } && !host.isEmpty
    let headers = [
      "To: " + addresses.joined(separator: ",\n "),
      "Subject: " + header(subject, after: "Subject: ".utf8.count),
      "Message-ID: <\(id.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })@\(place ? host : "localhost")>",
      "Auto-Submitted: auto-generated",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: \(isASCII ? "7bit" : "8bit")",
    ]
    return Array((headers + [""] + body).map { $0 + "\n" }.joined().utf8)
  }

  /// One line without control characters. A line that is already escaped, like those of standard error, is not changed.
  private static func shortened(_ line: String) -> String {
    let bare = line.filter { $0 != "\\" }
    let safe = printable(bare) == bare ? line : printable(line)
    return safe.utf8.count <= mostLineBytes ? safe : prefix(of: safe, bytes: mostLineBytes - 3) + "…"
  }

  /// The longest prefix of whole characters within this many bytes.
  private static func prefix(of text: some StringProtocol, bytes: Int) -> String {
    var (out, count) = ("", 0)
    for scalar in text.unicodeScalars {
      count += UTF8.width(scalar)
      if count > bytes { break }
      out.unicodeScalars.append(scalar)
    }
    return out
  }

  /// The value of a header: unchanged if it is plain and short, else in encoded words of whole characters.
  static func header(_ text: String, after width: Int) -> String {
    let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
    guard !isPlain || width + text.utf8.count > 76 else { return text }
    var (words, rest) = ([String](), text[...])
    while !rest.isEmpty {
      // 75 characters at most: 12 around the text, 4 for each 3 bytes; the first line also holds the name.
      let piece = prefix(of: rest, bytes: words.isEmpty ? max(4, 45 - width) : 45)
      words.append("=?UTF-8?B?\(base64(Array(piece.utf8)))?=")
      rest = rest[rest.unicodeScalars.index(rest.startIndex, offsetBy: piece.unicodeScalars.count)...]
    }
    return words.joined(separator: "\n ")
  }
}
