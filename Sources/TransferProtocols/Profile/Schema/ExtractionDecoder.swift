import StrictYAML

/// Decodes what is extracted from answers.
struct ExtractionDecoder {
  let templates: TemplateReader

  private var nodes: NodeReader { templates.nodes }

  /// The map `extract` of a step; `name` is nil for `auth.refresh`.
  func extracts(_ node: YAMLNode?, _ what: String, _ name: StepName?) -> [ExtractTarget] {
    guard let node else { return [] }
    guard let entries = node.entries, !entries.isEmpty else {
      nodes.fault(node.mark, "\(what).extract extracts nothing: it has to be a map of names to sources")
      return []
    }
    return entries.compactMap { entry in
      let (scopeName, field) = ExtractTarget.split(entry.key)
      guard let scope = ExtractTarget.Scope(rawValue: scopeName), Self.isName(field) else {
        nodes.fault(
          entry.keyMark, "\"\(entry.key)\" is not a place for a value: write session.NAME, part.NAME or result.NAME")
        return nil
      }
      if let complaint = Self.complaint(scope, name) { nodes.fault(entry.keyMark, complaint) }
      guard let extraction = extraction(entry.value, "\(what).extract.\(entry.key)") else { return nil }
      return ExtractTarget(scope: scope, name: field, extraction: extraction)
    }
  }

  private static func complaint(_ scope: ExtractTarget.Scope, _ name: StepName?) -> String? {
    switch scope {
    case .part where name?.isOfChunk != true: "only steps of a chunk have values of a part"
    case .secret where name != nil: "only auth.refresh has secrets to extract"
    case .session where name == nil, .result where name == nil: "auth.refresh extracts secret.NAME only"
    default: nil
    }
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.enumerated().allSatisfy { i, byte in
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        case 0x30...0x39: i > 0
        default: false
        }
      }
  }

  func extraction(_ node: YAMLNode, _ what: String, hasFormat: Bool = false) -> Extraction? {
    var keys = ["json", "xml", "header", "status", "regex", "resolve", "plus", "type", "default", "required", "when"]
    if hasFormat { keys.append("format") }
    guard let map = nodes.map(node, what, keys: keys), let source = source(map, what) else { return nil }
    if let node = map["resolve"], node.text != "url" { nodes.fault(node.mark, "resolve can only be \"url\"") }
    if let node = map["format"], node.text != "start-end" { nodes.fault(node.mark, "format can only be \"start-end\"") }
    return Extraction(
      source: source, pattern: templates.pattern(map["regex"], "\(what).regex"), resolvesURL: map["resolve"] != nil,
      plus: nodes.int(map["plus"], "plus", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0,
      kind: nodes.word(map["type"], "type"),
      byDefault: map["default"].flatMap { scalarValue($0) }, isRequired: nodes.bool(map["required"], "required", false),
      when: templates.expression(map["when"], "\(what).when"))
  }

  /// The one source that `map` names.
  func source(_ map: NodeMap, _ what: String) -> Extraction.Source? {
    let given = ["json", "xml", "header", "status"].filter { map[$0] != nil }
    guard given.count <= 1 else {
      nodes.fault(map.mark, "\(what) has the sources \(given.joined(separator: " and ")); it can have one")
      return nil
    }
    switch given.first {
    case "json"?: return templates.jsonPath(map["json"], "\(what).json").map { .json($0) }
    case "xml"?: return templates.xmlPath(map["xml"], "\(what).xml").map { .xml($0) }
    case "status"?: return .status
    case "header"?:
      guard let node = map["header"], let name = node.text, name.isHeaderName else {
        nodes.fault(map["header"]?.mark ?? map.mark, "\(what).header is the name of a header")
        return nil
      }
      return .header(name)
    default:
      guard map["regex"] != nil else {
        nodes.fault(map.mark, "\(what) extracts nothing: name json, xml, header, status or regex")
        return nil
      }
      return .body
    }
  }

  private func scalarValue(_ node: YAMLNode) -> TemplateValue? {
    switch node.scalar {
    case .int(let value)?: return .int(value)
    case .bool(let value)?: return .bool(value)
    case .text(let text)?, .number(let text)?: return .string(text)
    case .null?: return nil
    case nil:
      nodes.fault(node.mark, "a default is a single value, and this is \(node.kind)")
      return nil
    }
  }
}
