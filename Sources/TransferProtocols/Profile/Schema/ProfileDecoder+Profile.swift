import StrictYAML
import TransferModel

/// The top of the tree.
extension ProfileDecoder {
  static let keys = [
    "profile", "name", "base_url", "inputs", "file", "chunk", "auth", "headers", "session", "steps", "errors",
    "on_ambiguous_last",
  ]

  /// nil if there is no usable profile; otherwise everything that could be decoded, and ``faults`` decide.
  mutating func profile(_ root: YAMLNode) -> Profile? {
    guard let map = map(root, "a profile", keys: Self.keys) else { return nil }
    version(map)
    gatherNames(root)
    let inputs = list(map["inputs"], "inputs").compactMap { input($0) }
    let file = fileRules(map["file"])
    let chunk = chunkRules(map["chunk"])
    names.fileHashes = file.hashes.map(\.rawValue)
    names.chunkHashes = chunk.hashes.map(\.rawValue)
    isSingle = chunk.mode == .single
    let steps = steps(map["steps"], map.mark, chunk)
    let text = CanonicalText.of(root)
    let profile = Profile(
      name: name(map), text: text, digest: RunningDigest.of(Array(text.utf8), .sha256), inputs: inputs,
      baseURL: map["base_url"].flatMap { template($0, "base_url", .base) }, file: file, chunk: chunk,
      auth: auth(map["auth"]), headers: headers(map["headers"], "headers", .anywhere),
      session: sessionRules(map["session"]), steps: steps,
      errors: rules(map["errors"], "errors", nil),
      onAmbiguousLast: word(map["on_ambiguous_last"], "on_ambiguous_last") ?? .resend)
    check(profile, map)
    return profile
  }

  private mutating func version(_ map: Map) {
    guard let node = map["profile"] else {
      return fault(map.mark, "the key \"profile\" is missing: write \"profile: 1\" for this version of the schema")
    }
    if node.scalar != .int(1) { fault(node.mark, "the only version of the schema is 1: write \"profile: 1\"") }
  }

  private mutating func name(_ map: Map) -> String {
    guard let node = map["name"] else {
      fault(map.mark, "the key \"name\" is missing")
      return ""
    }
    guard let name = string(node, "name") else { return "" }
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
      default: false
      }
    }
    guard isName, (1...64).contains(name.utf8.count) else {
      fault(node.mark, "a name has 1 to 64 letters, digits, \"-\", \".\" and \"_\"")
      return ""
    }
    return name
  }

  private mutating func input(_ node: YAMLNode) -> ProfileInput? {
    guard let map = map(node, "an input", keys: ["name", "secret", "required", "default", "env"]) else { return nil }
    guard let name = map["name"].flatMap({ string($0, "name") }) else {
      fault(map.mark, "an input needs a name")
      return nil
    }
    let isSecret = bool(map["secret"], "secret", false)
    if isSecret, let node = map["default"] {
      fault(node.mark, "a secret has no default: it would be in the profile")
    }
    // A profile from elsewhere could otherwise choose which variables are sent, and where.
    if let node = map["env"] {
      fault(
        node.mark,
        "a profile cannot take variables of the environment: leave env out, and pass --input \(name)=env:NAME")
    }
    return ProfileInput(
      name: name, isSecret: isSecret, isRequired: bool(map["required"], "required", false),
      byDefault: map["default"].flatMap { string($0, "default") })
  }

  private mutating func fileRules(_ node: YAMLNode?) -> FileRules {
    guard let node, let map = map(node, "file", keys: ["min_size", "max_size", "need_size", "need"]) else {
      return FileRules()
    }
    // Sizes are always known here; the key only documents that the server requires it.
    _ = bool(map["need_size"], "file.need_size", true)
    return FileRules(
      minSize: size(map["min_size"], "file.min_size") ?? 0, maxSize: size(map["max_size"], "file.max_size"),
      hashes: words(map["need"], "file.need"))
  }

  private mutating func chunkRules(_ node: YAMLNode?) -> ChunkRules {
    let keys = [
      "mode", "size", "fixed", "min", "max", "multiple_of", "max_count", "remainder", "number_base", "parallel", "hash",
      "idempotent",
    ]
    var rules = ChunkRules()
    guard let node, let map = map(node, "chunk", keys: keys) else { return rules }
    rules.mode = word(map["mode"], "chunk.mode") ?? rules.mode
    rules.size = chunkSize(map["size"]) ?? rules.size
    rules.isFixed = bool(map["fixed"], "chunk.fixed", false)
    rules.minSize = size(map["min"], "chunk.min") ?? rules.minSize
    rules.maxSize = size(map["max"], "chunk.max") ?? rules.maxSize
    rules.multipleOf = max(1, size(map["multiple_of"], "chunk.multiple_of") ?? 1)
    rules.maxCount = Int(int(map["max_count"], "chunk.max_count", in: 1...1_000_000) ?? Int64(rules.maxCount))
    rules.remainder = word(map["remainder"], "chunk.remainder") ?? rules.remainder
    rules.numberBase = Int(int(map["number_base"], "chunk.number_base", in: 0...1) ?? 1)
    rules.parallel = Int(int(map["parallel"], "chunk.parallel", in: 1...64) ?? Int64(rules.parallel))
    rules.hashes = words(map["hash"], "chunk.hash")
    rules.isIdempotent = bool(map["idempotent"], "chunk.idempotent", true)
    check(rules, map)
    return rules
  }

  private mutating func chunkSize(_ node: YAMLNode?) -> ChunkRules.Size? {
    guard let node else { return nil }
    guard node.entries != nil else { return size(node, "chunk.size").map { .bytes($0) } }
    guard let map = map(node, "chunk.size", keys: ["from"]), let from = map["from"].flatMap({ string($0, "from") })
    else { return nil }
    guard from.hasPrefix("session."), names.session.contains(String(from.dropFirst(8))) else {
      fault(node.mark, "chunk.size comes from a value of the session that a step extracts, and \"\(from)\" is none")
      return nil
    }
    return .session(String(from.dropFirst(8)))
  }

  private mutating func check(_ rules: ChunkRules, _ map: Map) {
    if rules.minSize > rules.maxSize, let node = map["max"] { fault(node.mark, "chunk.max is less than chunk.min") }
    guard case .bytes(let size) = rules.size, let node = map["size"] else { return }
    if size < 1 { fault(node.mark, "chunk.size is zero") }
    if size < rules.minSize || size > rules.maxSize {
      fault(node.mark, "chunk.size is not between chunk.min and chunk.max")
    }
    if size % rules.multipleOf != 0 { fault(node.mark, "chunk.size is not a multiple of chunk.multiple_of") }
  }

  private mutating func auth(_ node: YAMLNode?) -> ProfileAuth {
    guard let node, let map = map(node, "auth", keys: ["headers", "refresh"]) else { return ProfileAuth() }
    return ProfileAuth(
      headers: headers(map["headers"], "auth.headers", .anywhere),
      refresh: map["refresh"].flatMap { step($0, "auth.refresh", nil) })
  }

  private mutating func sessionRules(_ node: YAMLNode?) -> SessionRules {
    guard let node, let map = map(node, "session", keys: ["ttl", "ttl_from", "scope"]) else { return SessionRules() }
    if let scope = map["scope"], scope.text != "file" { fault(scope.mark, "session.scope can only be \"file\"") }
    var rules = SessionRules(ttlMs: duration(map["ttl"], "session.ttl"))
    if let node = map["ttl_from"], let from = string(node, "session.ttl_from") {
      let name = String(from.dropFirst("session.".count))
      if !from.hasPrefix("session.") || !names.session.contains(name) {
        fault(node.mark, "session.ttl_from names a value of the session, and nothing extracts \"\(from)\"")
      }
      rules.ttlFrom = name
    }
    return rules
  }
}
