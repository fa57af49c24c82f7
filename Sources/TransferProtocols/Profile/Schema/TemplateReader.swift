import StrictYAML

/// Reads templates, expressions and patterns, and locates faults in them.
struct TemplateReader {
  let nodes: NodeReader
  let names: ProfileNames
  /// Determines which of the names may be used.
  let place: ProfileNames.Place

  /// The same for another place.
  func at(_ place: ProfileNames.Place) -> TemplateReader { TemplateReader(nodes: nodes, names: names, place: place) }

  /// Text with `{{…}}`. Numbers and `true` are taken literally.
  func template(_ node: YAMLNode, _ what: String, inEach: Bool = false) -> Template? {
    guard let text = node.text else {
      nodes.fault(node.mark, "\(what) has to be text, and this is \(node.kind)")
      return nil
    }
    do throws(TemplateSyntaxFault) {
      let template = try Template(parsing: text)
      check(template.variables, node.mark, inEach: inEach)
      return template
    } catch {
      nodes.fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  func expression(_ node: YAMLNode?, _ what: String, inEach: Bool = false) -> Expression? {
    guard let node, let text = nodes.string(node, what) else { return nil }
    do throws(TemplateSyntaxFault) {
      let expression = try ExpressionParser.parse(text)
      check(expression.variables, node.mark, inEach: inEach)
      return expression
    } catch {
      nodes.fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  func pattern(_ node: YAMLNode?, _ what: String) -> BytePattern? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try BytePattern(text) }
  }

  func jsonPath(_ node: YAMLNode?, _ what: String) -> JSONPath? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try JSONPath(text) }
  }

  func xmlPath(_ node: YAMLNode?, _ what: String) -> XMLPath? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try XMLPath(text) }
  }

  private func compiled<Value>(
    _ node: YAMLNode?, _ what: String, _ compile: (String) throws(TemplateSyntaxFault) -> Value
  ) -> Value? {
    guard let node, let text = nodes.string(node, what) else { return nil }
    do throws(TemplateSyntaxFault) {
      return try compile(text)
    } catch {
      nodes.fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  private func check(
    _ variables: [Expression.Variable], _ mark: SourceMark, inEach: Bool
  ) {
    for variable in variables {
      if let complaint = names.complaint(variable, place, inEach: inEach) { nodes.fault(mark, complaint) }
    }
  }

  /// The position of the byte `offset` of a scalar. For text in several lines, or with escapes, only the start is
  /// known.
  private func mark(in node: YAMLNode, at offset: Int) -> SourceMark {
    guard case .scalar(let text, let isPlain) = node.content, node.isVerbatim else { return node.mark }
    let before = String(decoding: text.utf8.prefix(offset), as: UTF8.self).count
    return SourceMark(line: node.mark.line, column: node.mark.column + before + (isPlain ? 0 : 1))
  }

  /// A map of names to templates, in order: headers, parameters, fields.
  func fields(_ node: YAMLNode?, _ what: String) -> [TemplateField] {
    guard let node else { return [] }
    guard let entries = node.entries else {
      nodes.fault(node.mark, "\(what) has to be a map, and this is \(node.kind)")
      return []
    }
    return entries.compactMap { entry in
      let isOptional = entry.key.hasSuffix("?")
      let name = isOptional ? String(entry.key.dropLast()) : entry.key
      guard let value = template(entry.value, "\(what).\(name)") else { return nil }
      return TemplateField(name: name, value: value, isOptional: isOptional)
    }
  }

  /// Headers that the program sets itself, and invalid names, are faults.
  func headers(_ node: YAMLNode?, _ what: String) -> [TemplateField] {
    for entry in node?.entries ?? [] {
      let name = entry.key.hasSuffix("?") ? String(entry.key.dropLast()) : entry.key
      if !name.isHeaderName {
        nodes.fault(entry.keyMark, "\"\(name)\" is not a header name")
      } else if ["host", "content-length", "transfer-encoding", "connection", "expect"].contains(name.lowercased()) {
        nodes.fault(entry.keyMark, "the header \(name) is set by the program")
      }
    }
    return fields(node, what)
  }
}
