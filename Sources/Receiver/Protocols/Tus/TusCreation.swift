import TransferModel

/// POST on the creation URL.
struct TusCreation {
  let exchange: Exchange
  let options: TusOptions

  private var head: RequestHead { exchange.head }
  private var metadata: String? { head["upload-metadata"] }

  func answer() throws(ExchangeEnd) -> Answer {
    let concatenation = try concatenation()
    if case .final(let urls) = concatenation {
      return try TusConcatenation(exchange: exchange, options: options).answer(urls)
    }
    let length = try declaredLength()
    let id = randomID()
    let upload = TusUpload(
      id, try AppendUpload(exchange.core), options, concatenation, metadata: metadata,
      path: concatenation == nil ? try TusFields.objectPath(metadata, id: id) : nil, length: length)
    exchange.recordedPath = upload.path?.bytes ?? NameBytes("-/tus/\(id)")
    try exchange.open(upload)
    return try exchange.holding(upload.body.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      try takeFirstBytes(TusTransfer(exchange: exchange, upload: upload))
    }
  }

  private func concatenation() throws(ExchangeEnd) -> TusUpload.Concatenation? {
    guard let field = head["upload-concat"] else { return nil }
    guard options.offers("concatenation") else {
      throw TusEndpoint.refusal(400, "ERR_CONCATENATION_UNSUPPORTED", "concatenation is not offered")
    }
    if field == "partial" { return .partial }
    guard field.hasPrefix("final;") else {
      throw TusEndpoint.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat is malformed")
    }
    return .final(String(field.dropFirst(6)))
  }

  private func declaredLength() throws(ExchangeEnd) -> Int64? {
    if let deferred = head["upload-defer-length"] {
      guard head["upload-length"] == nil else {
        throw TusEndpoint.refusal(
          400, "ERR_AMBIGUOUS_UPLOAD_LENGTH", "Upload-Length and Upload-Defer-Length exclude each other")
      }
      guard options.offers("creation-defer-length") else {
        throw TusEndpoint.refusal(501, "ERR_NOT_IMPLEMENTED", "creation-defer-length is not offered")
      }
      guard deferred == "1" else {
        throw TusEndpoint.refusal(400, "ERR_INVALID_UPLOAD_LENGTH_DEFER", "Upload-Defer-Length has to be 1")
      }
      return nil
    }
    return try TusFields.length(head["upload-length"], options)
  }

  /// Creation with upload: only with the exact media type; any other body is silently ignored, as by tusd.
  private func takeFirstBytes(_ transfer: TusTransfer) throws(ExchangeEnd) -> Answer {
    let takes =
      exchange.hasBody && options.offers("creation-with-upload") && head["content-type"] == TusEndpoint.contentType
    if takes { try transfer.append() } else { try exchange.drop() }
    try transfer.publishIfComplete()
    return Answer(201, fields: [transfer.location] + (takes ? [transfer.offset] : []) + transfer.expiry)
  }
}
