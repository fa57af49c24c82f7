import StrictYAML

/// A rule with its location: rules are checked after all steps are known.
struct PlacedRule {
  var rule: ProfileRule
  /// Its location in the profile, for display.
  var what: String
  /// nil for a common rule, and one of `auth.refresh`.
  var step: StepName?
  var mark: SourceMark
}

/// Decodes the rules of a step, or those for all steps.
struct RuleDecoder {
  let templates: TemplateReader
  /// nil for the common rules, and those of `auth.refresh`.
  let step: StepName?

  private var nodes: NodeReader { templates.nodes }

  func rules(_ node: YAMLNode?, _ what: String) -> [PlacedRule] {
    nodes.list(node, what).compactMap { rule($0, what) }
  }

  private func rule(_ node: YAMLNode, _ what: String) -> PlacedRule? {
    guard let map = nodes.map(node, "a rule", keys: ["if", "do", "set", "max", "delay", "note"]) else { return nil }
    guard let when = map["if"], let action: ProfileRule.Action = nodes.word(map["do"], "do") else {
      if map["if"] == nil || map["do"] == nil { nodes.fault(map.mark, "a rule needs \"if\" and \"do\"") }
      return nil
    }
    var offset: Extraction?
    if let node = map["set"], let set = nodes.map(node, "set", keys: ["offset"]) {
      offset = set["offset"].flatMap { ExtractionDecoder(templates: templates).extraction($0, "set.offset") }
    }
    if (offset != nil) != (action == .setOffset) {
      nodes.fault(map.mark, "set.offset and \"do: set_offset\" belong together")
    }
    let rule = ProfileRule(
      condition: ConditionDecoder(templates: templates).condition(when, "if"), action: action, offset: offset,
      most: nodes.int(map["max"], "max", in: 1...1_000).map(Int.init), delayMs: nodes.duration(map["delay"], "delay"),
      note: map["note"].flatMap { nodes.string($0, "note") } ?? "")
    return PlacedRule(rule: rule, what: what, step: step, mark: node.mark)
  }
}
