import HTTPTypes
public import TransferModel

/// A dry-run upload: its requests if everything succeeds. Values from servers, and secrets, are shown by their names.
public struct ProfileRehearsal {
  public struct Request: Sendable, Hashable {
    public var step: String
    public var method: String
    public var url: String
    public var headers: [String]
    public var body: String
  }

  private let proto: ProfileProtocol
  private let file: FileFacts

  /// The text shown for a secret.
  static let hidden = "(hidden)"
  /// Maximum size of the bodies that are shown.
  static let shownBytes = 2_000

  public init(_ proto: ProfileProtocol, key: NameBytes, size: Int64, mtimeMs: Int64) {
    self.proto = proto
    file = FileFacts(uid: UID(high: 0x7000, low: 1 << 63), key: key, size: size, mtimeMs: mtimeMs)
  }

  /// The requests in order; of many chunks only the first two and the last one. `digest` computes the digest of a range
  /// of the file.
  /// - Throws: `.usage` for a file that the profile does not accept, `.config` for a request that cannot be made.
  package func requests(
    digest: (ByteRange, DigestAlgorithm) throws(TransferError) -> Digest
  ) throws(TransferError) -> [Request] {
    var facts = TransferFacts(file: file, layout: try proto.layout(size: file.size))
    let uuid = SessionUUID.of(file.uid, 0)
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0, notes: [SessionNotes.uuid: uuid])
    var context = RequestContext(wallMs: file.mtimeMs, credential: secrets, learned: LearnedFacts())
    for hash in proto.profile.file.hashes {
      context.fileDigests[hash.algorithm] = try digest(ByteRange(offset: 0, length: file.size), hash.algorithm)
    }
    var requests: [Request] = []
    if proto.profile.step(.begin) != nil { requests.append(try request(.create, "init", facts, context)) }
    let opened = Interpretation.opened(OpenedSession(remoteID: uuid, expiresAtMs: nil))
    answer(opened.with(notes: answers(.session)), to: .create, &facts)
    if case .session = proto.profile.chunk.size { facts.layout = try proto.layout(facts) }
    var parts: [PartReceipt] = []
    for seq in 0..<facts.layout.count {
      var chunk = ChunkFacts(seq: seq, range: facts.layout.range(seq))
      chunk.remote = answers(.part)
      let isShown = seq < 2 || seq == facts.layout.count - 1
      if isShown { requests += try chunkRequests(&chunk, facts, context, digest) }
      let part = PartReceipt(
        seq: seq, length: chunk.range.length, etag: "", digest: nil, confirmation: .none,
        remote: chunk.remote.merging(partDigests(chunk)) { $1 })
      let isLast = seq == facts.layout.count - 1
      answer(.stored(part, proof: nil).with(notes: isLast ? answers(.result) : [:]), to: .chunk(chunk), &facts)
      parts.append(part)
    }
    facts.parts = parts
    for (name, step) in [(proto.finishName, StepRequest.finish), (proto.saveName, .save), (.verify, .verify)] {
      guard let name, let described = proto.profile.step(name), ProfileProgress(proto, facts).isWanted(described) else {
        continue
      }
      requests.append(try request(step, name.rawValue, facts, context))
    }
    return requests
  }

  private func chunkRequests(
    _ chunk: inout ChunkFacts, _ facts: TransferFacts, _ context: RequestContext,
    _ digest: (ByteRange, DigestAlgorithm) throws(TransferError) -> Digest
  ) throws(TransferError) -> [Request] {
    var requests: [Request] = []
    let number = "\(chunk.seq + 1) of \(facts.layout.count)"
    if proto.profile.step(.prepareChunk) != nil {
      requests.append(try request(.prepareChunk(chunk), "prepare_chunk \(number)", facts, context))
    }
    for algorithm in proto.digestsAhead(facts.learned, facts.layout) {
      chunk.digests[algorithm] = try digest(chunk.range, algorithm)
    }
    requests.append(try request(.chunk(chunk), "chunk \(number)", facts, context))
    return requests
  }

  private func partDigests(_ chunk: ChunkFacts) -> [String: String] {
    var texts: [String: String] = [:]
    for hash in proto.partHashes {
      let known = chunk.digests[hash.algorithm].map { TemplateValue.digest($0.bytes) }
      texts[hash.rawValue] = StoredValue.text(known ?? .string("part.\(hash.rawValue)"))
    }
    return texts
  }

  private var secrets: Credential {
    .inputs(
      Dictionary(
        proto.profile.inputs.filter { proto.trust.isHidden($0) }.map { ($0.name, Self.hidden) },
        uniquingKeysWith: { first, _ in first }))
  }

  // MARK: - Answers

  private func answer(_ meaning: Interpretation, to step: StepRequest, _ facts: inout TransferFacts) {
    _ = facts.apply(meaning, to: step, proto.abilities(facts))
  }

  /// Sample values for everything that steps extract into `scope`.
  private func answers(_ scope: ExtractTarget.Scope) -> [String: String] {
    var values: [String: String] = [:]
    for target in proto.profile.steps.values.flatMap(\.extract) where target.scope == scope {
      let text = StoredValue.text(answer(target))
      switch scope {
      case .session: values[SessionNotes.session(target.name)] = text
      case .result: values[SessionNotes.result(target.name)] = text
      case .part, .secret: values[target.name] = text
      }
    }
    return values
  }

  private func answer(_ target: ExtractTarget) -> TemplateValue {
    if proto.profile.chunk.size == .session(target.name) { return .int(8 << 20) }
    switch target.extraction.kind {
    case .int?: return .int(1)
    case .bool?: return .bool(true)
    case .time?: return .time(file.mtimeMs + 86_400_000)
    case .string?, nil: break
    }
    let name = "\(target.scope.rawValue).\(target.name)"
    return .string(isURL(target) ? (proto.inputs["url"] ?? "") + "/" + name : name)
  }

  /// Whether a URL begins with this value.
  private func isURL(_ target: ExtractTarget) -> Bool {
    if target.extraction.resolvesURL { return true }
    return proto.profile.steps.values.contains { step in
      guard case .value(let first)? = step.url.pieces.first, let variable = first.variables.first else { return false }
      return variable.root == target.scope.rawValue && variable.accesses.first == .field(target.name)
    }
  }

  // MARK: - Requests

  private func request(
    _ step: StepRequest, _ name: String, _ facts: TransferFacts, _ context: RequestContext
  ) throws(TransferError) -> Request {
    let request: TransferRequest
    do throws(Failure) {
      request = try proto.request(step, facts, context)
    } catch {
      throw TransferError(.config, "try the profile", NameBytes(proto.profile.name), cause: error.message)
    }
    return Request(
      step: name, method: request.method.rawValue, url: printable(request.url),
      headers: request.fields.map { printable("\($0.name.rawName): \(visible($0.value))") }, body: body(request, step))
  }

  /// `Basic` encodes the secret's name in base64, where it would look like a real secret.
  private func visible(_ value: String) -> String {
    value.hasPrefix("Basic ") ? "Basic \(Self.hidden)" : value
  }

  private func body(_ request: TransferRequest, _ step: StepRequest) -> String {
    if case .chunk(let chunk) = step {
      let bytes = "<\(chunk.body.length) bytes of the file from \(chunk.body.offset)>"
      guard let envelope = request.envelope else { return bytes }
      return text(envelope.prefix) + bytes + text(envelope.suffix)
    }
    guard case .bytes(let bytes) = request.body else { return "" }
    return text(bytes)
  }

  private func text(_ bytes: [UInt8]) -> String {
    guard bytes.count <= Self.shownBytes else { return "<\(bytes.count) bytes>" }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    return lines.map { NameBytes($0.last == 0x0D ? Array($0.dropLast()) : Array($0)).description }.joined(
      separator: "\n")
  }
}
