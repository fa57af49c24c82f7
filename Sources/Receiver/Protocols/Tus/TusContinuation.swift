import TransferModel

/// HEAD, PATCH and DELETE on an upload.
struct TusContinuation {
  let exchange: Exchange
  let upload: TusUpload

  private var head: RequestHead { exchange.head }
  private var transfer: TusTransfer { TusTransfer(exchange: exchange, upload: upload) }

  func look() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    if exchange.effect.forgetsOffset, !upload.isPublished { upload.body.forgetOffset() }
    try regress()
    try transfer.publishIfComplete()
    var fields = [transfer.offset, Answer.Field("Cache-Control", "no-store")]
    if let length = upload.length {
      fields.append(Answer.Field("Upload-Length", String(length)))
    } else {
      fields.append(Answer.Field("Upload-Defer-Length", "1"))
    }
    if let metadata = upload.metadata { fields.append(Answer.Field("Upload-Metadata", metadata)) }
    if let concatenation = upload.concatenation { fields.append(Answer.Field("Upload-Concat", concatenation.field)) }
    return Answer(200, fields: fields)
  }

  func patch() throws(ExchangeEnd) -> Answer {
    if case .final = upload.concatenation {
      throw TusEndpoint.refusal(403, "ERR_MODIFY_FINAL", "a final upload is complete")
    }
    guard head["content-type"] == TusEndpoint.contentType else {
      throw TusEndpoint.refusal(415, "ERR_INVALID_CONTENT_TYPE", "Content-Type has to be \(TusEndpoint.contentType)")
    }
    guard let offset = wholeNumber(head["upload-offset"] ?? "") else {
      throw TusEndpoint.refusal(400, "ERR_INVALID_OFFSET", "Upload-Offset is missing or malformed")
    }
    if offset != upload.body.shown { throw TusEndpoint.refusal(409, "ERR_MISMATCHED_OFFSET", "mismatched offset") }
    try takeLength()
    try transfer.append()
    try regress()
    try transfer.publishIfComplete()
    return Answer(204, fields: [transfer.offset] + transfer.expiry)
  }

  func terminate() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    upload.body.discard()
    try exchange.end(upload, .aborted)
    return Answer(204)
  }

  /// A deferred length can be given once.
  private func takeLength() throws(ExchangeEnd) {
    guard let field = head["upload-length"] else { return }
    let length = try TusFields.length(field, upload.options)
    if upload.length != nil || length < upload.body.shown {
      throw TusEndpoint.refusal(
        400, "ERR_INVALID_UPLOAD_LENGTH", "the length of the upload is known or smaller than its offset")
    }
    upload.length = length
  }

  private func regress() throws(ExchangeEnd) {
    guard let count = exchange.effect.regress, !upload.isPublished else { return }
    try upload.body.regress(by: count)
  }
}
