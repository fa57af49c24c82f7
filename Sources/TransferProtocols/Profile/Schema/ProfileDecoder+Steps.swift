import StrictYAML

/// The steps.
extension ProfileDecoder {
  private static let stepKeys = [
    "when", "method", "url", "query", "headers", "body", "auth", "expect", "timeout", "success", "extract", "offset",
    "have", "poll", "rules", "cache", "idempotent", "in_doubt",
  ]

  mutating func steps(_ node: YAMLNode?, _ mark: SourceMark, _ chunk: ChunkRules) -> [StepName: ProfileStep] {
    guard let node else {
      fault(mark, "the key \"steps\" is missing")
      return [:]
    }
    guard let map = map(node, "steps", keys: StepName.allCases.map(\.rawValue)) else { return [:] }
    var steps: [StepName: ProfileStep] = [:]
    for name in StepName.allCases {
      guard let node = map[name.rawValue] else { continue }
      steps[name] = step(node, "steps.\(name.rawValue)", name)
    }
    if map["chunk"] == nil { fault(map.mark, "the step \"chunk\" is missing: nothing would send the file") }
    return steps
  }

  /// `name` is nil for `auth.refresh`.
  mutating func step(_ node: YAMLNode, _ what: String, _ name: StepName?) -> ProfileStep? {
    guard let map = map(node, what, keys: Self.stepKeys) else { return nil }
    let place = Self.place(name)
    guard let url = required("url", map, what).flatMap({ template($0, "\(what).url", place) }) else { return nil }
    let method = method(map, what)
    if name == .chunk, let node = map["idempotent"] {
      fault(node.mark, "whether a chunk may be sent twice is said once, in chunk.idempotent")
    }
    var step = ProfileStep(
      method: method, url: url,
      isIdempotent: bool(map["idempotent"], "\(what).idempotent", ProfileStep.isIdempotent(method)))
    step.when = when(map["when"], what, name, place)
    if let node = map["in_doubt"], name != .verify { fault(node.mark, "only verify can be asked \"in_doubt\" only") }
    step.isOfDoubt = bool(map["in_doubt"], "\(what).in_doubt", false)
    step.query = fields(map["query"], "\(what).query", place)
    step.headers = headers(map["headers"], "\(what).headers", place)
    step.body = map["body"].map { body($0, what, place) } ?? BodyRules.unnamed(method)
    step.usesAuth = usesAuth(map["auth"])
    step.expect = word(map["expect"], "\(what).expect") ?? .auto
    step.timeout = timeout(map["timeout"], what)
    step.success = success(map["success"], what, name, place)
    step.extract = extracts(map["extract"], what, name, place)
    step.offset = offset(map["offset"], what, name, place)
    step.have = have(map["have"], what, name, place, map.mark)
    step.poll = poll(map["poll"], what, name)
    step.rules = rules(map["rules"], "\(what).rules", name)
    checkCache(map["cache"], what, name)
    return step
  }

  static func place(_ name: StepName?) -> ProfileNames.Place {
    guard let name else { return .anywhere }
    if name == .chunk { return .chunk }
    if name == .makeParent { return .parent }
    return name.isOfChunk ? .chunkAhead : name.isLast ? .last : .anywhere
  }

  /// A step is performed for all chunks of a file or for none, so the condition must not depend on a chunk.
  private mutating func when(
    _ node: YAMLNode?, _ what: String, _ name: StepName?, _ place: ProfileNames.Place
  ) -> Expression? {
    if let node, name == nil {
      fault(node.mark, "\(what) has no \"when\": it is sent whenever there is a reason for it")
      return nil
    }
    return expression(node, "\(what).when", name?.isOfChunk == true ? .anywhere : place)
  }

  private mutating func required(_ key: String, _ map: Map, _ what: String) -> YAMLNode? {
    guard let node = map[key] else {
      fault(map.mark, "\(what) needs the key \"\(key)\"")
      return nil
    }
    return node
  }

  private mutating func method(_ map: Map, _ what: String) -> String {
    guard let node = required("method", map, what) else { return "" }
    guard let method = node.text, method.isHeaderName, method == method.uppercased(), method.utf8.count <= 20 else {
      fault(node.mark, "\(what).method is a method of HTTP in capitals: GET, PUT, POST, …")
      return ""
    }
    guard method != "HEAD" || map["body"] == nil else {
      fault(node.mark, "a HEAD request has no body")
      return method
    }
    return method
  }

  private mutating func usesAuth(_ node: YAMLNode?) -> Bool {
    guard let node else { return true }
    if node.text == "off" || node.scalar == .bool(false) { return false }
    fault(node.mark, "the auth of a step can only be \"off\"")
    return true
  }

  private mutating func timeout(_ node: YAMLNode?, _ what: String) -> StepTimeout {
    guard let node, let map = map(node, "\(what).timeout", keys: ["connect", "idle", "total"]) else {
      return StepTimeout()
    }
    return StepTimeout(
      connectMs: duration(map["connect"], "connect"), idleMs: duration(map["idle"], "idle"),
      totalMs: duration(map["total"], "total"))
  }

  private mutating func success(
    _ node: YAMLNode?, _ what: String, _ name: StepName?, _ place: ProfileNames.Place
  ) -> SuccessRules {
    guard let node, let map = map(node, "\(what).success", keys: ["status", "require"]) else {
      return SuccessRules(status: Self.defaultSuccess(name))
    }
    return SuccessRules(
      status: status(map["status"], "\(what).success.status") ?? Self.defaultSuccess(name),
      requirements: list(map["require"], "\(what).success.require").compactMap { requirement($0, name, place) })
  }

  /// 202 only means that the request may be processed later: steps that store bytes or complete the upload must list it
  /// if it is a success. 206 and 207 are usual answers to queries, but do not report the outcome of a request that
  /// changes something.
  private static func defaultSuccess(_ name: StepName?) -> StatusSet {
    switch name {
    case .chunk, .complete, .commit: StatusSet(ranges: [200...201, 203...205, 209...225, 227...299])
    case .begin, .makeParent, .abort: StatusSet(ranges: [200...205, 209...225, 227...299])
    default: .success
    }
  }

  /// Values of `prepare_chunk` are fetched for each chunk, which is correct for both words: `worker` only permits
  /// sharing them.
  private mutating func checkCache(_ node: YAMLNode?, _ what: String, _ name: StepName?) {
    guard let node else { return }
    if name != .prepareChunk { return fault(node.mark, "only prepare_chunk has a cache") }
    if node.text != "chunk" && node.text != "worker" { fault(node.mark, "\(what).cache is \"chunk\" or \"worker\"") }
  }

  private mutating func poll(_ node: YAMLNode?, _ what: String, _ name: StepName?) -> PollRules? {
    guard let node else { return nil }
    guard let name, name.isLast else {
      fault(node.mark, "only complete, commit and verify can poll")
      return nil
    }
    let keys = ["while", "every", "retry_after", "max", "request"]
    guard let map = map(node, "\(what).poll", keys: keys), let condition = required("while", map, "\(what).poll") else {
      return nil
    }
    var poll = PollRules(condition: self.condition(condition, "\(what).poll.while", Self.place(name)))
    poll.everyMs = max(100, duration(map["every"], "every") ?? poll.everyMs)
    poll.honoursRetryAfter = bool(map["retry_after"], "retry_after", true)
    poll.maxMs = duration(map["max"], "max") ?? poll.maxMs
    poll.request = map["request"].flatMap { pollRequest($0, "\(what).poll.request", Self.place(name)) }
    return poll
  }

  private mutating func pollRequest(_ node: YAMLNode, _ what: String, _ place: ProfileNames.Place) -> PollRequest? {
    guard let map = map(node, what, keys: ["method", "url", "query", "headers", "auth"]),
      let url = required("url", map, what).flatMap({ template($0, "\(what).url", place) })
    else { return nil }
    return PollRequest(
      method: method(map, what), url: url, query: fields(map["query"], "\(what).query", place),
      headers: headers(map["headers"], "\(what).headers", place), usesAuth: usesAuth(map["auth"]))
  }

  // MARK: - What probes and appending chunks say

  private mutating func offset(
    _ node: YAMLNode?, _ what: String, _ name: StepName?, _ place: ProfileNames.Place
  ) -> OffsetRules? {
    if let node, name != .chunk {
      fault(node.mark, "only the step chunk has \"offset\"; the findings of a probe are in its \"have\"")
      return nil
    }
    guard let node, let map = map(node, "\(what).offset", keys: ["from", "when"]),
      let from = required("from", map, "\(what).offset").flatMap({ extraction($0, "\(what).offset.from", place) })
    else { return nil }
    return OffsetRules(from: from, when: map["when"].map { condition($0, "\(what).offset.when", place) })
  }

  private mutating func have(
    _ node: YAMLNode?, _ what: String, _ name: StepName?, _ place: ProfileNames.Place, _ stepMark: SourceMark
  ) -> HaveRules {
    var have = HaveRules()
    guard let node else {
      if name == .probe || name == .probeChunk { fault(stepMark, "\(what) needs the key \"have\"") }
      return have
    }
    guard name == .probe || name == .probeChunk else {
      fault(node.mark, "only probe and probe_chunk have \"have\"")
      return have
    }
    let keys = ["offset", "next", "numbers", "ranges_missing", "exists", "done"]
    guard let map = map(node, "\(what).have", keys: keys) else { return have }
    have.offset = map["offset"].flatMap { extraction($0, "\(what).have.offset", place) }
    have.next = map["next"].flatMap { extraction($0, "\(what).have.next", place) }
    have.numbers = map["numbers"].flatMap { extraction($0, "\(what).have.numbers", place) }
    have.missing = map["ranges_missing"].flatMap {
      extraction($0, "\(what).have.ranges_missing", place, hasFormat: true)
    }
    have.exists = map["exists"].map { condition($0, "\(what).have.exists", place) }
    have.done = map["done"].map { condition($0, "\(what).have.done", place) }
    if (have.exists != nil) != (name == .probeChunk) {
      fault(map.mark, "\"exists\" says whether one chunk is there: it belongs to probe_chunk, which needs it")
    }
    if name == .probe, have.isEmpty { fault(map.mark, "\(what).have says nothing") }
    return have
  }
}
