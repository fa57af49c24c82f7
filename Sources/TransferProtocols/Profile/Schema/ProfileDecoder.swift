import StrictYAML
import TransferModel

/// Converts the tree of a profile to a ``Profile``; the sections have decoders of their own.
///
/// Each of them returns nil (or a default) after it recorded a fault, and the others continue: one run shows all
/// faults.
struct ProfileDecoder {
  static let keys = [
    "profile", "name", "base_url", "inputs", "file", "chunk", "auth", "headers", "session", "steps", "errors",
    "on_ambiguous_last",
  ]

  private let nodes = NodeReader(faults: FoundFaults())

  /// In text order.
  var sortedFaults: [YAMLFault] { nodes.faults.sorted }

  /// nil if there is no usable profile; otherwise everything that could be decoded, and ``sortedFaults`` decide.
  func profile(_ root: YAMLNode) -> Profile? {
    guard let map = nodes.map(root, "a profile", keys: Self.keys) else { return nil }
    version(map)
    var names = NameCollector.names(in: root, nodes)
    let inputs = nodes.list(map["inputs"], "inputs").compactMap { input($0) }
    let file = fileRules(map["file"])
    let chunk = ChunkRulesDecoder(nodes: nodes, sessionNames: names.session).rules(map["chunk"])
    names.fileHashes = file.hashes.map(\.rawValue)
    names.chunkHashes = chunk.hashes.map(\.rawValue)
    let templates = TemplateReader(nodes: nodes, names: names, place: .anywhere)
    let isSingle = chunk.mode == .single
    let steps = steps(map["steps"], map.mark, templates, isSingle: isSingle)
    let text = CanonicalText.of(root)
    let name = name(map)
    let baseURL = map["base_url"].flatMap { templates.at(.base).template($0, "base_url") }
    let (auth, authRules) = auth(map["auth"], templates, isSingle: isSingle)
    let headers = templates.headers(map["headers"], "headers")
    let session = sessionRules(map["session"], names)
    let errors = RuleDecoder(templates: templates, step: nil).rules(map["errors"], "errors")
    let profile = Profile(
      name: name, text: text, digest: RunningDigest.of(Array(text.utf8), .sha256), inputs: inputs, baseURL: baseURL,
      file: file, chunk: chunk, auth: auth, headers: headers, session: session, steps: steps.mapValues(\.step),
      errors: errors.map(\.rule),
      onAmbiguousLast: nodes.word(map["on_ambiguous_last"], "on_ambiguous_last") ?? .resend)
    let stepRules = StepName.allCases.flatMap { steps[$0]?.rules ?? [] }
    ProfileSense(nodes: nodes, profile: profile).check(map, stepRules + authRules + errors)
    return profile
  }

  private func steps(
    _ node: YAMLNode?, _ mark: SourceMark, _ templates: TemplateReader, isSingle: Bool
  ) -> [StepName: DecodedStep] {
    guard let node else {
      nodes.fault(mark, "the key \"steps\" is missing")
      return [:]
    }
    guard let map = nodes.map(node, "steps", keys: StepName.allCases.map(\.rawValue)) else { return [:] }
    var steps: [StepName: DecodedStep] = [:]
    for name in StepName.allCases {
      guard let node = map[name.rawValue] else { continue }
      steps[name] = StepDecoder(name, "steps.\(name.rawValue)", templates, isSingle: isSingle).step(node)
    }
    if map["chunk"] == nil { nodes.fault(map.mark, "the step \"chunk\" is missing: nothing would send the file") }
    return steps
  }

  private func version(_ map: NodeMap) {
    guard let node = map["profile"] else {
      return nodes.fault(
        map.mark, "the key \"profile\" is missing: write \"profile: 1\" for this version of the schema")
    }
    if node.scalar != .int(1) { nodes.fault(node.mark, "the only version of the schema is 1: write \"profile: 1\"") }
  }

  private func name(_ map: NodeMap) -> String {
    guard let node = map["name"] else {
      nodes.fault(map.mark, "the key \"name\" is missing")
      return ""
    }
    guard let name = nodes.string(node, "name") else { return "" }
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
      default: false
      }
    }
    guard isName, (1...64).contains(name.utf8.count) else {
      nodes.fault(node.mark, "a name has 1 to 64 letters, digits, \"-\", \".\" and \"_\"")
      return ""
    }
    return name
  }

  private func input(_ node: YAMLNode) -> ProfileInput? {
    guard let map = nodes.map(node, "an input", keys: ["name", "secret", "required", "default", "env"]) else {
      return nil
    }
    guard let name = map["name"].flatMap({ nodes.string($0, "name") }) else {
      nodes.fault(map.mark, "an input needs a name")
      return nil
    }
    let isSecret = nodes.bool(map["secret"], "secret", false)
    if isSecret, let node = map["default"] {
      nodes.fault(node.mark, "a secret has no default: it would be in the profile")
    }
    // A profile from elsewhere could otherwise choose which variables are sent, and where.
    if let node = map["env"] {
      nodes.fault(
        node.mark,
        "a profile cannot take variables of the environment: leave env out, and pass --input \(name)=env:NAME")
    }
    return ProfileInput(
      name: name, isSecret: isSecret, isRequired: nodes.bool(map["required"], "required", false),
      byDefault: map["default"].flatMap { nodes.string($0, "default") })
  }

  private func fileRules(_ node: YAMLNode?) -> FileRules {
    guard let node, let map = nodes.map(node, "file", keys: ["min_size", "max_size", "need_size", "need"]) else {
      return FileRules()
    }
    // Sizes are always known here; the key only documents that the server requires it.
    _ = nodes.bool(map["need_size"], "file.need_size", true)
    return FileRules(
      minSize: nodes.size(map["min_size"], "file.min_size") ?? 0, maxSize: nodes.size(map["max_size"], "file.max_size"),
      hashes: nodes.words(map["need"], "file.need"))
  }

  /// Also the rules of `auth.refresh`.
  private func auth(_ node: YAMLNode?, _ templates: TemplateReader, isSingle: Bool) -> (ProfileAuth, [PlacedRule]) {
    guard let node, let map = nodes.map(node, "auth", keys: ["headers", "refresh"]) else { return (ProfileAuth(), []) }
    let headers = templates.headers(map["headers"], "auth.headers")
    let refresh = map["refresh"].flatMap { StepDecoder(nil, "auth.refresh", templates, isSingle: isSingle).step($0) }
    return (ProfileAuth(headers: headers, refresh: refresh?.step), refresh?.rules ?? [])
  }

  private func sessionRules(_ node: YAMLNode?, _ names: ProfileNames) -> SessionRules {
    guard let node, let map = nodes.map(node, "session", keys: ["ttl", "ttl_from", "scope"]) else {
      return SessionRules()
    }
    if let scope = map["scope"], scope.text != "file" { nodes.fault(scope.mark, "session.scope can only be \"file\"") }
    var rules = SessionRules(ttlMs: nodes.duration(map["ttl"], "session.ttl"))
    if let node = map["ttl_from"], let from = nodes.string(node, "session.ttl_from") {
      let name = String(from.dropFirst("session.".count))
      if !from.hasPrefix("session.") || !names.session.contains(name) {
        nodes.fault(node.mark, "session.ttl_from names a value of the session, and nothing extracts \"\(from)\"")
      }
      rules.ttlFrom = name
    }
    return rules
  }
}
