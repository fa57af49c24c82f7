import TransferModel

/// One upload in one request: what creating and continuing it share.
struct TusTransfer {
  let exchange: Exchange
  let upload: TusUpload

  // MARK: - Content

  /// Receives the body of the request. Without a checksum the bytes of an interrupted body count.
  func append() throws(ExchangeEnd) {
    let limit = upload.length ?? upload.options.maxSize ?? .max
    if case .length(let length) = exchange.head.framing, length > limit - upload.body.shown {
      throw TusEndpoint.refusal(413, "ERR_UPLOAD_SIZE_EXCEEDED", "upload's size exceeded")
    }
    let check = upload.options.offers("checksum") ? try TusFields.check(exchange.head["upload-checksum"]) : nil
    try exchange.invite()
    do throws(ExchangeEnd) {
      try upload.body.append(exchange, upTo: limit, keeping: .prefix, check: check)
    } catch {
      // All bytes may be there although the connection broke: then the upload is complete.
      try publishIfComplete()
      throw error
    }
  }

  /// A complete upload becomes an object immediately: tus has no call that completes it.
  func publishIfComplete() throws(ExchangeEnd) {
    guard upload.isComplete, !upload.isPublished, let path = upload.path else { return }
    _ = try upload.body.publish(exchange, at: path)
    upload.isPublished = true
    try exchange.end(upload, .completed)
  }

  // MARK: - Fields of answers

  var location: Answer.Field {
    Answer.Field(
      "Location", exchange.url("/-/tus/\(upload.id)", isRelative: upload.options.hasRelativeLocation))
  }

  var offset: Answer.Field {
    let pastEnd = (upload.length ?? upload.body.shown) + 1
    return Answer.Field("Upload-Offset", String(exchange.effect.isOffsetPastEnd ? pastEnd : upload.body.shown))
  }

  /// Only for unfinished uploads: the others do not expire.
  var expiry: [Answer.Field] {
    guard upload.options.offers("expiration"), !upload.isComplete else { return [] }
    return [Answer.Field("Upload-Expires", httpDate(Int(upload.expiresAtMs / 1000)))]
  }
}
