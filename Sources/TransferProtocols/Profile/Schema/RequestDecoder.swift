import StrictYAML

/// Decodes what the request of a step and the one of its polling have in common.
struct RequestDecoder {
  let templates: TemplateReader
  /// The map of the request, for display.
  let what: String

  private var nodes: NodeReader { templates.nodes }

  func url(_ map: NodeMap) -> Template? {
    nodes.required("url", map, what).flatMap { templates.template($0, "\(what).url") }
  }

  func query(_ map: NodeMap) -> [TemplateField] { templates.fields(map["query"], "\(what).query") }

  func headers(_ map: NodeMap) -> [TemplateField] { templates.headers(map["headers"], "\(what).headers") }

  func method(_ map: NodeMap) -> String {
    guard let node = nodes.required("method", map, what) else { return "" }
    guard let method = node.text, method.isHeaderName, method == method.uppercased(), method.utf8.count <= 20 else {
      nodes.fault(node.mark, "\(what).method is a method of HTTP in capitals: GET, PUT, POST, …")
      return ""
    }
    guard method != "HEAD" || map["body"] == nil else {
      nodes.fault(node.mark, "a HEAD request has no body")
      return method
    }
    return method
  }

  func usesAuth(_ map: NodeMap) -> Bool {
    guard let node = map["auth"] else { return true }
    if node.text == "off" || node.scalar == .bool(false) { return false }
    nodes.fault(node.mark, "the auth of a step can only be \"off\"")
    return true
  }
}
