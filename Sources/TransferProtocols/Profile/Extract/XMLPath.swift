/// A path in an XML document, of local names: `/Result/UploadId`, `//response/href`; `//` means at any depth.
struct XMLPath: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    var name: String
    var isDeep: Bool
  }

  let source: String
  let steps: [Step]

  init(_ source: String) throws(TemplateSyntaxFault) {
    guard source.hasPrefix("/") else {
      throw TemplateSyntaxFault(offset: 0, message: "an XML path must begin with \"/\"")
    }
    var steps: [Step] = []
    var isDeep = false
    for part in source.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard !part.isEmpty else {
        guard !isDeep else { throw TemplateSyntaxFault(offset: 0, message: "an element is missing between slashes") }
        isDeep = true
        continue
      }
      steps.append(Step(name: String(part), isDeep: isDeep))
      isDeep = false
    }
    guard !isDeep, !steps.isEmpty else { throw TemplateSyntaxFault(offset: 0, message: "an element is missing") }
    self.source = source
    self.steps = steps
  }

  /// The texts of all matching elements, in order.
  func texts(in root: XMLElement) -> [String] {
    // A parent of the root, so that the first step is like the others.
    var found = [XMLElement(name: "", children: [root])]
    for step in steps { found = found.flatMap { Self.children(of: $0, step) } }
    return found.map { String($0.text.trimmed) }
  }

  private static func children(of element: XMLElement, _ step: Step) -> [XMLElement] {
    element.children.flatMap { child -> [XMLElement] in
      let own = child.name == step.name ? [child] : []
      return step.isDeep ? own + children(of: child, step) : own
    }
  }
}

extension String {
  fileprivate var trimmed: Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == "\r\n" }
    var rest = self[...].drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
    return rest
  }
}
