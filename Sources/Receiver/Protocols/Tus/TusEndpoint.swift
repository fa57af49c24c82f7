import TransferModel

/// tus 1.0.0: `POST /-/tus/` creates, `/-/tus/ID` is the upload. Source: tus.io, protocol version 1.0.0.
struct TusEndpoint: Endpoint {
  static let names = ["tus"]
  static let version = "1.0.0"
  static let contentType = "application/offset+octet-stream"

  let exchange: Exchange
  let target: EndpointTarget

  private var head: RequestHead { exchange.head }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    let method = head.method == "POST" ? head["x-http-method-override"] ?? "POST" : head.method
    if method == "OPTIONS" { return try options() }
    guard head["tus-resumable"] == Self.version else {
      throw Self.refusal(412, "ERR_UNSUPPORTED_VERSION", "Tus-Resumable has to be \(Self.version)")
    }
    let words = target.words
    switch (words.count, words.first ?? "") {
    case (0, _), (1, ""):
      guard method == "POST" else { throw Self.refusal(405, "ERR_METHOD", "an upload is created with POST") }
      return try TusCreation(exchange: exchange, options: try TusOptions(target.query)).answer()
    case (1, let id): return try onUpload(id, method)
    default: throw Self.refusal(404, "ERR_UPLOAD_NOT_FOUND", "no upload has such a URL")
    }
  }

  func completed(_ answer: Answer) -> Answer {
    var answer = answer
    answer.fields.append(Answer.Field("Tus-Resumable", Self.version))
    if answer.status == 412 { answer.fields.append(Answer.Field("Tus-Version", Self.version)) }
    return answer
  }

  private func options() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let options = try TusOptions(target.query)
    var fields = [
      Answer.Field("Tus-Version", Self.version),
      Answer.Field("Tus-Extension", options.offered.joined(separator: ",")),
    ]
    if let maxSize = options.maxSize { fields.append(Answer.Field("Tus-Max-Size", String(maxSize))) }
    if options.offers("checksum") {
      let names = TusFields.checksums.keys.sorted().joined(separator: ",")
      fields.append(Answer.Field("Tus-Checksum-Algorithm", names))
    }
    return Answer(204, fields: fields)
  }

  private func onUpload(_ id: String, _ method: String) throws(ExchangeEnd) -> Answer {
    guard let upload = try exchange.session(id, TusUpload.self) else {
      throw Self.refusal(404, "ERR_UPLOAD_NOT_FOUND", "upload not found")
    }
    if let path = upload.path { exchange.recordedPath = path.bytes }
    return try exchange.holding(upload.body.lock, busy: Self.locked) { () throws(ExchangeEnd) in
      if upload.isExpired {
        if upload.body.discard() { try exchange.end(upload, .expired) }
        throw Self.refusal(410, "ERR_UPLOAD_EXPIRED", "the upload expired")
      }
      let continuation = TusContinuation(exchange: exchange, upload: upload)
      switch method {
      case "HEAD": return try continuation.look()
      case "PATCH": return try continuation.patch()
      case "DELETE" where upload.options.offers("termination"): return try continuation.terminate()
      default: throw Self.refusal(405, "ERR_METHOD", "an upload takes HEAD, PATCH and DELETE")
      }
    }
  }

  private static var locked: Answer {
    Answer(
      423, text: "ERR_UPLOAD_LOCKED: another request is using the upload", fields: [Answer.Field("Retry-After", "1")])
  }

  static func refusal(_ status: Int, _ code: String, _ text: String) -> ExchangeEnd {
    .refuse(status, "\(code): \(text)")
  }
}
