import StrictYAML

/// Decodes conditions on answers and the requirements of a success.
struct ConditionDecoder {
  let templates: TemplateReader

  private var nodes: NodeReader { templates.nodes }

  func status(_ node: YAMLNode?, _ what: String) -> StatusSet? {
    guard let node else { return nil }
    let ranges = node.list ?? [node]
    guard !ranges.isEmpty else {
      nodes.fault(node.mark, "\(what) is empty")
      return nil
    }
    return StatusSet(ranges: ranges.compactMap { statusRange($0, what) })
  }

  private func statusRange(_ node: YAMLNode, _ what: String) -> ClosedRange<Int>? {
    let parts = node.text?.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) } ?? []
    guard (1...2).contains(parts.count), let first = parts[0], let last = parts[parts.count - 1],
      first >= 100, last <= 999, first <= last
    else {
      nodes.fault(node.mark, "\(what): a status is a number from 100 to 999, or a range such as 200-299")
      return nil
    }
    return first...last
  }

  func condition(_ node: YAMLNode, _ what: String) -> Condition {
    let keys = ["status", "json", "xml", "header", "body_regex", "curl", "seen"]
    guard let map = nodes.map(node, what, keys: keys) else { return Condition() }
    var condition = Condition(status: status(map["status"], "\(what).status"))
    condition.seen = status(map["seen"], "\(what).seen")
    if let curl = map["curl"] {
      let codes = (curl.list ?? [curl]).compactMap { nodes.int($0, "\(what).curl", in: 0...200) }
      condition.curl = Set(codes.map(Int32.init))
    }
    for key in ["json", "xml"] {
      guard let node = map[key] else { continue }
      condition.requirements += (node.list ?? [node]).compactMap { pathRequirement($0, key, "\(what).\(key)") }
    }
    if let node = map["header"] { condition.requirements += headerRequirements(node, "\(what).header") }
    if let pattern = templates.pattern(map["body_regex"], "\(what).body_regex") {
      condition.requirements.append(Requirement(source: Extraction(source: .body), test: .matches(pattern)))
    }
    if node.entries?.isEmpty == true { nodes.fault(node.mark, "\(what) is empty: it would hold for every answer") }
    return condition
  }

  private static let tests = ["eq", "ne", "in", "exists", "matches"]

  /// `{path: $.code, eq: 0}`
  private func pathRequirement(_ node: YAMLNode, _ key: String, _ what: String) -> Requirement? {
    guard let map = nodes.map(node, what, keys: ["path"] + Self.tests) else { return nil }
    let source: Extraction.Source? =
      key == "json"
      ? templates.jsonPath(map["path"], "\(what).path").map { .json($0) }
      : templates.xmlPath(map["path"], "\(what).path").map { .xml($0) }
    guard let source else {
      if map["path"] == nil { nodes.fault(map.mark, "\(what) needs a path") }
      return nil
    }
    return test(map, what).map { Requirement(source: Extraction(source: source), test: $0) }
  }

  /// `{X-State: ready}` or `{X-State: {matches: "^r"}}`
  private func headerRequirements(_ node: YAMLNode, _ what: String) -> [Requirement] {
    guard let entries = node.entries else {
      nodes.fault(node.mark, "\(what) has to be a map of headers, and this is \(node.kind)")
      return []
    }
    return entries.compactMap { entry in
      if !entry.key.isHeaderName { nodes.fault(entry.keyMark, "\"\(entry.key)\" is not a header name") }
      let source = Extraction(source: .header(entry.key))
      guard entry.value.entries == nil else {
        guard let map = nodes.map(entry.value, what, keys: Self.tests) else { return nil }
        return test(map, what).map { Requirement(source: source, test: $0) }
      }
      return templates.template(entry.value, what).map { Requirement(source: source, test: .equal($0)) }
    }
  }

  /// `{json: $.code, eq: 0}`, `{header: X-State, matches: "^r"}`, `{body_regex: "ok"}`
  func requirement(_ node: YAMLNode, _ name: StepName?) -> Requirement? {
    let keys = ["json", "xml", "header", "body_regex", "if_present", "in_doubt", "when"]
    guard let map = nodes.map(node, "require", keys: keys + Self.tests) else { return nil }
    if let node = map["in_doubt"], name != .verify {
      nodes.fault(node.mark, "only verify has requirements \"in_doubt\"")
    }
    let isOfDoubt = nodes.bool(map["in_doubt"], "in_doubt", false)
    let when = templates.expression(map["when"], "require.when")
    if let regex = map["body_regex"] {
      if let other = (["json", "xml", "header", "if_present"] + Self.tests).lazy.compactMap({ map[$0] }).first {
        nodes.fault(other.mark, "body_regex cannot be combined with another source or test")
      }
      return templates.pattern(regex, "body_regex").map {
        Requirement(source: Extraction(source: .body, when: when), test: .matches($0), isOfDoubt: isOfDoubt)
      }
    }
    guard let source = ExtractionDecoder(templates: templates).source(map, "require") else { return nil }
    let isOptional = nodes.bool(map["if_present"], "if_present", false)
    return test(map, "require").map {
      Requirement(
        source: Extraction(source: source, when: when), test: $0, isOptional: isOptional, isOfDoubt: isOfDoubt)
    }
  }

  private func test(_ map: NodeMap, _ what: String) -> Requirement.Test? {
    let given = Self.tests.filter { map[$0] != nil }
    guard given.count == 1 else {
      let text = "\(what) needs one of \(Self.tests.joined(separator: ", ")), and has \(given.count)"
      nodes.fault(map.mark, text + (map["eq"] == nil ? " (a value of null is written as exists: false)" : ""))
      return nil
    }
    if let node = map["eq"] { return templates.template(node, "eq").map { .equal($0) } }
    if let node = map["ne"] { return templates.template(node, "ne").map { .unequal($0) } }
    if let node = map["in"] { return .oneOf(nodes.list(node, "in").compactMap { templates.template($0, "in") }) }
    if let node = map["matches"] { return templates.pattern(node, "matches").map { .matches($0) } }
    return .exists(nodes.bool(map["exists"], "exists", true))
  }
}
