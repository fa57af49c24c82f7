import TransferModel

/// Words and bytes for a POSIX shell. Marks of secrets are replaced by references; secrets are never in the text.
package struct ShellText {
  /// The marks of secrets in a request, and the shell expressions that replace them: `$TOKEN`, `$(cat 'file')`.
  var references: [Reference] = []

  struct Reference {
    let mark: String
    let shell: String
  }

  /// A piece of text, or a reference.
  enum Piece: Hashable {
    case text(String)
    case reference(String)
  }

  func pieces(_ text: String) -> [Piece] {
    for reference in references {
      guard let range = text.firstRange(of: reference.mark) else { continue }
      return pieces(String(text[..<range.lowerBound])) + [.reference(reference.shell)]
        + pieces(String(text[range.upperBound...]))
    }
    return text.isEmpty ? [] : [.text(text)]
  }

  /// The text as one shell word.
  func word(_ text: String) -> String {
    let found = pieces(text)
    guard !found.isEmpty else { return "''" }
    return found.map { piece in
      switch piece {
      case .text(let text): Self.quoted(text)
      case .reference(let shell): "\"\(shell)\""
      }
    }.joined()
  }

  /// The text in single quotes, unless it has no characters that are special to a shell.
  static func quoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { plain.contains($0) }
    return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
  }

  /// Words as a command line for bash, in characters that a terminal shows unchanged. It must not be escaped again,
  /// which would double backslashes.
  package static func line(_ words: [String]) -> String { words.map(shown).joined(separator: " ") }

  /// One word of ``line(_:)``; it has a backslash only if the text itself cannot be shown unchanged.
  static func shown(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard !isShown(bytes) else { return quoted(text).replacing(#"'\''"#, with: #"'"'"'"#) }
    let escaped = bytes.map { byte -> String in
      if plain.contains(byte) { return String(UnicodeScalar(byte)) }
      return "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst()
    }
    return "$'\(escaped.joined())'"
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-".utf8)

  /// Whether the bytes are text that a terminal shows unchanged.
  static func isShown(_ bytes: [UInt8]) -> Bool {
    guard let text = NameBytes(bytes).utf8 else { return false }
    return printable(text) == text && !text.contains("\n")
  }

  /// A `printf` command that writes these bytes, with references in them as its arguments.
  func printing(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard Array(text.utf8) == bytes else { return "printf '\(Self.octal(bytes))'" }
    var (format, arguments) = ("", "")
    for piece in pieces(text) {
      switch piece {
      case .text(let text): format += Self.octal(Array(text.utf8))
      case .reference(let shell):
        format += "%s"
        arguments += " \"\(shell)\""
      }
    }
    return "printf '\(format)'\(arguments)"
  }

  /// The bytes as a `printf` format for single quotes. A leading dash is escaped, because it would be an option.
  static func octal(_ bytes: [UInt8]) -> String {
    bytes.enumerated().map { place, byte in
      switch byte {
      case 0x2D where place == 0: #"\055"#
      case 0x25: "%%"
      case 0x5C: #"\\"#
      case 0x27, 0..<0x20, 0x7F...: "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst()
      default: String(UnicodeScalar(byte))
      }
    }.joined()
  }
}
