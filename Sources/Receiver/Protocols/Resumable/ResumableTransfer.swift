import TransferModel

/// One upload in one request: what the requests that carry content share.
struct ResumableTransfer {
  let exchange: Exchange
  let upload: ResumableUpload
  let dialect: ResumableDialect

  private static let progressStep: Int64 = 8 << 20

  var offset: Answer.Field {
    let pastEnd = (upload.length ?? upload.body.shown) + 1
    return Answer.Field("Upload-Offset", String(exchange.effect.isOffsetPastEnd ? pastEnd : upload.body.shown))
  }

  func regress() throws(ExchangeEnd) {
    guard let count = exchange.effect.regress, upload.final == nil else { return }
    try upload.body.regress(by: count)
  }

  // MARK: - Content

  /// Checks a request against the limits before its body is read.
  func check(isComplete: Bool, isCreation: Bool) throws(ExchangeEnd) {
    let limits = upload.limits
    let fields = dialect.tellsLimits ? [upload.limitField(dialect)] : []
    let stated = ResumableLengths(head: exchange.head).content
    let content = stated ?? 0
    if max(upload.length ?? 0, upload.body.shown + content) > limits.maxSize ?? .max {
      throw .refuse(413, "the upload is longer than max-size", fields: fields)
    }
    if content > limits.maxAppendSize ?? .max {
      throw .refuse(413, "the content is longer than max-append-size", fields: fields)
    }
    if let length = upload.length, upload.body.shown + content > length {
      throw .refuse(ResumableProblem.inconsistentLength)
    }
    let isExempt = isComplete || isCreation && content == 0 || stated == nil
    if !isExempt, content < limits.minAppendSize ?? 0 {
      throw .refuse(400, "the content is shorter than min-append-size", fields: fields)
    }
  }

  /// Receives the body, and completes the upload if this is its end. The bytes of an interrupted body count, unless the
  /// request had a digest of its content.
  func take(isComplete: Bool, status: Int) throws(ExchangeEnd) -> Answer {
    let start = upload.body.shown
    let limit = min(
      upload.length ?? .max, upload.limits.maxSize ?? .max, upload.limits.maxAppendSize.map { start + $0 } ?? .max)
    try exchange.invite()
    try upload.body.append(
      exchange, upTo: limit, keeping: .prefix, check: try contentCheck(), progress: progress(from: start))
    try regress()
    if isComplete, exchange.effect.regress == nil { return try complete() }
    var fields = [offset, dialect.completeness(false)]
    if dialect.tellsLimits { fields.append(upload.limitField(dialect)) }
    return Answer(status, fields: fields)
  }

  private func contentCheck() throws(ExchangeEnd) -> BodyCheck? {
    guard let field = exchange.head["content-digest"] else { return nil }
    let sent = try digests(inField: field)
    guard let kind = [.sha512, .sha256, .crc32c].first(where: { sent[$0] != nil }) else { return nil }
    return BodyCheck((kind, sent[kind]!), refusal: .refuse(ResumableProblem.digestMismatch))
  }

  private func progress(from offset: Int64) -> AppendUpload.Progress? {
    guard dialect.tellsProgress, !upload.limits.hidesInterim else { return nil }
    return AppendUpload.Progress(from: offset, step: Self.progressStep) {
      [exchange, dialect] offset throws(ExchangeEnd) in
      try exchange.sendInterim(104, dialect.versionFields + [Answer.Field("Upload-Offset", String(offset))])
    }
  }

  // MARK: - The end

  /// Ends the upload: from now on every request for it gets the same answer.
  private func complete() throws(ExchangeEnd) -> Answer {
    if let length = upload.length, length != upload.body.shown { throw .refuse(ResumableProblem.inconsistentLength) }
    upload.length = upload.body.shown
    var answer: Answer
    do throws(ExchangeEnd) {
      answer = try publish()
    } catch {
      guard case .refuse(let refusal) = error else { throw error }
      answer = refusal
    }
    upload.body.discard()
    answer.fields.append(dialect.completeness(true))
    upload.final = answer
    return answer
  }

  private func publish() throws(ExchangeEnd) -> Answer {
    for (kind, digest) in upload.digests {
      if let found = try upload.body.digest(kind), found != digest { throw .refuse(ResumableProblem.digestMismatch) }
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
