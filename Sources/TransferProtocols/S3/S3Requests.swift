import TransferModel
import HTTPTypes

extension S3Protocol {
  package func request(
    _ step: StepRequest, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let key = facts.file.key
    switch step {
    case .create: return try create(facts, context)
    case .probe(let marker): return try probe(marker, facts, context)
    case .chunk(let chunk): return try send(chunk, facts, context)
    case .finish: return try complete(facts, context)
    case .verify:
      return try draft(.head, key, fields: [("x-amz-checksum-mode", "ENABLED")]).signed(settings, context)
    case .abort(let remoteID):
      return try draft(.delete, key, query: [("uploadId", remoteID)]).signed(settings, context)
    case .makeParent, .prepareChunk, .probeChunk, .discover, .save:
      throw Failure(.engineBug, "s3 has no request for \(step.operation)")
    }
  }

  private func draft(
    _ method: HTTPRequest.Method, _ key: NameBytes, query: [(String, String)] = [], fields: [(String, String)] = []
  ) -> S3Draft {
    S3Draft(method: method, key: key, query: query, fields: fields)
  }

  private func create(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    var draft = draft(.post, facts.file.key, query: [("uploads", "")], fields: objectFields(facts))
    if context.learned.partChecksums == .untried || context.learned.partChecksums == .confirmed {
      draft.fields += [("x-amz-checksum-algorithm", "CRC64NVME"), ("x-amz-checksum-type", "FULL_OBJECT")]
    }
    draft.body = .bytes([])
    return try draft.signed(settings, context)
  }

  private func objectFields(_ facts: TransferFacts) -> [(String, String)] {
    let properties = facts.file.properties
    var fields = [
      ("content-type", settings.mediaType.type(of: facts.file)), (Self.uidField, facts.file.uid.description),
    ]
    if let storageClass = properties.storageClass { fields.append(("x-amz-storage-class", storageClass)) }
    let tags = properties.tags.map { "\(PercentEncoding.component($0.name))=\(PercentEncoding.component($0.value))" }
    if !tags.isEmpty { fields.append(("x-amz-tagging", tags.joined(separator: "&"))) }
    return fields + properties.headers.map { ($0.name, $0.value) }
  }

  private func probe(
    _ marker: String?, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let key = facts.file.key
    if let remoteID = facts.session?.remoteID {
      let query = [("max-parts", "1000"), ("part-number-marker", marker ?? "0"), ("uploadId", remoteID)]
      return try draft(.get, key, query: query).signed(settings, context)
    }
    guard let search = marker == nil ? UnlistedUploadSearch() : UnlistedUploadSearch(marker: marker) else {
      throw Failure(.engineBug, "the probe marker is not ours")
    }
    if let candidate = search.candidates.first {
      return try draft(.get, key, query: [("max-parts", "1"), ("uploadId", candidate)]).signed(settings, context)
    }
    var query = [("encoding-type", "url"), ("prefix", String(decoding: key.bytes, as: UTF8.self)), ("uploads", "")]
    if let page = search.page { query += [("key-marker", page.key), ("upload-id-marker", page.uploadID)] }
    return try draft(.get, NameBytes(""), query: query).signed(settings, context)
  }

  private func send(
    _ chunk: ChunkFacts, _ facts: TransferFacts, _ context: RequestContext
  ) throws(Failure) -> TransferRequest {
    let isPart = facts.layout.count > 1
    var draft = draft(.put, facts.file.key)
    if isPart {
      guard let remoteID = facts.session?.remoteID else { throw Failure(.engineBug, "a part without a session") }
      draft.query = [("partNumber", String(chunk.seq + 1)), ("uploadId", remoteID)]
    } else {
      draft.fields = objectFields(facts)
      if settings.ifNoneMatch { draft.fields.append(("if-none-match", "*")) }
    }
    let support = isPart ? context.learned.partChecksums : context.learned.checksums
    draft.fields += checksumFields(chunk.digests, support)
    if settings.signsPayload {
      guard let sha256 = chunk.digests[.sha256] else { throw Failure(.engineBug, "a body without its SHA-256") }
      draft.payload = hexText(sha256.bytes)
    } else {
      draft.payload = SigV4.unsignedPayload
    }
    if settings.expectContinue { draft.unsignedFields.append(("expect", "100-continue")) }
    var request = try draft.signed(settings, context)
    request.limits = .body
    return request
  }

  /// The learned support may have changed after the digests were computed; at least one digest is always sent.
  private func checksumFields(
    _ digests: [DigestAlgorithm: Digest], _ support: LearnedFacts.ChecksumSupport
  ) -> [(String, String)] {
    var fields: [(String, String)] = []
    let isUseful = support == .untried || support == .confirmed || (support == .ignored && digests[.md5] == nil)
    if let crc = digests[.crc64nvme], isUseful { fields.append((Self.checksumField, base64(crc.bytes))) }
    if let md5 = digests[.md5], support != .confirmed { fields.append(("content-md5", base64(md5.bytes))) }
    return fields
  }

  private func complete(_ facts: TransferFacts, _ context: RequestContext) throws(Failure) -> TransferRequest {
    let parts = facts.parts.sorted { $0.seq < $1.seq }
    guard let remoteID = facts.session?.remoteID, parts.map(\.seq) == Array(0..<facts.layout.count) else {
      throw Failure(.engineBug, "complete with \(parts.count) of \(facts.layout.count) parts")
    }
    var draft = draft(.post, facts.file.key, query: [("uploadId", remoteID)])
    draft.fields = [("content-type", "application/xml")]
    if !context.learned.refusesObjectSize { draft.fields.append(("x-amz-mp-object-size", String(facts.file.size))) }
    if settings.ifNoneMatch { draft.fields.append(("if-none-match", "*")) }
    if let whole = MultipartProof(parts).checksum, parts.allSatisfy({ $0.confirmation == .digest }) {
      draft.fields += [(Self.checksumField, base64(whole.bytes)), ("x-amz-checksum-type", "FULL_OBJECT")]
    }
    let body = Array(Self.completeBody(parts).utf8)
    draft.body = .bytes(body)
    draft.payload = hexText(RunningDigest.of(body, .sha256).bytes)
    var request = try draft.signed(settings, context)
    request.limits = .finish
    return request
  }

  /// A part that was stored with a checksum is listed with it: some servers refuse anything else (Garage).
  static func completeBody(_ parts: [PartReceipt]) -> String {
    var xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    for part in parts {
      xml += "<Part><PartNumber>\(part.seq + 1)</PartNumber><ETag>\(escaped(part.etag))</ETag>"
      if part.confirmation == .digest, let digest = part.digest, digest.algorithm == .crc64nvme {
        xml += "<ChecksumCRC64NVME>\(base64(digest.bytes))</ChecksumCRC64NVME>"
      }
      xml += "</Part>"
    }
    return xml + "</CompleteMultipartUpload>"
  }

  /// ETags are sent back as received; a server may have put any characters into them.
  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
