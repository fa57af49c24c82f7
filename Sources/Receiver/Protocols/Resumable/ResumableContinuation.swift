import TransferModel

/// HEAD, PATCH and DELETE on an upload.
struct ResumableContinuation {
  let transfer: ResumableTransfer

  private var exchange: Exchange { transfer.exchange }
  private var upload: ResumableUpload { transfer.upload }
  private var dialect: ResumableDialect { transfer.dialect }

  func look() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if exchange.effect.forgetsOffset, upload.final == nil { upload.body.forgetOffset() }
    try transfer.regress()
    var fields = [transfer.offset, dialect.completeness(upload.final != nil)]
    if let length = upload.length, dialect.tellsLimits { fields.append(Answer.Field("Upload-Length", String(length))) }
    if dialect.tellsLimits { fields.append(upload.limitField(dialect)) }
    return Answer(204, fields: fields + [Answer.Field("Cache-Control", "no-store")])
  }

  func patch() throws(ExchangeEnd) -> Answer {
    let head = exchange.head
    if dialect.needsMediaType, head["content-type"] != ResumableEndpoint.mediaType {
      throw .refuse(415, "Content-Type has to be \(ResumableEndpoint.mediaType)")
    }
    guard let offset = ResumableDialect.number(head["upload-offset"]), let isComplete = dialect.isCompleting(head)
    else {
      throw .refuse(400, "Upload-Offset or \(dialect.completeness(true).name) is missing or ill-typed")
    }
    if let final = upload.final {
      if isComplete, !exchange.hasBody, offset == upload.body.shown { return final }
      throw .refuse(ResumableProblem.completedUpload)
    }
    guard offset == upload.body.shown else { throw .refuse(mismatch(offset)) }
    let lengths = ResumableLengths(head: head)
    if let declared = try lengths.declared(isComplete ? lengths.content.map { offset + $0 } : nil) {
      if let known = upload.length, known != declared { throw .refuse(ResumableProblem.inconsistentLength) }
      upload.length = declared
    }
    try transfer.check(isComplete: isComplete, isCreation: false)
    return try transfer.take(isComplete: isComplete, status: dialect.appendedStatus)
  }

  func cancel() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    upload.body.discard()
    try exchange.end(upload, .aborted)
    return Answer(204)
  }

  private func mismatch(_ provided: Int64) -> Answer {
    var answer = ResumableProblem.mismatch(expected: upload.body.shown, provided: provided)
    answer.fields.append(transfer.offset)
    return answer
  }
}
