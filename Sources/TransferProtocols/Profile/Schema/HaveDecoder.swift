import StrictYAML

/// Decodes what the answers of probes and of appending chunks say about the server's bytes.
struct HaveDecoder {
  let templates: TemplateReader
  /// The step, for display.
  let what: String
  /// nil for `auth.refresh`.
  let step: StepName?

  private var nodes: NodeReader { templates.nodes }

  func offset(_ node: YAMLNode?) -> OffsetRules? {
    if let node, step != .chunk {
      nodes.fault(node.mark, "only the step chunk has \"offset\"; the findings of a probe are in its \"have\"")
      return nil
    }
    guard let node, let map = nodes.map(node, "\(what).offset", keys: ["from", "when"]),
      let from = nodes.required("from", map, "\(what).offset").flatMap({ extraction($0, "offset.from") })
    else { return nil }
    return OffsetRules(from: from, when: map["when"].map { condition($0, "offset.when") })
  }

  func have(_ node: YAMLNode?, _ stepMark: SourceMark) -> HaveRules {
    var have = HaveRules()
    guard let node else {
      if step == .probe || step == .probeChunk { nodes.fault(stepMark, "\(what) needs the key \"have\"") }
      return have
    }
    guard step == .probe || step == .probeChunk else {
      nodes.fault(node.mark, "only probe and probe_chunk have \"have\"")
      return have
    }
    let keys = ["offset", "next", "numbers", "ranges_missing", "exists", "done"]
    guard let map = nodes.map(node, "\(what).have", keys: keys) else { return have }
    have.offset = map["offset"].flatMap { extraction($0, "have.offset") }
    have.next = map["next"].flatMap { extraction($0, "have.next") }
    have.numbers = map["numbers"].flatMap { extraction($0, "have.numbers") }
    have.missing = map["ranges_missing"].flatMap { extraction($0, "have.ranges_missing", hasFormat: true) }
    have.exists = map["exists"].map { condition($0, "have.exists") }
    have.done = map["done"].map { condition($0, "have.done") }
    if (have.exists != nil) != (step == .probeChunk) {
      nodes.fault(map.mark, "\"exists\" says whether one chunk is there: it belongs to probe_chunk, which needs it")
    }
    if step == .probe, have.isEmpty { nodes.fault(map.mark, "\(what).have says nothing") }
    return have
  }

  private func extraction(_ node: YAMLNode, _ key: String, hasFormat: Bool = false) -> Extraction? {
    ExtractionDecoder(templates: templates).extraction(node, "\(what).\(key)", hasFormat: hasFormat)
  }

  private func condition(_ node: YAMLNode, _ key: String) -> Condition {
    ConditionDecoder(templates: templates).condition(node, "\(what).\(key)")
  }
}
