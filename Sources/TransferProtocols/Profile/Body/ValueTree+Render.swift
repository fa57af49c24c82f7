import TransferModel

extension ValueTree {
  /// The JSON text. A body that consists of one template is the rendered text itself, which must be JSON.
  func jsonText(_ scope: ProfileScope) throws(RenderFault) -> String {
    guard case .text(let template) = self else { return JSONText.of(try json(scope)) }
    let text = try template.text(scope)
    guard (try? JSONReader.read(Array(text.utf8))) != nil else {
      throw RenderFault(.value, "the body must be JSON, but the rendered text is not")
    }
    return text
  }

  /// Texts become strings, but a template that consists only of `{{… | int}}` becomes a number, and one with `| json`
  /// the parsed value.
  func json(_ scope: ProfileScope) throws(RenderFault) -> JSONValue {
    switch self {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .number(let text): return .number(text)
    case .text(let template): return try Self.json(template, scope)
    case .list(let trees): return .array(try Self.elements(trees, scope))
    case .map(let members):
      var object: [JSONValue.Member] = []
      for member in members { object.append(JSONValue.Member(name: member.name, value: try member.value.json(scope))) }
      return .object(object)
    case .each: return .array(try Self.elements([self], scope))
    }
  }

  /// `$each` expands to any number of elements of the enclosing list.
  private static func elements(_ trees: [ValueTree], _ scope: ProfileScope) throws(RenderFault) -> [JSONValue] {
    var values: [JSONValue] = []
    for tree in trees {
      guard case .each(let list, let element) = tree else {
        values.append(try tree.json(scope))
        continue
      }
      for item in try items(list, scope) {
        var inner = scope
        inner.item = item
        values.append(try element.json(inner))
      }
    }
    return values
  }

  private static func items(_ list: Expression, _ scope: ProfileScope) throws(RenderFault) -> [TemplateValue] {
    guard case .list(let items) = try list.value(scope) else { throw RenderFault(.value, "$each needs a list") }
    return items
  }

  private static func json(_ template: Template, _ scope: ProfileScope) throws(RenderFault) -> JSONValue {
    guard case .filtered(_, let filter)? = template.expression, filter.name == .int || filter.name == .json,
      let expression = template.expression
    else { return .string(try template.text(scope)) }
    let value = try expression.value(scope)
    guard filter.name == .json else { return .int(try value.integer()) }
    guard let json = try? JSONReader.read(value.bytes()) else { throw RenderFault(.value, "the filter json failed") }
    return json
  }

  // MARK: - XML

  /// An XML document: each key of a map is an element, a list repeats its element. A body that consists of one template
  /// is the rendered text itself.
  func xmlText(_ scope: ProfileScope) throws(RenderFault) -> String {
    if case .text(let template) = self { return try template.text(scope) }
    guard case .map(let members) = self, members.count == 1 else {
      throw RenderFault(.value, "an XML body must have exactly one root element")
    }
    var out = ""
    Self.append(members[0].name, try members[0].value.json(scope), to: &out)
    return out
  }

  private static func append(_ name: String, _ value: JSONValue, to out: inout String) {
    if case .array(let values) = value {
      for value in values { append(name, value, to: &out) }
      return
    }
    out += "<\(name)>"
    switch value {
    case .object(let members): for member in members { append(member.name, member.value, to: &out) }
    case .string(let text): out += escaped(text)
    case .null, .array: break
    case .bool, .int, .number: out += JSONText.of(value)
    }
    out += "</\(name)>"
  }

  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "&": out += "&amp;"
      case "\"": out += "&quot;"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
