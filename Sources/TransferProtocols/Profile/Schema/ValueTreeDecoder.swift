import StrictYAML

/// Decodes the value of a JSON or XML body.
struct ValueTreeDecoder {
  let templates: TemplateReader
  /// The value's place in the profile, for display.
  let what: String

  private var nodes: NodeReader { templates.nodes }

  func tree(_ node: YAMLNode, inEach: Bool = false) -> ValueTree {
    switch node.content {
    case .list(let elements): return .list(elements.map { tree($0, inEach: inEach) })
    case .map(let entries):
      if let each = entries.first(where: { $0.key == "$each" }) { return self.each(each, entries) }
      return .map(members(entries, inEach: inEach))
    case .scalar:
      switch node.scalar {
      case .null?, nil: return .null
      case .bool(let value)?: return .bool(value)
      case .int(let value)?: return .int(value)
      case .number(let text)?: return .number(text)
      case .text?: return templates.template(node, what, inEach: inEach).map { .text($0) } ?? .null
      }
    }
  }

  private func members(_ entries: [YAMLNode.Entry], inEach: Bool) -> [ValueTree.Member] {
    entries.map { entry in
      if entry.key.hasPrefix("$") { nodes.fault(entry.keyMark, "\"\(entry.key)\" has no meaning here") }
      return ValueTree.Member(name: entry.key, value: tree(entry.value, inEach: inEach))
    }
  }

  /// `{$each: parts, number: "{{it.number|int}}"}`, or with `$value` an element that is not an object.
  private func each(_ each: YAMLNode.Entry, _ entries: [YAMLNode.Entry]) -> ValueTree {
    guard let list = templates.expression(each.value, "$each") else { return .null }
    let rest = entries.filter { $0.key != "$each" }
    if let value = rest.first(where: { $0.key == "$value" }) {
      if rest.count > 1 { nodes.fault(value.keyMark, "only $each is allowed beside $value") }
      return .each(list, tree(value.value, inEach: true))
    }
    return .each(list, .map(members(rest, inEach: true)))
  }
}
