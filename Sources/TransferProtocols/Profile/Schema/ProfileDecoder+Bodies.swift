import StrictYAML

/// What steps send.
extension ProfileDecoder {
  mutating func body(_ node: YAMLNode, _ what: String, _ place: ProfileNames.Place) -> BodyRules {
    guard let map = map(node, "\(what).body", keys: ["kind", "raw", "fields", "value"]) else { return .none }
    let kinds = ["none", "empty", "raw", "multipart", "form", "json", "xml", "text"]
    guard let kind = map["kind"], let word = kind.text, kinds.contains(word) else {
      fault(map["kind"]?.mark ?? map.mark, "\(what).body.kind has to be one of: \(kinds.joined(separator: ", "))")
      return .none
    }
    forbid(map, what, word)
    switch word {
    case "empty": return .empty
    case "raw": return raw(map, what)
    case "multipart": return .multipart(formItems(map, what, place, takesFile: true))
    case "form": return .form(formItems(map, what, place, takesFile: false))
    case "json": return value(map, what).map { .json(tree($0, "\(what).body.value", place)) } ?? .none
    case "xml":
      guard let value = value(map, what) else { return .none }
      checkElements(value)
      if let entries = value.entries, entries.count != 1 { fault(value.mark, "an XML body has one element at its top") }
      if value.list != nil { fault(value.mark, "an XML body has one element at its top") }
      return .xml(tree(value, "\(what).body.value", place))
    case "text":
      return value(map, what).flatMap { template($0, "\(what).body.value", place) }.map { .text($0) } ?? .none
    default: return .none
    }
  }

  /// Keys of one kind would silently do nothing in another.
  private mutating func forbid(_ map: Map, _ what: String, _ kind: String) {
    let own = ["raw": "raw", "multipart": "fields", "form": "fields", "json": "value", "xml": "value", "text": "value"]
    for key in ["raw", "fields", "value"] where key != own[kind] {
      if let node = map[key] { fault(node.mark, "a body of kind \(kind) has no \"\(key)\"") }
    }
  }

  private mutating func raw(_ map: Map, _ what: String) -> BodyRules {
    if let node = map["raw"] { checkContent(node, "\(what).body.raw") }
    return .raw
  }

  /// A request never contains more than its chunk.
  private mutating func checkContent(_ node: YAMLNode, _ what: String) {
    guard node.text == "chunk" || node.text == "file" else {
      return fault(node.mark, "\(what) is \"chunk\" or \"file\"")
    }
    if node.text == "file" && !isSingle { fault(node.mark, "\(what) can be \"file\" only with chunk.mode: single") }
  }

  private mutating func value(_ map: Map, _ what: String) -> YAMLNode? {
    if map["value"] == nil { fault(map.mark, "\(what).body needs the key \"value\"") }
    return map["value"]
  }

  /// Keys become element names.
  private mutating func checkElements(_ node: YAMLNode) {
    for item in node.list ?? [] { checkElements(item) }
    for entry in node.entries ?? [] {
      let isName = entry.key.isHeaderName && entry.key.first.map { $0.isLetter || $0 == "_" } == true
      if !isName, !entry.key.hasPrefix("$") { fault(entry.keyMark, "\"\(entry.key)\" is not an XML element name") }
      if entry.key != "$each" { checkElements(entry.value) }
    }
  }

  private mutating func formItems(
    _ map: Map, _ what: String, _ place: ProfileNames.Place, takesFile: Bool
  ) -> [FormItem] {
    guard let node = map["fields"] else {
      fault(map.mark, "\(what).body needs the key \"fields\"")
      return []
    }
    let items = list(node, "\(what).body.fields").flatMap {
      formItem($0, "\(what).body.fields", place, takesFile: takesFile)
    }
    let files = items.count { item in
      if case .file = item { true } else { false }
    }
    if files > 1 { fault(node.mark, "\(what).body has \(files) files, and a request carries one") }
    return items
  }

  private mutating func formItem(
    _ node: YAMLNode, _ what: String, _ place: ProfileNames.Place, takesFile: Bool
  ) -> [FormItem] {
    let keys = ["name", "value", "file", "filename", "type", "from_map"]
    guard let map = map(node, "a field", keys: keys) else { return [] }
    if let source = map["from_map"] { return fields(source, "from_map", place).map { .field($0) } }
    guard let nameNode = map["name"], let name = template(nameNode, "name", place) else {
      fault(node.mark, "a field needs a name")
      return []
    }
    guard let file = map["file"] else { return [field(map, name, nameNode, place)].compactMap { $0 } }
    if !takesFile { fault(file.mark, "a body of kind form carries no file; use multipart") }
    checkContent(file, "the file of a field")
    return [
      .file(
        name: name, filename: map["filename"].flatMap { template($0, "filename", place) },
        type: map["type"].flatMap { template($0, "type", place) })
    ]
  }

  private mutating func field(
    _ map: Map, _ name: Template, _ nameNode: YAMLNode, _ place: ProfileNames.Place
  ) -> FormItem? {
    guard let value = map["value"].flatMap({ template($0, "value", place) }) else {
      fault(map.mark, "a field needs a value or a file")
      return nil
    }
    guard let text = nameNode.text, name.variables.isEmpty else {
      fault(nameNode.mark, "the name of a field is plain text")
      return nil
    }
    let isOptional = text.hasSuffix("?")
    return .field(
      TemplateField(name: isOptional ? String(text.dropLast()) : text, value: value, isOptional: isOptional))
  }

  // MARK: - Values

  mutating func tree(_ node: YAMLNode, _ what: String, _ place: ProfileNames.Place, inEach: Bool = false) -> ValueTree {
    switch node.content {
    case .list(let nodes): return .list(nodes.map { tree($0, what, place, inEach: inEach) })
    case .map(let entries):
      if let each = entries.first(where: { $0.key == "$each" }) { return self.each(each, entries, what, place) }
      return .map(members(entries, what, place, inEach: inEach))
    case .scalar:
      switch node.scalar {
      case .null?, nil: return .null
      case .bool(let value)?: return .bool(value)
      case .int(let value)?: return .int(value)
      case .number(let text)?: return .number(text)
      case .text?: return template(node, what, place, inEach: inEach).map { .text($0) } ?? .null
      }
    }
  }

  private mutating func members(
    _ entries: [YAMLNode.Entry], _ what: String, _ place: ProfileNames.Place, inEach: Bool
  ) -> [ValueTree.Member] {
    entries.map { entry in
      if entry.key.hasPrefix("$") { fault(entry.keyMark, "\"\(entry.key)\" has no meaning here") }
      return ValueTree.Member(name: entry.key, value: tree(entry.value, what, place, inEach: inEach))
    }
  }

  /// `{$each: parts, number: "{{it.number|int}}"}`, or with `$value` an element that is not an object.
  private mutating func each(
    _ each: YAMLNode.Entry, _ entries: [YAMLNode.Entry], _ what: String, _ place: ProfileNames.Place
  ) -> ValueTree {
    guard let list = expression(each.value, "$each", place) else { return .null }
    let rest = entries.filter { $0.key != "$each" }
    if let value = rest.first(where: { $0.key == "$value" }) {
      if rest.count > 1 { fault(value.keyMark, "only $each is allowed beside $value") }
      return .each(list, tree(value.value, what, place, inEach: true))
    }
    return .each(list, .map(members(rest, what, place, inEach: true)))
  }
}
