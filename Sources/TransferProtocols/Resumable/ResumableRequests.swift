import HTTPTypes
import TransferModel

extension ResumableProtocol {
  /// Source: draft-ietf-httpbis-resumable-upload-12 section 6.
  static let partialType = "application/partial-upload"

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    switch step {
    case .discover: return try make(.options, target(facts), [:], facts, context)
    case .create: return try create(facts, context)
    case .chunk(let chunk):
      return facts.session?.remoteID == nil
        ? try createWithBody(chunk, facts, context) : try append(chunk, facts, context)
    case .probe: return try make(.head, try upload(facts), [:], facts, context)
    case .finish: return try complete(facts, context)
    case .abort(let url): return try make(.delete, url, [:], facts, context)
    case .prepareChunk, .probeChunk, .save, .verify, .makeParent:
      throw Failure(.engineBug, "resumable has no request for \(step.operation)")
    }
  }

  func target(_ facts: TransferFacts) -> String { place.url(facts.file.key) }

  private var method: HTTPRequest.Method { settings.isPost ? .post : .put }

  /// Creates the upload without a body, so that only the answer can be lost.
  private func create(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    var fields = creationFields(facts, isComplete: false)
    fields["repr-digest"] = Self.digest(context.fileDigests[.sha256])
    return try make(method, target(facts), fields, facts, context, body: .bytes([]))
  }

  private func createWithBody(
    _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = creationFields(facts, isComplete: true)
    fields["repr-digest"] = Self.digest(chunk.digests[.sha256])
    fields["want-repr-digest"] = wantedDigest
    if interop(facts).isIncremental { fields["incremental"] = "?1" }
    return try make(method, target(facts), fields, facts, context, limits: .body)
  }

  private func creationFields(_ facts: TransferFacts, isComplete: Bool) -> [String: String] {
    let completeness = interop(facts).completeness(isComplete)
    var fields = [
      completeness.name: completeness.value, "upload-length": "\(facts.file.size)",
      "content-type": settings.mediaType.type(of: facts.file),
    ]
    for header in facts.file.properties.headers { fields[header.name] = header.value }
    if settings.ifNoneMatch { fields["if-none-match"] = "*" }
    return fields
  }

  private func append(
    _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let isLast = chunk.body.end == facts.file.size
    var fields = appendFields(facts, at: chunk.body.offset, isComplete: isLast)
    fields["content-digest"] = Self.digest(chunk.digests[.sha256])
    if isLast { fields["want-repr-digest"] = wantedDigest }
    if interop(facts).isIncremental { fields["incremental"] = "?1" }
    return try make(.patch, try upload(facts), fields, facts, context, limits: .body)
  }

  /// All bytes are stored: completes the upload without a body.
  private func complete(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    var fields = appendFields(facts, at: facts.file.size, isComplete: true)
    fields["want-repr-digest"] = wantedDigest
    return try make(.patch, try upload(facts), fields, facts, context, body: .bytes([]), limits: .conclusion)
  }

  private func appendFields(_ facts: TransferFacts, at offset: Int64, isComplete: Bool) -> [String: String] {
    let interop = interop(facts)
    let completeness = interop.completeness(isComplete)
    var fields = [completeness.name: completeness.value, "upload-offset": "\(offset)"]
    if interop.hasPartialType { fields["content-type"] = Self.partialType }
    return fields
  }

  func interop(_ facts: TransferFacts) -> Interop { discovery(facts.learned).interop }

  private var wantedDigest: String { settings.sendsDigests ? "crc32c=10, sha-256=5" : "crc32c=10" }

  private static func digest(_ digest: Digest?) -> String? { digest.map { "sha-256=:\(base64($0.bytes)):" } }

  private func upload(_ facts: TransferFacts) throws(Failure) -> String {
    guard let url = facts.session?.remoteID else { throw Failure(.engineBug, "the upload has no URL yet") }
    return url
  }

  private func make(
    _ method: HTTPRequest.Method, _ url: String, _ named: [String: String], _ facts: TransferFacts,
    _ context: RequestContext, body: RequestBody = .none, limits: RequestLimits = .control
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    if let version = interop(facts).field { fields[HTTPField.Name("upload-draft-interop-version")!] = version }
    for (name, value) in named.sorted(by: { $0.key < $1.key }) { fields[HTTPField.Name(name)!] = value }
    return TransferRequest(method: method, url: url, fields: fields, body: body, limits: limits)
  }
}
