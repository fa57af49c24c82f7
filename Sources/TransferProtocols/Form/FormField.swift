import TransferModel

/// A field beside the file: `name=value`, where `{path}` and `{name}` in the value stand for the file's key and its
/// last component.
struct FormField: Sendable, Hashable {
  let name: String
  let value: String

  /// Names whose values are credentials wherever they are used; a ledger must not hold them.
  private static let secretNames: Set<String> = [
    "token", "access_token", "password", "passwd", "pwd", "secret", "api_key", "apikey", "signature", "policy",
    "x-amz-signature", "x-amz-security-token",
  ]

  /// - Throws: `.usage`; the value is not quoted, because it may be a secret.
  init(parsing text: String) throws(TransferError) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw TransferError(.usage, "read --field", cause: "it is not name=value", remedy: "write --field NAME=VALUE")
    }
    name = String(text[..<equals])
    value = String(text[text.index(after: equals)...])
    guard !Self.secretNames.contains(name.lowercased()) else {
      throw TransferError(
        .usage, "read --field", NameBytes(name), cause: "its value is a credential, which would be stored and shown",
        remedy: "pass \"--auth bearer=env:NAME\" instead, or use a profile (--via), which takes secrets by reference")
    }
  }

  /// Whether the field contains the path of the file, and not only its name.
  var usesPath: Bool { value.contains("{path}") }

  func filled(_ key: NameBytes) -> [UInt8] {
    var out: [UInt8] = []
    var rest = value[...]
    while let brace = rest.firstIndex(of: "{") {
      out += Array(rest[..<brace].utf8)
      rest = rest[brace...]
      if rest.hasPrefix("{path}") {
        out += key.bytes
        rest = rest.dropFirst(6)
      } else if rest.hasPrefix("{name}") {
        out += key.lastComponent.bytes
        rest = rest.dropFirst(6)
      } else {
        out.append(0x7B)
        rest = rest.dropFirst()
      }
    }
    return out + Array(rest.utf8)
  }
}
