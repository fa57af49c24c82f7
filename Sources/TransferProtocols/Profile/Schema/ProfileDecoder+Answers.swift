import StrictYAML

/// Extractions, conditions and rules.
extension ProfileDecoder {
  mutating func extracts(
    _ node: YAMLNode?, _ what: String, _ name: StepName?, _ place: ProfileNames.Place
  ) -> [ExtractTarget] {
    guard let node else { return [] }
    guard let entries = node.entries, !entries.isEmpty else {
      fault(node.mark, "\(what).extract extracts nothing: it has to be a map of names to sources")
      return []
    }
    return entries.compactMap { entry in
      let (scopeName, field) = Self.target(entry.key)
      guard let scope = ExtractTarget.Scope(rawValue: scopeName), Self.isName(field) else {
        fault(
          entry.keyMark, "\"\(entry.key)\" is not a place for a value: write session.NAME, part.NAME or result.NAME")
        return nil
      }
      if let complaint = Self.complaint(scope, name) { fault(entry.keyMark, complaint) }
      guard let extraction = extraction(entry.value, "\(what).extract.\(entry.key)", place) else { return nil }
      return ExtractTarget(scope: scope, name: field, extraction: extraction)
    }
  }

  private static func complaint(_ scope: ExtractTarget.Scope, _ name: StepName?) -> String? {
    switch scope {
    case .part where name?.isOfChunk != true: "only steps of a chunk have values of a part"
    case .secret where name != nil: "only auth.refresh has secrets to extract"
    case .session where name == nil, .result where name == nil: "auth.refresh extracts secret.NAME only"
    default: nil
    }
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.enumerated().allSatisfy { i, byte in
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        case 0x30...0x39: i > 0
        default: false
        }
      }
  }

  mutating func extraction(
    _ node: YAMLNode, _ what: String, _ place: ProfileNames.Place, hasFormat: Bool = false
  ) -> Extraction? {
    var keys = ["json", "xml", "header", "status", "regex", "resolve", "plus", "type", "default", "required", "when"]
    if hasFormat { keys.append("format") }
    guard let map = map(node, what, keys: keys), let source = source(map, what) else { return nil }
    if let node = map["resolve"], node.text != "url" { fault(node.mark, "resolve can only be \"url\"") }
    if let node = map["format"], node.text != "start-end" { fault(node.mark, "format can only be \"start-end\"") }
    return Extraction(
      source: source, pattern: pattern(map["regex"], "\(what).regex"), resolvesURL: map["resolve"] != nil,
      plus: int(map["plus"], "plus", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0, kind: word(map["type"], "type"),
      byDefault: map["default"].flatMap { scalarValue($0) }, isRequired: bool(map["required"], "required", false),
      when: expression(map["when"], "\(what).when", place))
  }

  private mutating func source(_ map: Map, _ what: String) -> Extraction.Source? {
    let given = ["json", "xml", "header", "status"].filter { map[$0] != nil }
    guard given.count <= 1 else {
      fault(map.mark, "\(what) has the sources \(given.joined(separator: " and ")); it can have one")
      return nil
    }
    switch given.first {
    case "json"?: return jsonPath(map["json"], "\(what).json").map { .json($0) }
    case "xml"?: return xmlPath(map["xml"], "\(what).xml").map { .xml($0) }
    case "status"?: return .status
    case "header"?:
      guard let node = map["header"], let name = node.text, name.isHeaderName else {
        fault(map["header"]?.mark ?? map.mark, "\(what).header is the name of a header")
        return nil
      }
      return .header(name)
    default:
      guard map["regex"] != nil else {
        fault(map.mark, "\(what) extracts nothing: name json, xml, header, status or regex")
        return nil
      }
      return .body
    }
  }

  private mutating func scalarValue(_ node: YAMLNode) -> TemplateValue? {
    switch node.scalar {
    case .int(let value)?: return .int(value)
    case .bool(let value)?: return .bool(value)
    case .text(let text)?, .number(let text)?: return .string(text)
    case .null?: return nil
    case nil:
      fault(node.mark, "a default is a single value, and this is \(node.kind)")
      return nil
    }
  }

  // MARK: - Conditions

  mutating func status(_ node: YAMLNode?, _ what: String) -> StatusSet? {
    guard let node else { return nil }
    let nodes = node.list ?? [node]
    guard !nodes.isEmpty else {
      fault(node.mark, "\(what) is empty")
      return nil
    }
    return StatusSet(ranges: nodes.compactMap { statusRange($0, what) })
  }

  private mutating func statusRange(_ node: YAMLNode, _ what: String) -> ClosedRange<Int>? {
    let parts = node.text?.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) } ?? []
    guard (1...2).contains(parts.count), let first = parts[0], let last = parts[parts.count - 1],
      first >= 100, last <= 999, first <= last
    else {
      fault(node.mark, "\(what): a status is a number from 100 to 999, or a range such as 200-299")
      return nil
    }
    return first...last
  }

  mutating func condition(_ node: YAMLNode, _ what: String, _ place: ProfileNames.Place) -> Condition {
    let keys = ["status", "json", "xml", "header", "body_regex", "curl", "seen"]
    guard let map = map(node, what, keys: keys) else { return Condition() }
    var condition = Condition(status: status(map["status"], "\(what).status"))
    condition.seen = status(map["seen"], "\(what).seen")
    if let curl = map["curl"] {
      let codes = (curl.list ?? [curl]).compactMap { int($0, "\(what).curl", in: 0...200) }
      condition.curl = Set(codes.map(Int32.init))
    }
    for key in ["json", "xml"] {
      guard let node = map[key] else { continue }
      condition.requirements += (node.list ?? [node]).compactMap { pathRequirement($0, key, "\(what).\(key)", place) }
    }
    if let node = map["header"] { condition.requirements += headerRequirements(node, "\(what).header", place) }
    if let pattern = pattern(map["body_regex"], "\(what).body_regex") {
      condition.requirements.append(Requirement(source: Extraction(source: .body), test: .matches(pattern)))
    }
    if node.entries?.isEmpty == true { fault(node.mark, "\(what) is empty: it would hold for every answer") }
    return condition
  }

  private static let tests = ["eq", "ne", "in", "exists", "matches"]

  /// `{path: $.code, eq: 0}`
  private mutating func pathRequirement(
    _ node: YAMLNode, _ key: String, _ what: String, _ place: ProfileNames.Place
  ) -> Requirement? {
    guard let map = map(node, what, keys: ["path"] + Self.tests) else { return nil }
    let source: Extraction.Source? =
      key == "json"
      ? jsonPath(map["path"], "\(what).path").map { .json($0) } : xmlPath(map["path"], "\(what).path").map { .xml($0) }
    guard let source else {
      if map["path"] == nil { fault(map.mark, "\(what) needs a path") }
      return nil
    }
    return test(map, what, place).map { Requirement(source: Extraction(source: source), test: $0) }
  }

  /// `{X-State: ready}` or `{X-State: {matches: "^r"}}`
  private mutating func headerRequirements(
    _ node: YAMLNode, _ what: String, _ place: ProfileNames.Place
  ) -> [Requirement] {
    guard let entries = node.entries else {
      fault(node.mark, "\(what) has to be a map of headers, and this is \(node.kind)")
      return []
    }
    return entries.compactMap { entry in
      if !entry.key.isHeaderName { fault(entry.keyMark, "\"\(entry.key)\" is not a header name") }
      let source = Extraction(source: .header(entry.key))
      guard entry.value.entries == nil else {
        guard let map = map(entry.value, what, keys: Self.tests) else { return nil }
        return test(map, what, place).map { Requirement(source: source, test: $0) }
      }
      return template(entry.value, what, place).map { Requirement(source: source, test: .equal($0)) }
    }
  }

  /// `{json: $.code, eq: 0}`, `{header: X-State, matches: "^r"}`, `{body_regex: "ok"}`
  mutating func requirement(
    _ node: YAMLNode, _ name: StepName?, _ place: ProfileNames.Place
  ) -> Requirement? {
    let keys = ["json", "xml", "header", "body_regex", "if_present", "in_doubt", "when"]
    guard let map = map(node, "require", keys: keys + Self.tests) else { return nil }
    if let node = map["in_doubt"], name != .verify { fault(node.mark, "only verify has requirements \"in_doubt\"") }
    let isOfDoubt = bool(map["in_doubt"], "in_doubt", false)
    let when = expression(map["when"], "require.when", place)
    if let regex = map["body_regex"] {
      if let other = (["json", "xml", "header", "if_present"] + Self.tests).lazy.compactMap({ map[$0] }).first {
        fault(other.mark, "body_regex cannot be combined with another source or test")
      }
      return pattern(regex, "body_regex").map {
        Requirement(source: Extraction(source: .body, when: when), test: .matches($0), isOfDoubt: isOfDoubt)
      }
    }
    guard let source = source(map, "require") else { return nil }
    let isOptional = bool(map["if_present"], "if_present", false)
    return test(map, "require", place).map {
      Requirement(
        source: Extraction(source: source, when: when), test: $0, isOptional: isOptional, isOfDoubt: isOfDoubt)
    }
  }

  private mutating func test(_ map: Map, _ what: String, _ place: ProfileNames.Place) -> Requirement.Test? {
    let given = Self.tests.filter { map[$0] != nil }
    guard given.count == 1 else {
      let text = "\(what) needs one of \(Self.tests.joined(separator: ", ")), and has \(given.count)"
      fault(map.mark, text + (map["eq"] == nil ? " (a value of null is written as exists: false)" : ""))
      return nil
    }
    if let node = map["eq"] { return template(node, "eq", place).map { .equal($0) } }
    if let node = map["ne"] { return template(node, "ne", place).map { .unequal($0) } }
    if let node = map["in"] { return .oneOf(list(node, "in").compactMap { template($0, "in", place) }) }
    if let node = map["matches"] { return pattern(node, "matches").map { .matches($0) } }
    return .exists(bool(map["exists"], "exists", true))
  }

  // MARK: - Rules

  mutating func rules(_ node: YAMLNode?, _ what: String, _ name: StepName?) -> [ProfileRule] {
    list(node, what).compactMap { rule($0, what, name) }
  }

  private mutating func rule(_ node: YAMLNode, _ what: String, _ name: StepName?) -> ProfileRule? {
    guard let map = map(node, "a rule", keys: ["if", "do", "set", "max", "delay", "note"]) else { return nil }
    guard let when = map["if"], let action: ProfileRule.Action = word(map["do"], "do") else {
      if map["if"] == nil || map["do"] == nil { fault(map.mark, "a rule needs \"if\" and \"do\"") }
      return nil
    }
    var offset: Extraction?
    if let node = map["set"], let set = self.map(node, "set", keys: ["offset"]) {
      offset = set["offset"].flatMap { extraction($0, "set.offset", Self.place(name)) }
    }
    if (offset != nil) != (action == .setOffset) {
      fault(map.mark, "set.offset and \"do: set_offset\" belong together")
    }
    let rule = ProfileRule(
      condition: condition(when, "if", Self.place(name)), action: action, offset: offset,
      most: int(map["max"], "max", in: 1...1_000).map(Int.init), delayMs: duration(map["delay"], "delay"),
      note: map["note"].flatMap { string($0, "note") } ?? "")
    placedRules.append(PlacedRule(rule: rule, what: what, step: name, mark: node.mark))
    return rule
  }
}
