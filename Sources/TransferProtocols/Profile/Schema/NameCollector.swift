import StrictYAML

/// A first pass over the tree: collects the names that inputs and extractions define, before a template that may use
/// them is compiled.
struct NameCollector {
  private let nodes: NodeReader
  private var names = ProfileNames()

  /// The names of the profile `root`.
  static func names(in root: YAMLNode, _ nodes: NodeReader) -> ProfileNames {
    var collector = NameCollector(nodes: nodes)
    collector.collect(NodeMap(root))
    return collector.names
  }

  private init(nodes: NodeReader) { self.nodes = nodes }

  private mutating func collect(_ map: NodeMap) {
    for input in map["inputs"]?.list ?? [] { collectInput(NodeMap(input)) }
    for step in map["steps"]?.entries ?? [] { collectExtracted(step.value) }
    if let auth = map["auth"], let refresh = NodeMap(auth)["refresh"] { collectExtracted(refresh) }
  }

  private mutating func collectInput(_ input: NodeMap) {
    guard let node = input["name"], let name = node.text else { return }
    if name == "url" {
      nodes.fault(node.mark, "the input \"url\" is the destination of the batch, and always there")
    } else if !names.inputs.insert(name).inserted {
      nodes.fault(node.mark, "there are two inputs \"\(name)\"")
    }
    if input["secret"]?.scalar == .bool(true) { names.secretInputs.insert(name) }
  }

  private mutating func collectExtracted(_ step: YAMLNode) {
    guard step.entries != nil else { return }
    for entry in NodeMap(step)["extract"]?.entries ?? [] {
      let (scope, name) = ExtractTarget.split(entry.key)
      switch scope {
      case "session": names.session.insert(name)
      case "part": names.part.insert(name)
      case "result": names.result.insert(name)
      case "secret": names.secret.insert(name)
      default: break
      }
    }
  }
}
