/// One node of a YAML or JSON document, with its position. Aliases are resolved: the node of an alias is a copy.
public struct YAMLNode: Sendable, Hashable {
  public enum Content: Sendable, Hashable {
    /// `isPlain` is false for quoted and block scalars, which are always text.
    case scalar(String, isPlain: Bool)
    case list([YAMLNode])
    case map([Entry])
  }

  public struct Entry: Sendable, Hashable {
    public var key: String
    public var keyMark: SourceMark
    public var value: YAMLNode
  }

  public var content: Content
  public var mark: SourceMark
  /// The cost of a copy: its number of nodes, including keys and itself, and their text.
  var count: Int
  /// Whether its characters are in the document unchanged, without escapes and folded lines.
  public internal(set) var isVerbatim = true
}

/// The value of a scalar, by the core schema of YAML 1.2 with the numbers of JSON. `yes`, `off` and `0x10` are text.
public enum YAMLScalar: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  /// A JSON number that is not a 64-bit integer, as written.
  case number(String)
  case text(String)
}

extension YAMLNode {
  /// nil for lists and maps.
  public var scalar: YAMLScalar? {
    guard case .scalar(let text, let isPlain) = content else { return nil }
    guard isPlain else { return .text(text) }
    switch text {
    case "", "~", "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    guard JSONNumber.isNumber(text.utf8) else { return .text(text) }
    return Int64(text).map { .int($0) } ?? .number(text)
  }

  /// The characters of a scalar, whatever its type; nil for lists and maps.
  public var text: String? {
    if case .scalar(let text, _) = content { text } else { nil }
  }

  public var entries: [Entry]? {
    if case .map(let entries) = content { entries } else { nil }
  }

  public var list: [YAMLNode]? {
    if case .list(let nodes) = content { nodes } else { nil }
  }

  /// The kind of node, for messages.
  public var kind: String {
    switch content {
    case .list: return "a list"
    case .map: return "a map"
    case .scalar:
      switch scalar {
      case .null?: return "nothing"
      case .bool?: return "true or false"
      case .int?, .number?: return "a number"
      case .text?, nil: return "text"
      }
    }
  }
}
