import StrictYAML

/// The keys of a map with their nodes.
struct NodeMap {
  let mark: SourceMark
  private let entries: [String: YAMLNode]

  init(_ node: YAMLNode) {
    mark = node.mark
    entries = Dictionary(node.entries?.map { ($0.key, $0.value) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  /// nil also for a key with `null`: it counts as missing.
  subscript(_ key: String) -> YAMLNode? {
    guard let node = entries[key], node.scalar != .null else { return nil }
    return node
  }
}
