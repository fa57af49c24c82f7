import HTTPTypes
import TransferModel

extension TusProtocol {
  static let mediaType = "application/offset+octet-stream"

  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    switch step {
    case .discover: return try make(.options, endpointURL(facts), [:], context)
    case .create: return try create(facts, context)
    case .chunk(let chunk):
      return facts.session?.remoteID == nil
        ? try createWithBody(chunk, facts, context) : try patch(chunk, facts, context)
    case .prepareChunk(let chunk):
      let fields = ["upload-length": "\(chunk.range.length)", "upload-concat": "partial"]
      return try make(.post, endpointURL(facts), fields, context, body: .bytes([]))
    case .probe: return try make(.head, try upload(facts), [:], context)
    case .probeChunk(let chunk): return try make(.head, try partial(chunk), [:], context)
    case .finish: return try join(facts, context)
    case .verify: return try make(.head, try final(facts), [:], context)
    case .abort(let url): return try make(.delete, url, [:], context)
    case .save, .makeParent: throw Failure(.engineBug, "tus has no request for \(step.operation)")
    }
  }

  func endpointURL(_ facts: TransferFacts) -> String { endpoint.url(facts.file.key) }

  private func create(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    return try make(.post, endpointURL(facts), creation(facts.file), context, body: .bytes([]))
  }

  private func creation(_ file: FileFacts) -> [String: String] {
    var fields = Dictionary(uniqueKeysWithValues: file.properties.headers.map { ($0.name, $0.value) })
    fields["upload-length"] = "\(file.size)"
    fields["upload-metadata"] = metadata(file)
    return fields
  }

  private func createWithBody(
    _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = body(chunk, context)
    fields.merge(creation(facts.file)) { $1 }
    return try make(.post, endpointURL(facts), fields, context, limits: .body)
  }

  private func patch(
    _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    var fields = body(chunk, context)
    let isPartial = isConcatenated(facts)
    fields["upload-offset"] = "\(isPartial ? chunk.body.offset - chunk.range.offset : chunk.body.offset)"
    let url = isPartial ? try partial(chunk) : try upload(facts)
    return try make(.patch, url, fields, context, limits: .body)
  }

  private func body(_ chunk: ChunkFacts, _ context: RequestContext) -> [String: String] {
    var fields = ["content-type": Self.mediaType]
    if settings.expectContinue { fields["expect"] = "100-continue" }
    if let checksum = checksum(context.learned), let digest = chunk.digests[checksum.algorithm] {
      fields["upload-checksum"] = "\(checksum.name) \(base64(digest.bytes))"
    }
    return fields
  }

  private func join(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    let references = facts.parts.compactMap { $0.remote["written"] }
    guard references.count == facts.layout.count else {
      throw Failure(.engineBug, "\(references.count) uploads are known of \(facts.layout.count)")
    }
    let list = Self.fitting(references).joined(separator: " ")
    var fields = creation(facts.file)
    fields["upload-length"] = nil
    fields["upload-concat"] = "final;" + list
    return try make(.post, endpointURL(facts), fields, context, body: .bytes([]), limits: .finish)
  }

  /// URLs as the server sent them; without scheme and host if the field would otherwise be longer than servers accept.
  private static func fitting(_ references: [String]) -> [String] {
    guard references.reduce(0, { $0 + $1.utf8.count + 1 }) > 7_000 else { return references }
    return references.map { reference in
      var parts = URLReference.Parts(reference)
      (parts.scheme, parts.authority) = (nil, nil)
      return parts.text
    }
  }

  private func upload(_ facts: TransferFacts) throws(Failure) -> String {
    guard let url = facts.session?.remoteID else { throw Failure(.engineBug, "the upload has no URL yet") }
    return url
  }

  private func partial(_ chunk: ChunkFacts) throws(Failure) -> String {
    guard let url = chunk.remote["url"] else { throw Failure(.engineBug, "the chunk has no upload yet") }
    return url
  }

  private func final(_ facts: TransferFacts) throws(Failure) -> String {
    guard let url = facts.session?.notes[Self.finalNote] else { throw Failure(.engineBug, "nothing was joined yet") }
    return url
  }

  /// The local name, the media type, and the token that distinguishes our upload from others.
  private func metadata(_ file: FileFacts) -> String {
    let type = settings.mediaType.type(of: file)
    return [
      "filename " + base64(file.key.bytes), "filetype " + base64(Array(type.utf8)),
      "transfers-uid " + base64(Array(file.uid.description.utf8)),
    ].joined(separator: ",")
  }

  /// Servers and proxies that do not support PATCH and DELETE accept them as POST, if requested.
  private func make(
    _ method: HTTPRequest.Method, _ url: String, _ named: [String: String], _ context: RequestContext,
    body: RequestBody = .none, limits: RequestLimits = .control
  ) throws(Failure) -> TransferRequest {
    var fields = HTTPFields()
    fields[.authorization] = try context.credential.authorization
    if method != .options { fields[HTTPField.Name("tus-resumable")!] = Self.version }
    for (name, value) in named.sorted(by: { $0.key < $1.key }) { fields[HTTPField.Name(name)!] = value }
    let isHidden = settings.overridesMethod && (method == .patch || method == .delete)
    guard isHidden else {
      return TransferRequest(method: method, url: url, fields: fields, body: body, limits: limits)
    }
    fields[HTTPField.Name("x-http-method-override")!] = method.rawValue
    let isEmpty = method == .delete
    return TransferRequest(
      method: .post, url: url, fields: fields, body: isEmpty ? .bytes([]) : body, limits: limits)
  }
}
