import StrictYAML

/// Decodes the body of a step.
struct BodyDecoder {
  let templates: TemplateReader
  /// The step, for display.
  let what: String
  /// A chunk is always the whole file.
  let isSingle: Bool

  private var nodes: NodeReader { templates.nodes }

  func body(_ node: YAMLNode) -> BodyRules {
    guard let map = nodes.map(node, "\(what).body", keys: ["kind", "raw", "fields", "value"]) else { return .none }
    let kinds = ["none", "empty", "raw", "multipart", "form", "json", "xml", "text"]
    guard let kind = map["kind"], let word = kind.text, kinds.contains(word) else {
      nodes.fault(map["kind"]?.mark ?? map.mark, "\(what).body.kind has to be one of: \(kinds.joined(separator: ", "))")
      return .none
    }
    forbid(map, word)
    switch word {
    case "empty": return .empty
    case "raw": return raw(map)
    case "multipart": return .multipart(formItems(map, takesFile: true))
    case "form": return .form(formItems(map, takesFile: false))
    case "json": return value(map).map { .json(tree($0)) } ?? .none
    case "xml":
      guard let value = value(map) else { return .none }
      checkElements(value)
      if let entries = value.entries, entries.count != 1 {
        nodes.fault(value.mark, "an XML body has one element at its top")
      }
      if value.list != nil { nodes.fault(value.mark, "an XML body has one element at its top") }
      return .xml(tree(value))
    case "text":
      return value(map).flatMap { templates.template($0, "\(what).body.value") }.map { .text($0) } ?? .none
    default: return .none
    }
  }

  /// Keys of one kind would silently do nothing in another.
  private func forbid(_ map: NodeMap, _ kind: String) {
    let own = ["raw": "raw", "multipart": "fields", "form": "fields", "json": "value", "xml": "value", "text": "value"]
    for key in ["raw", "fields", "value"] where key != own[kind] {
      if let node = map[key] { nodes.fault(node.mark, "a body of kind \(kind) has no \"\(key)\"") }
    }
  }

  private func raw(_ map: NodeMap) -> BodyRules {
    if let node = map["raw"] { checkContent(node, "\(what).body.raw") }
    return .raw
  }

  /// A request never contains more than its chunk.
  private func checkContent(_ node: YAMLNode, _ what: String) {
    guard node.text == "chunk" || node.text == "file" else {
      return nodes.fault(node.mark, "\(what) is \"chunk\" or \"file\"")
    }
    if node.text == "file" && !isSingle {
      nodes.fault(node.mark, "\(what) can be \"file\" only with chunk.mode: single")
    }
  }

  private func tree(_ value: YAMLNode) -> ValueTree {
    ValueTreeDecoder(templates: templates, what: "\(what).body.value").tree(value)
  }

  private func value(_ map: NodeMap) -> YAMLNode? {
    if map["value"] == nil { nodes.fault(map.mark, "\(what).body needs the key \"value\"") }
    return map["value"]
  }

  /// Keys become element names.
  private func checkElements(_ node: YAMLNode) {
    for item in node.list ?? [] { checkElements(item) }
    for entry in node.entries ?? [] {
      let isName = entry.key.isHeaderName && entry.key.first.map { $0.isLetter || $0 == "_" } == true
      if !isName, !entry.key.hasPrefix("$") {
        nodes.fault(entry.keyMark, "\"\(entry.key)\" is not an XML element name")
      }
      if entry.key != "$each" { checkElements(entry.value) }
    }
  }

  private func formItems(_ map: NodeMap, takesFile: Bool) -> [FormItem] {
    guard let node = map["fields"] else {
      nodes.fault(map.mark, "\(what).body needs the key \"fields\"")
      return []
    }
    let items = nodes.list(node, "\(what).body.fields").flatMap { formItem($0, takesFile: takesFile) }
    let files = items.count { item in
      if case .file = item { true } else { false }
    }
    if files > 1 { nodes.fault(node.mark, "\(what).body has \(files) files, and a request carries one") }
    return items
  }

  private func formItem(_ node: YAMLNode, takesFile: Bool) -> [FormItem] {
    let keys = ["name", "value", "file", "filename", "type", "from_map"]
    guard let map = nodes.map(node, "a field", keys: keys) else { return [] }
    if let source = map["from_map"] { return templates.fields(source, "from_map").map { .field($0) } }
    guard let nameNode = map["name"], let name = templates.template(nameNode, "name") else {
      nodes.fault(node.mark, "a field needs a name")
      return []
    }
    guard let file = map["file"] else { return [field(map, name, nameNode)].compactMap { $0 } }
    if !takesFile { nodes.fault(file.mark, "a body of kind form carries no file; use multipart") }
    checkContent(file, "the file of a field")
    return [
      .file(
        name: name, filename: map["filename"].flatMap { templates.template($0, "filename") },
        type: map["type"].flatMap { templates.template($0, "type") })
    ]
  }

  private func field(_ map: NodeMap, _ name: Template, _ nameNode: YAMLNode) -> FormItem? {
    guard let value = map["value"].flatMap({ templates.template($0, "value") }) else {
      nodes.fault(map.mark, "a field needs a value or a file")
      return nil
    }
    guard let text = nameNode.text, name.variables.isEmpty else {
      nodes.fault(nameNode.mark, "the name of a field is plain text")
      return nil
    }
    let isOptional = text.hasSuffix("?")
    return .field(
      TemplateField(name: isOptional ? String(text.dropLast()) : text, value: value, isOptional: isOptional))
  }
}
