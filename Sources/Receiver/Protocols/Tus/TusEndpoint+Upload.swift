import TransferModel

/// HEAD and PATCH on an upload, and the code that they share with creation.
extension TusEndpoint {
  func look(at upload: TusUpload) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if exchange.effect.forgetsOffset, !upload.isPublished { upload.body.forgetOffset() }
    try regress(upload)
    try publishIfComplete(upload)
    var fields = [
      Answer.Field("Upload-Offset", String(announcedOffset(upload))), Answer.Field("Cache-Control", "no-store"),
    ]
    if let length = upload.length {
      fields.append(Answer.Field("Upload-Length", String(length)))
    } else {
      fields.append(Answer.Field("Upload-Defer-Length", "1"))
    }
    if let metadata = upload.metadata { fields.append(Answer.Field("Upload-Metadata", metadata)) }
    if let concatenation = upload.concatenation { fields.append(Answer.Field("Upload-Concat", concatenation.field)) }
    return Answer(200, fields: fields)
  }

  func patch(_ upload: TusUpload) throws(ExchangeEnd) -> Answer {
    if case .final = upload.concatenation { throw Self.refusal(403, "ERR_MODIFY_FINAL", "a final upload is complete") }
    guard head["content-type"] == Self.contentType else {
      throw Self.refusal(415, "ERR_INVALID_CONTENT_TYPE", "Content-Type has to be \(Self.contentType)")
    }
    guard let offset = wholeNumber(head["upload-offset"] ?? "") else {
      throw Self.refusal(400, "ERR_INVALID_OFFSET", "Upload-Offset is missing or malformed")
    }
    if offset != upload.body.shown { throw Self.refusal(409, "ERR_MISMATCHED_OFFSET", "mismatched offset") }
    try takeLength(upload)
    try append(to: upload)
    try regress(upload)
    try publishIfComplete(upload)
    let announced = Answer.Field("Upload-Offset", String(announcedOffset(upload)))
    return Answer(204, fields: [announced] + expiry(of: upload))
  }

  /// A deferred length can be given once.
  private func takeLength(_ upload: TusUpload) throws(ExchangeEnd) {
    guard head["upload-length"] != nil else { return }
    let length = try uploadLength(upload.options)
    if upload.length != nil || length < upload.body.shown {
      throw Self.refusal(
        400, "ERR_INVALID_UPLOAD_LENGTH", "the length of the upload is known or smaller than its offset")
    }
    upload.length = length
  }

  /// Receives the body of the request. Without a checksum the bytes of an interrupted body count.
  func append(to upload: TusUpload) throws(ExchangeEnd) {
    let limit = upload.length ?? upload.options.maxSize ?? .max
    if case .length(let length) = head.framing, length > limit - upload.body.shown {
      throw Self.refusal(413, "ERR_UPLOAD_SIZE_EXCEEDED", "upload's size exceeded")
    }
    let check = upload.options.offers("checksum") ? try TusFields.check(head["upload-checksum"]) : nil
    try exchange.invite()
    do throws(ExchangeEnd) {
      try upload.body.append(exchange, upTo: limit, keeping: .prefix, check: check)
    } catch {
      // All bytes may be there although the connection broke: then the upload is complete.
      try publishIfComplete(upload)
      throw error
    }
  }

  /// A complete upload becomes an object immediately: tus has no call that completes it.
  func publishIfComplete(_ upload: TusUpload) throws(ExchangeEnd) {
    guard upload.isComplete, !upload.isPublished, let path = upload.path else { return }
    _ = try upload.body.publish(exchange, at: path)
    upload.isPublished = true
    try exchange.end(upload, .completed)
  }

  private func regress(_ upload: TusUpload) throws(ExchangeEnd) {
    guard let count = exchange.effect.regress, !upload.isPublished else { return }
    try upload.body.regress(by: count)
  }

  func announcedOffset(_ upload: TusUpload) -> Int64 {
    exchange.effect.isOffsetPastEnd ? (upload.length ?? upload.body.shown) + 1 : upload.body.shown
  }

  /// Only for unfinished uploads: the others do not expire.
  func expiry(of upload: TusUpload) -> [Answer.Field] {
    guard upload.options.offers("expiration"), !upload.isComplete else { return [] }
    return [Answer.Field("Upload-Expires", httpDate(Int(upload.expiresAtMs / 1000)))]
  }
}
