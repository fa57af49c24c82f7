import HTTPTypes
import TransferModel

extension ProfileProtocol {
  /// Names in ``LearnedFacts/discovered``: whether `auth.refresh` is due, and the values that it extracted.
  static let refreshIsDue = "refresh"
  static func secret(_ name: String) -> String { LearnedFacts.secretPrefix + name }

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    guard let (name, described) = described(step) else {
      throw Failure(.protoUnsupported, "the profile \"\(profile.name)\" has no step to \(step.operation.rawValue)")
    }
    let scope = scope(step, facts, context)
    let source = source(name, described, facts)
    do throws(RenderFault) {
      let rendered = try RenderedRequest(source, of: profile, scope, uid: facts.file.uid)
      let namedBy = try trust(rendered, source, scope)
      var request = try transferRequest(rendered, name, described)
      if namedBy == .server { request.addresses = .public(unlessOf: origin.description) }
      return request
    } catch {
      var failure = error.failure
      failure.message = "the step \(name?.rawValue ?? "auth.refresh") of the profile cannot be sent: \(failure.message)"
      throw failure
    }
  }

  /// The step of the profile for a step of the engine; its name is nil for `auth.refresh`.
  func described(_ step: StepRequest) -> (StepName?, ProfileStep)? {
    let name: StepName? =
      switch step {
      case .create: .begin
      case .probe: .probe
      case .chunk: .chunk
      case .prepareChunk: .prepareChunk
      case .probeChunk: .probeChunk
      case .finish: finishName
      case .save: saveName
      case .verify: .verify
      case .abort: .abort
      case .discover: nil
      case .makeParent: .makeParent
      }
    if case .discover = step { return profile.auth.refresh.map { (nil, $0) } }
    guard let name, let described = profile.step(name) else { return nil }
    return (name, described)
  }

  /// A polling step uses the request of its `poll`, if there is one.
  private func source(_ name: StepName?, _ step: ProfileStep, _ facts: TransferFacts) -> RenderedRequest.Source {
    if let name, let poll = step.poll?.request, SessionNotes(facts.session?.notes ?? [:]).pollsSinceMs(name) != nil {
      return RenderedRequest.Source(
        method: poll.method, url: poll.url, query: poll.query, headers: poll.headers, usesAuth: poll.usesAuth)
    }
    return RenderedRequest.Source(
      method: step.method, url: step.url, query: step.query, headers: step.headers, usesAuth: step.usesAuth,
      body: step.body)
  }

  private func transferRequest(
    _ rendered: RenderedRequest, _ name: StepName?, _ step: ProfileStep
  ) throws(RenderFault) -> TransferRequest {
    var fields = HTTPFields()
    for header in rendered.headers {
      guard let name = HTTPField.Name(header.name) else { throw RenderFault(.value, "\(header.name) is not a header") }
      fields.append(HTTPField(name: name, value: header.value))
    }
    if step.expect == .on { fields[.expect] = "100-continue" }
    guard let method = HTTPRequest.Method(rendered.method) else {
      throw RenderFault(.value, "\(rendered.method) is not a method")
    }
    var request = TransferRequest(method: method, url: rendered.url, fields: fields, limits: limits(name, step))
    switch rendered.body {
    case .none: break
    case .bytes(let bytes): request.body = .bytes(bytes)
    case .envelope(let prefix, let suffix):
      if !prefix.isEmpty || !suffix.isEmpty { request.envelope = BodyEnvelope(prefix: prefix, suffix: suffix) }
    }
    return request
  }

  private func limits(_ name: StepName?, _ step: ProfileStep) -> RequestLimits {
    var limits: RequestLimits =
      name == .chunk
      ? unrepeatable.contains(.part) ? .bodyOnce : .body : name == .complete || name == .commit ? .finish : .control
    limits.connectMs = step.timeout.connectMs ?? limits.connectMs
    limits.stallMs = step.timeout.idleMs ?? limits.stallMs
    limits.totalMs = step.timeout.totalMs ?? limits.totalMs
    return limits
  }

  // MARK: - Variables

  func scope(_ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext) -> ProfileScope {
    var scope = scope(facts, context, chunk: step.chunk)
    if case .makeParent(let depth) = step {
      let components = facts.file.key.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
      scope.parent = ["path": .text(Array(components.prefix(depth).joined(separator: [0x2F])))]
    }
    return scope
  }

  func scope(_ facts: TransferFacts, _ context: RequestContext?, chunk: ChunkFacts?) -> ProfileScope {
    let notes = SessionNotes(facts.session?.notes ?? [:])
    let uuid = notes.texts[SessionNotes.uuid] ?? Self.uuid(facts.file.uid, facts.session?.intendedAtMs ?? facts.wallMs)
    var scope = ProfileScope()
    scope.file = ProfileScope.file(
      path: facts.file.key, size: facts.file.size, mtimeMs: facts.file.mtimeMs,
      hashes: fileHashes(facts, context, chunk))
    scope.session = ["id": .string(uuid)].merging(notes.sessionValues) { $1 }
    scope.query = query
    scope.result = notes.resultValues
    scope.input = inputs.mapValues { .string($0) }
    if case .inputs(let secrets)? = context?.credential { scope.input.merge(secrets.mapValues { .string($0) }) { $1 } }
    scope.secret = facts.learned.secrets.mapValues { .string($0) }
    scope.chunkCount = facts.layout.count
    scope.parts = facts.isAllStored ? facts.parts.map { part($0, facts.layout) } : []
    scope.nowMs = context?.wallMs ?? facts.wallMs
    scope.uuid = uuid
    scope.attempt = (chunk?.failures ?? context?.failures ?? 0) + 1
    if let chunk {
      scope.chunk = self.chunk(chunk, facts.layout)
      scope.part = StoredValue.read(all: chunk.remote)
    }
    return scope
  }

  /// The digests that were computed in advance; in the end also the digest of the sent bytes.
  private func fileHashes(
    _ facts: TransferFacts, _ context: RequestContext?, _ chunk: ChunkFacts?
  ) -> [String: Digest] {
    var hashes: [String: Digest] = [:]
    if let chunk, let digest = wholeDigest(facts, chunk) { hashes[ProfileHash.crc32c.rawValue] = digest }
    if facts.isAllStored, facts.parts.count == facts.layout.count, let digest = facts.parts.combinedDigest {
      hashes[ProfileHash.crc32c.rawValue] = digest
    }
    for hash in profile.file.hashes {
      if let digest = context?.fileDigests[hash.algorithm] { hashes[hash.rawValue] = digest }
    }
    return hashes
  }

  /// The digest of the whole file after its last chunk was sent.
  private func wholeDigest(_ facts: TransferFacts, _ chunk: ChunkFacts) -> Digest? {
    guard chunk.seq == facts.layout.count - 1, facts.parts.count == chunk.seq, chunk.body.end == chunk.range.end,
      let digest = chunk.digests[sentDigest]
    else { return nil }
    let last = PartReceipt(
      seq: chunk.seq, length: chunk.range.length, etag: "", digest: digest, confirmation: .none)
    return (facts.parts + [last]).combinedDigest
  }

  /// The bytes in this request: the whole chunk, or the part that the server lacks.
  private func chunk(_ chunk: ChunkFacts, _ layout: ChunkLayout) -> [String: TemplateValue] {
    var hashes: [String: Digest] = [:]
    for hash in profile.chunk.hashes { hashes[hash.rawValue] = chunk.digests[hash.algorithm] }
    var fields = ProfileScope.chunk(chunk.seq, of: layout, base: profile.chunk.numberBase, hashes: hashes)
    guard chunk.body != chunk.range else { return fields }
    fields["start"] = .int(chunk.body.offset)
    fields["end"] = .int(chunk.body.end - 1)
    fields["end_exclusive"] = .int(chunk.body.end)
    fields["size"] = .int(chunk.body.length)
    fields["range"] = ProfileScope.range(of: chunk.body)
    return fields
  }

  private func part(_ part: PartReceipt, _ layout: ChunkLayout) -> [String: TemplateValue] {
    let range = layout.range(part.seq)
    let fields: [String: TemplateValue] = [
      "index": .int(Int64(part.seq)), "number": .int(Int64(part.seq + profile.chunk.numberBase)),
      "start": .int(range.offset), "end": .int(range.end - 1), "size": .int(range.length),
    ]
    return fields.merging(StoredValue.read(all: part.remote)) { $1 }
  }
}
