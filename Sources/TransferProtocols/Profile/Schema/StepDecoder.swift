import StrictYAML

/// A step, and its rules with their locations.
struct DecodedStep {
  var step: ProfileStep
  var rules: [PlacedRule]
}

/// Decodes one step.
struct StepDecoder {
  private static let keys = [
    "when", "method", "url", "query", "headers", "body", "auth", "expect", "timeout", "success", "extract", "offset",
    "have", "poll", "rules", "cache", "idempotent", "in_doubt",
  ]

  /// nil for `auth.refresh`.
  private let name: StepName?
  private let what: String
  private let templates: TemplateReader
  private let isSingle: Bool

  private var nodes: NodeReader { templates.nodes }

  /// - Parameters:
  ///   - what: the step, for display.
  ///   - isSingle: whether a chunk is always the whole file.
  init(_ name: StepName?, _ what: String, _ templates: TemplateReader, isSingle: Bool) {
    self.name = name
    self.what = what
    self.templates = templates.at(ProfileNames.Place(of: name))
    self.isSingle = isSingle
  }

  func step(_ node: YAMLNode) -> DecodedStep? {
    guard let map = nodes.map(node, what, keys: Self.keys), var step = request(map) else { return nil }
    step.success = success(map["success"])
    step.extract = ExtractionDecoder(templates: templates).extracts(map["extract"], what, name)
    let bytes = HaveDecoder(templates: templates, what: what, step: name)
    step.offset = bytes.offset(map["offset"])
    step.have = bytes.have(map["have"], map.mark)
    step.poll = poll(map["poll"])
    let rules = RuleDecoder(templates: templates, step: name).rules(map["rules"], "\(what).rules")
    step.rules = rules.map(\.rule)
    checkCache(map["cache"])
    return DecodedStep(step: step, rules: rules)
  }

  /// The request, without what its answers mean.
  private func request(_ map: NodeMap) -> ProfileStep? {
    let requests = RequestDecoder(templates: templates, what: what)
    guard let url = requests.url(map) else { return nil }
    let method = requests.method(map)
    if name == .chunk, let node = map["idempotent"] {
      nodes.fault(node.mark, "whether a chunk may be sent twice is said once, in chunk.idempotent")
    }
    var step = ProfileStep(
      method: method, url: url,
      isIdempotent: nodes.bool(map["idempotent"], "\(what).idempotent", ProfileStep.isIdempotent(method)))
    step.when = when(map["when"])
    if let node = map["in_doubt"], name != .verify {
      nodes.fault(node.mark, "only verify can be asked \"in_doubt\" only")
    }
    step.isOfDoubt = nodes.bool(map["in_doubt"], "\(what).in_doubt", false)
    step.query = requests.query(map)
    step.headers = requests.headers(map)
    let bodies = BodyDecoder(templates: templates, what: what, isSingle: isSingle)
    step.body = map["body"].map { bodies.body($0) } ?? BodyRules.unnamed(method)
    step.usesAuth = requests.usesAuth(map)
    step.expect = nodes.word(map["expect"], "\(what).expect") ?? .auto
    step.timeout = timeout(map["timeout"])
    return step
  }

  /// A step is performed for all chunks of a file or for none, so the condition must not depend on a chunk.
  private func when(_ node: YAMLNode?) -> Expression? {
    if let node, name == nil {
      nodes.fault(node.mark, "\(what) has no \"when\": it is sent whenever there is a reason for it")
      return nil
    }
    let templates = name?.isOfChunk == true ? templates.at(.anywhere) : templates
    return templates.expression(node, "\(what).when")
  }

  private func timeout(_ node: YAMLNode?) -> StepTimeout {
    guard let node, let map = nodes.map(node, "\(what).timeout", keys: ["connect", "idle", "total"]) else {
      return StepTimeout()
    }
    return StepTimeout(
      connectMs: nodes.duration(map["connect"], "connect"), idleMs: nodes.duration(map["idle"], "idle"),
      totalMs: nodes.duration(map["total"], "total"))
  }

  private func success(_ node: YAMLNode?) -> SuccessRules {
    guard let node, let map = nodes.map(node, "\(what).success", keys: ["status", "require"]) else {
      return SuccessRules(status: defaultSuccess)
    }
    let conditions = ConditionDecoder(templates: templates)
    return SuccessRules(
      status: conditions.status(map["status"], "\(what).success.status") ?? defaultSuccess,
      requirements: nodes.list(map["require"], "\(what).success.require").compactMap {
        conditions.requirement($0, name)
      })
  }

  /// 202 only means that the request may be processed later: steps that store bytes or complete the upload must list it
  /// if it is a success. 206 and 207 are usual answers to queries, but do not report the outcome of a request that
  /// changes something.
  private var defaultSuccess: StatusSet {
    switch name {
    case .chunk, .complete, .commit: StatusSet(ranges: [200...201, 203...205, 209...225, 227...299])
    case .begin, .makeParent, .abort: StatusSet(ranges: [200...205, 209...225, 227...299])
    default: .success
    }
  }

  private func poll(_ node: YAMLNode?) -> PollRules? {
    guard let node else { return nil }
    guard name?.isLast == true else {
      nodes.fault(node.mark, "only complete, commit and verify can poll")
      return nil
    }
    return PollDecoder(templates: templates, what: what).poll(node)
  }

  /// Values of `prepare_chunk` are fetched for each chunk, which is correct for both words: `worker` only permits
  /// sharing them.
  private func checkCache(_ node: YAMLNode?) {
    guard let node else { return }
    if name != .prepareChunk { return nodes.fault(node.mark, "only prepare_chunk has a cache") }
    if node.text != "chunk" && node.text != "worker" {
      nodes.fault(node.mark, "\(what).cache is \"chunk\" or \"worker\"")
    }
  }
}
