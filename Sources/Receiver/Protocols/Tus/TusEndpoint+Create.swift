import TransferModel

/// POST on the creation URL.
extension TusEndpoint {
  func create() throws(ExchangeEnd) -> Answer {
    let options = try TusOptions(target.query)
    let concatenation = try concatenation(options)
    if case .final(let urls) = concatenation { return try concatenate(urls, options) }
    let length = try declaredLength(options)
    let id = randomID()
    let upload = TusUpload(
      id, try AppendUpload(exchange.core), options, concatenation, metadata: head["upload-metadata"],
      path: concatenation == nil ? try objectPath(id) : nil, length: length)
    exchange.recordedPath = upload.path?.bytes ?? NameBytes("-/tus/\(id)")
    try exchange.open(upload)
    return try exchange.holding(upload.body.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
      try takeFirstBytes(upload)
    }
  }

  private func concatenation(_ options: TusOptions) throws(ExchangeEnd) -> TusUpload.Concatenation? {
    guard let field = head["upload-concat"] else { return nil }
    guard options.offers("concatenation") else {
      throw Self.refusal(400, "ERR_CONCATENATION_UNSUPPORTED", "concatenation is not offered")
    }
    if field == "partial" { return .partial }
    guard field.hasPrefix("final;") else { throw Self.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat is malformed") }
    return .final(String(field.dropFirst(6)))
  }

  /// The name in the metadata, otherwise the ID.
  private func objectPath(_ id: String) throws(ExchangeEnd) -> ObjectPath {
    try ObjectPath(name: try TusFields.fileName(in: head["upload-metadata"]) ?? Array(id.utf8))
  }

  private func declaredLength(_ options: TusOptions) throws(ExchangeEnd) -> Int64? {
    if let deferred = head["upload-defer-length"] {
      guard head["upload-length"] == nil else {
        throw Self.refusal(
          400, "ERR_AMBIGUOUS_UPLOAD_LENGTH", "Upload-Length and Upload-Defer-Length exclude each other")
      }
      guard options.offers("creation-defer-length") else {
        throw Self.refusal(501, "ERR_NOT_IMPLEMENTED", "creation-defer-length is not offered")
      }
      guard deferred == "1" else {
        throw Self.refusal(400, "ERR_INVALID_UPLOAD_LENGTH_DEFER", "Upload-Defer-Length has to be 1")
      }
      return nil
    }
    return try uploadLength(options)
  }

  /// The number in Upload-Length, checked against the limit.
  func uploadLength(_ options: TusOptions) throws(ExchangeEnd) -> Int64 {
    guard let length = wholeNumber(head["upload-length"] ?? "") else {
      throw Self.refusal(400, "ERR_INVALID_UPLOAD_LENGTH", "Upload-Length is missing or malformed")
    }
    if let maxSize = options.maxSize, length > maxSize {
      throw Self.refusal(413, "ERR_MAX_SIZE_EXCEEDED", "the upload is longer than \(maxSize) bytes")
    }
    return length
  }

  /// Creation with upload: only with the exact media type; any other body is silently ignored, as by tusd.
  private func takeFirstBytes(_ upload: TusUpload) throws(ExchangeEnd) -> Answer {
    let takes =
      exchange.hasBody && upload.options.offers("creation-with-upload") && head["content-type"] == Self.contentType
    if takes { try append(to: upload) } else { try exchange.drop() }
    try publishIfComplete(upload)
    let fields = takes ? [Answer.Field("Upload-Offset", String(announcedOffset(upload)))] : []
    return Answer(201, fields: [location(of: upload)] + fields + expiry(of: upload))
  }

  func location(of upload: TusUpload) -> Answer.Field {
    let path = "/-/tus/\(upload.id)"
    return Answer.Field("Location", exchange.url(path, isRelative: upload.options.hasRelativeLocation))
  }

  /// The final upload of a concatenation: a copy of the parts, in the order of their URLs. The parts are kept, so that
  /// a client that lost the answer can query again.
  private func concatenate(_ urls: String, _ options: TusOptions) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let id = randomID()
    let path = try objectPath(id)
    let parts = try parts(urls)
    let body = try AppendUpload(exchange.core)
    var joined: [ReceiverEvent.Kind] = []
    exchange.recordedPath = path.bytes
    for part in parts {
      try exchange.holding(part.body.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
        guard part.isComplete else {
          throw Self.refusal(400, "ERR_UPLOAD_NOT_FINISHED", "one of the partial uploads is not finished")
        }
        let range = ByteRange(offset: body.offset, length: part.body.offset)
        try body.append(copyOf: part.body)
        joined.append(.joined(from: NameBytes("-/tus/\(part.id)"), range))
      }
    }
    let upload = TusUpload(
      id, body, options, .final(urls), metadata: head["upload-metadata"], path: path, length: body.offset)
    try exchange.open(upload)
    try publishIfComplete(upload)
    for event in joined { try exchange.note(event) }
    return Answer(201, fields: [location(of: upload)])
  }

  private func parts(_ urls: String) throws(ExchangeEnd) -> [TusUpload] {
    var parts: [TusUpload] = []
    for url in urls.split(separator: " ") {
      let words = url.split(separator: "/")
      guard words.suffix(3).dropLast() == ["-", "tus"], let id = words.last,
        let part = try exchange.session(String(id), TusUpload.self), part.concatenation == .partial
      else { throw Self.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat names an upload that is not partial") }
      parts.append(part)
    }
    if parts.isEmpty { throw Self.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat names no upload") }
    return parts
  }
}
