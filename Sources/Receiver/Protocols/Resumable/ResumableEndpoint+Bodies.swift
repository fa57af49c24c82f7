import TransferModel

/// Creation and appends: the requests that carry content.
extension ResumableEndpoint {
  private static let progressStep: Int64 = 8 << 20

  func create(_ dialect: ResumableDialect, _ path: ObjectPath, isComplete: Bool) throws(ExchangeEnd) -> Answer {
    let limits = try ResumableLimits(target.query)
    let length = try declaredLength(isComplete ? contentLength : nil)
    let upload = ResumableUpload(
      try AppendUpload(exchange.core), path, limits, try exchange.condition(),
      digests: try head["repr-digest"].map { field throws(ExchangeEnd) in try digests(inField: field) } ?? [:],
      length: length)
    try check(upload, dialect, isComplete: isComplete, isCreation: true)
    try exchange.open(upload)
    let location = Answer.Field(
      "Location", exchange.url("/-/resumable-uploads/\(upload.id)", isRelative: target.query["loc"] == "relative"))
    if !limits.hidesInterim {
      let limit = dialect.tellsLimits ? [upload.limitField(dialect)] : []
      try exchange.sendInterim(104, dialect.versionFields + [location] + limit)
    }
    return try exchange.holding(upload.body.lock, busy: Self.busy) { () throws(ExchangeEnd) in
      var answer = try take(into: upload, dialect, isComplete: isComplete, status: 201)
      if upload.final == nil { answer.fields.append(location) }
      return answer
    }
  }

  func patch(_ upload: ResumableUpload, _ dialect: ResumableDialect) throws(ExchangeEnd) -> Answer {
    if dialect.needsMediaType, head["content-type"] != Self.mediaType {
      throw .refuse(415, "Content-Type has to be \(Self.mediaType)")
    }
    guard let offset = ResumableDialect.number(head["upload-offset"]), let isComplete = dialect.isCompleting(head)
    else {
      throw .refuse(400, "Upload-Offset or \(dialect.completeness(true).name) is missing or ill-typed")
    }
    if let final = upload.final {
      if isComplete, !exchange.hasBody, offset == upload.body.shown { return final }
      throw .refuse(Self.problem(400, Self.problems + "completed-upload", "the upload is complete"))
    }
    guard offset == upload.body.shown else { throw .refuse(mismatch(upload, provided: offset)) }
    if let declared = try declaredLength(isComplete ? contentLength.map { offset + $0 } : nil) {
      if let known = upload.length, known != declared { throw .refuse(Self.inconsistentLength) }
      upload.length = declared
    }
    try check(upload, dialect, isComplete: isComplete, isCreation: false)
    return try take(into: upload, dialect, isComplete: isComplete, status: dialect.appendedStatus)
  }

  private var contentLength: Int64? {
    switch head.framing {
    case .none: 0
    case .length(let length): length
    case .chunked: nil
    }
  }

  /// Upload-Length, or the total length that follows from the end of this content; 400 when they differ.
  private func declaredLength(_ implied: Int64?) throws(ExchangeEnd) -> Int64? {
    let declared = ResumableDialect.number(head["upload-length"])
    if let declared, let implied, declared != implied { throw .refuse(Self.inconsistentLength) }
    return declared ?? implied
  }

  private static var inconsistentLength: Answer {
    problem(400, problems + "inconsistent-upload-length", "the lengths of the upload contradict each other")
  }

  private func mismatch(_ upload: ResumableUpload, provided: Int64) -> Answer {
    var answer = Self.problem(
      409, Self.problems + "mismatching-upload-offset", "the upload continues at another offset",
      [("expected-offset", upload.body.shown), ("provided-offset", provided)])
    answer.fields.append(offsetField(upload))
    return answer
  }

  /// Checks a request against the limits before its body is read.
  private func check(
    _ upload: ResumableUpload, _ dialect: ResumableDialect, isComplete: Bool, isCreation: Bool
  ) throws(ExchangeEnd) {
    let limits = upload.limits
    let fields = dialect.tellsLimits ? [upload.limitField(dialect)] : []
    let content = contentLength ?? 0
    if max(upload.length ?? 0, upload.body.shown + content) > limits.maxSize ?? .max {
      throw .refuse(413, "the upload is longer than max-size", fields: fields)
    }
    if content > limits.maxAppendSize ?? .max {
      throw .refuse(413, "the content is longer than max-append-size", fields: fields)
    }
    if let length = upload.length, upload.body.shown + content > length { throw .refuse(Self.inconsistentLength) }
    let isExempt = isComplete || isCreation && content == 0 || contentLength == nil
    if !isExempt, content < limits.minAppendSize ?? 0 {
      throw .refuse(400, "the content is shorter than min-append-size", fields: fields)
    }
  }

  /// Receives the body, and completes the upload if this is its end. The bytes of an interrupted body count, unless the
  /// request had a digest of its content.
  private func take(
    into upload: ResumableUpload, _ dialect: ResumableDialect, isComplete: Bool, status: Int
  ) throws(ExchangeEnd) -> Answer {
    let start = upload.body.shown
    let limit = min(
      upload.length ?? .max, upload.limits.maxSize ?? .max, upload.limits.maxAppendSize.map { start + $0 } ?? .max)
    try exchange.invite()
    try upload.body.append(
      exchange, upTo: limit, keeping: .prefix, check: try contentCheck(),
      progress: progress(from: start, upload, dialect))
    try regress(upload)
    if isComplete, exchange.effect.regress == nil { return try complete(upload, dialect) }
    var fields = [offsetField(upload), dialect.completeness(false)]
    if dialect.tellsLimits { fields.append(upload.limitField(dialect)) }
    return Answer(status, fields: fields)
  }

  private func contentCheck() throws(ExchangeEnd) -> BodyCheck? {
    guard let field = head["content-digest"] else { return nil }
    let sent = try digests(inField: field)
    guard let kind = [.sha512, .sha256, .crc32c].first(where: { sent[$0] != nil }) else { return nil }
    return BodyCheck((kind, sent[kind]!), refusal: .refuse(Self.digestMismatch))
  }

  private static var digestMismatch: Answer { problem(400, "about:blank", "digest mismatch") }

  private func progress(
    from offset: Int64, _ upload: ResumableUpload, _ dialect: ResumableDialect
  ) -> AppendUpload.Progress? {
    guard dialect.tellsProgress, !upload.limits.hidesInterim else { return nil }
    return AppendUpload.Progress(from: offset, step: Self.progressStep) { [exchange] offset throws(ExchangeEnd) in
      try exchange.sendInterim(104, dialect.versionFields + [Answer.Field("Upload-Offset", String(offset))])
    }
  }

  /// Ends the upload: from now on every request for it gets the same answer.
  private func complete(_ upload: ResumableUpload, _ dialect: ResumableDialect) throws(ExchangeEnd) -> Answer {
    if let length = upload.length, length != upload.body.shown { throw .refuse(Self.inconsistentLength) }
    upload.length = upload.body.shown
    var answer: Answer
    do throws(ExchangeEnd) {
      answer = try publish(upload)
    } catch {
      guard case .refuse(let refusal) = error else { throw error }
      answer = refusal
    }
    upload.body.discard()
    answer.fields.append(dialect.completeness(true))
    upload.final = answer
    return answer
  }

  private func publish(_ upload: ResumableUpload) throws(ExchangeEnd) -> Answer {
    for (kind, digest) in upload.digests {
      if let found = try upload.body.digest(kind), found != digest { throw .refuse(Self.digestMismatch) }
    }
    let created = try upload.body.publish(exchange, at: upload.path, upload.condition)
    try exchange.end(upload, .completed)
    guard let crc32c = upload.body.crc32c else { return Answer(created ? 201 : 204) }
    let shown = exchange.effect.ending == .wrongDigest ? ~crc32c : crc32c
    return Answer(
      created ? 201 : 204,
      fields: [
        Answer.Field("ETag", objectETag(crc32c: crc32c, size: upload.body.offset)),
        Answer.Field("Repr-Digest", reprDigest(shown)),
      ])
  }
}
