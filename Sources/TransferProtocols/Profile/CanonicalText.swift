import StrictYAML

/// The text of a document independent of its formatting: JSON in one line, aliases expanded, comments removed, keys in
/// their original order (which matters for fields of a form). Parsing it gives the same tree.
enum CanonicalText {
  static func of(_ node: YAMLNode) -> String {
    var out = ""
    append(node, to: &out)
    return out
  }

  private static func append(_ node: YAMLNode, to out: inout String) {
    switch node.content {
    case .scalar: out += scalar(node)
    case .list(let nodes):
      for (i, item) in nodes.enumerated() {
        out += i == 0 ? "[" : ", "
        append(item, to: &out)
      }
      out += nodes.isEmpty ? "[]" : "]"
    case .map(let entries):
      for (i, entry) in entries.enumerated() {
        out += (i == 0 ? "{" : ", ") + quoted(entry.key) + ": "
        append(entry.value, to: &out)
      }
      out += entries.isEmpty ? "{}" : "}"
    }
  }

  private static func scalar(_ node: YAMLNode) -> String {
    switch node.scalar {
    case .null?, nil: "null"
    case .bool(let value)?: value ? "true" : "false"
    case .int(let value)?: String(value)
    case .number(let text)?: text
    case .text(let text)?: quoted(text)
    }
  }

  /// Escapes beyond what JSON requires: YAML 1.1 treats U+0085, U+2028 and U+2029 as line breaks, and refuses control
  /// characters.
  static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: out += "\\\(scalar)"
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: out += JSONText.escape(UInt16(scalar.value))
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
