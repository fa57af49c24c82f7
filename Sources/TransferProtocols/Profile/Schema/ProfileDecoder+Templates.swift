import StrictYAML

/// Decodes templates, expressions and patterns, and locates faults in them.
extension ProfileDecoder {
  /// Text with `{{…}}`. Numbers and `true` are taken literally.
  mutating func template(
    _ node: YAMLNode, _ what: String, _ place: ProfileNames.Place, inEach: Bool = false
  ) -> Template? {
    guard let text = node.text else {
      fault(node.mark, "\(what) has to be text, and this is \(node.kind)")
      return nil
    }
    do throws(TemplateSyntaxFault) {
      let template = try Template(parsing: text)
      check(template.variables, node.mark, place, inEach: inEach)
      return template
    } catch {
      fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  mutating func expression(
    _ node: YAMLNode?, _ what: String, _ place: ProfileNames.Place, inEach: Bool = false
  ) -> Expression? {
    guard let node, let text = string(node, what) else { return nil }
    do throws(TemplateSyntaxFault) {
      let expression = try ExpressionParser.parse(text)
      check(expression.variables, node.mark, place, inEach: inEach)
      return expression
    } catch {
      fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  mutating func pattern(_ node: YAMLNode?, _ what: String) -> BytePattern? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try BytePattern(text) }
  }

  mutating func jsonPath(_ node: YAMLNode?, _ what: String) -> JSONPath? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try JSONPath(text) }
  }

  mutating func xmlPath(_ node: YAMLNode?, _ what: String) -> XMLPath? {
    compiled(node, what) { text throws(TemplateSyntaxFault) in try XMLPath(text) }
  }

  private mutating func compiled<Value>(
    _ node: YAMLNode?, _ what: String, _ compile: (String) throws(TemplateSyntaxFault) -> Value
  ) -> Value? {
    guard let node, let text = string(node, what) else { return nil }
    do throws(TemplateSyntaxFault) {
      return try compile(text)
    } catch {
      fault(mark(in: node, at: error.offset), "\(what): \(error.message)")
      return nil
    }
  }

  private mutating func check(
    _ variables: [Expression.Variable], _ mark: SourceMark, _ place: ProfileNames.Place, inEach: Bool
  ) {
    for variable in variables {
      if let complaint = names.complaint(variable, place, inEach: inEach) { fault(mark, complaint) }
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
  mutating func fields(_ node: YAMLNode?, _ what: String, _ place: ProfileNames.Place) -> [TemplateField] {
    guard let node else { return [] }
    guard let entries = node.entries else {
      fault(node.mark, "\(what) has to be a map, and this is \(node.kind)")
      return []
    }
    return entries.compactMap { entry in
      let isOptional = entry.key.hasSuffix("?")
      let name = isOptional ? String(entry.key.dropLast()) : entry.key
      guard let value = template(entry.value, "\(what).\(name)", place) else { return nil }
      return TemplateField(name: name, value: value, isOptional: isOptional)
    }
  }

  /// Headers that the program sets itself, and invalid names, are faults.
  mutating func headers(_ node: YAMLNode?, _ what: String, _ place: ProfileNames.Place) -> [TemplateField] {
    for entry in node?.entries ?? [] {
      let name = entry.key.hasSuffix("?") ? String(entry.key.dropLast()) : entry.key
      if !name.isHeaderName {
        fault(entry.keyMark, "\"\(name)\" is not a header name")
      } else if ["host", "content-length", "transfer-encoding", "connection", "expect"].contains(name.lowercased()) {
        fault(entry.keyMark, "the header \(name) is set by the program")
      }
    }
    return fields(node, what, place)
  }
}

extension String {
  /// A token of RFC 9110 section 5.6.2.
  var isHeaderName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
      }
  }
}
