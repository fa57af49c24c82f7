import StrictYAML

/// A first pass over the tree: collects the names that inputs and extractions define.
extension ProfileDecoder {
  mutating func gatherNames(_ root: YAMLNode) {
    let map = Map(root)
    for input in map["inputs"]?.list ?? [] {
      let fields = Map(input)
      guard let node = fields["name"], let name = node.text else { continue }
      if name == "url" {
        fault(node.mark, "the input \"url\" is the destination of the batch, and always there")
      } else if !names.inputs.insert(name).inserted {
        fault(node.mark, "there are two inputs \"\(name)\"")
      }
      if fields["secret"]?.scalar == .bool(true) { names.secretInputs.insert(name) }
    }
    for step in map["steps"]?.entries ?? [] { gatherExtracted(step.value) }
    if let auth = map["auth"], let refresh = Map(auth)["refresh"] { gatherExtracted(refresh) }
  }

  private mutating func gatherExtracted(_ step: YAMLNode) {
    guard step.entries != nil else { return }
    for entry in Map(step)["extract"]?.entries ?? [] {
      let (scope, name) = Self.target(entry.key)
      switch scope {
      case "session": names.session.insert(name)
      case "part": names.part.insert(name)
      case "result": names.result.insert(name)
      case "secret": names.secret.insert(name)
      default: break
      }
    }
  }

  /// Splits `session.token` in two.
  static func target(_ key: String) -> (scope: String, name: String) {
    let parts = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return (parts[0], parts.count > 1 ? parts[1] : "")
  }
}
