import StrictYAML

/// Decodes how files are divided.
struct ChunkRulesDecoder {
  let nodes: NodeReader
  /// The values of the session that steps extract.
  let sessionNames: Set<String>

  func rules(_ node: YAMLNode?) -> ChunkRules {
    let keys = [
      "mode", "size", "fixed", "min", "max", "multiple_of", "max_count", "remainder", "number_base", "parallel", "hash",
      "idempotent",
    ]
    var rules = ChunkRules()
    guard let node, let map = nodes.map(node, "chunk", keys: keys) else { return rules }
    rules.mode = nodes.word(map["mode"], "chunk.mode") ?? rules.mode
    rules.size = size(map["size"]) ?? rules.size
    rules.isFixed = nodes.bool(map["fixed"], "chunk.fixed", false)
    rules.minSize = nodes.size(map["min"], "chunk.min") ?? rules.minSize
    rules.maxSize = nodes.size(map["max"], "chunk.max") ?? rules.maxSize
    rules.multipleOf = max(1, nodes.size(map["multiple_of"], "chunk.multiple_of") ?? 1)
    rules.maxCount = Int(nodes.int(map["max_count"], "chunk.max_count", in: 1...1_000_000) ?? Int64(rules.maxCount))
    rules.remainder = nodes.word(map["remainder"], "chunk.remainder") ?? rules.remainder
    rules.numberBase = Int(nodes.int(map["number_base"], "chunk.number_base", in: 0...1) ?? 1)
    rules.parallel = Int(nodes.int(map["parallel"], "chunk.parallel", in: 1...64) ?? Int64(rules.parallel))
    rules.hashes = nodes.words(map["hash"], "chunk.hash")
    rules.isIdempotent = nodes.bool(map["idempotent"], "chunk.idempotent", true)
    check(rules, map)
    return rules
  }

  private func size(_ node: YAMLNode?) -> ChunkRules.Size? {
    guard let node else { return nil }
    guard node.entries != nil else { return nodes.size(node, "chunk.size").map { .bytes($0) } }
    guard let map = nodes.map(node, "chunk.size", keys: ["from"]),
      let from = map["from"].flatMap({ nodes.string($0, "from") })
    else { return nil }
    guard from.hasPrefix("session."), sessionNames.contains(String(from.dropFirst(8))) else {
      nodes.fault(
        node.mark, "chunk.size comes from a value of the session that a step extracts, and \"\(from)\" is none")
      return nil
    }
    return .session(String(from.dropFirst(8)))
  }

  private func check(_ rules: ChunkRules, _ map: NodeMap) {
    if rules.minSize > rules.maxSize, let node = map["max"] {
      nodes.fault(node.mark, "chunk.max is less than chunk.min")
    }
    guard case .bytes(let size) = rules.size, let node = map["size"] else { return }
    if size < 1 { nodes.fault(node.mark, "chunk.size is zero") }
    if size < rules.minSize || size > rules.maxSize {
      nodes.fault(node.mark, "chunk.size is not between chunk.min and chunk.max")
    }
    if size % rules.multipleOf != 0 { nodes.fault(node.mark, "chunk.size is not a multiple of chunk.multiple_of") }
  }
}
