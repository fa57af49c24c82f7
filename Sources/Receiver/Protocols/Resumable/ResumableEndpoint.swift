import TransferModel

/// Resumable uploads of the IETF: `/-/resumable/PATH` is the target, `/-/resumable-uploads/ID` the upload.
struct ResumableEndpoint: Endpoint {
  static let names = ["resumable", "resumable-uploads"]
  static let mediaType = "application/partial-upload"

  let exchange: Exchange
  let target: EndpointTarget

  private var head: RequestHead { exchange.head }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    if target.name == "resumable-uploads" { return try onUpload() }
    let path = try target.objectPath(from: 0)
    exchange.recordedPath = path.bytes
    switch head.method {
    case "OPTIONS": return try options()
    case "POST", "PUT", "PATCH": break
    default: throw .refuse(405, "a target takes OPTIONS, POST, PUT and PATCH; the object is fetched under its own path")
    }
    guard let dialect = ResumableDialect(head) else {
      if head["upload-complete"] == "?0" { throw .refuse(400, "this interop version is not supported") }
      return try exchange.put(at: path)
    }
    guard let isComplete = dialect.isCompleting(head) else { return try exchange.put(at: path) }
    return try ResumableCreation(exchange: exchange, dialect: dialect, query: target.query)
      .answer(path, isComplete: isComplete)
  }

  /// The version on every answer, and that an answer is the machinery's own where nothing else was said.
  func completed(_ answer: Answer) -> Answer {
    guard let dialect = ResumableDialect(head) else { return answer }
    var answer = answer
    answer.fields += dialect.versionFields
    let isResumable = target.name == "resumable-uploads" || dialect.isCompleting(head) != nil
    let name = dialect.completeness(true).name
    if isResumable, !answer.fields.contains(where: { $0.name == name }) {
      answer.fields.append(dialect.completeness(false))
    }
    return answer
  }

  private func options() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let limits = try ResumableLimits(target.query)
    var fields = [Answer.Field("Allow", "OPTIONS, POST, PUT, PATCH"), Answer.Field("Accept-Patch", Self.mediaType)]
    if let dialect = ResumableDialect(head) { fields.append(limits.field(dialect, age: limits.maxAge)) }
    return Answer(204, fields: fields)
  }

  private func onUpload() throws(ExchangeEnd) -> Answer {
    guard let dialect = ResumableDialect(head) else { throw .refuse(400, "this interop version is not supported") }
    guard target.rest.count == 1, let upload = try exchange.session(target.words[0], ResumableUpload.self) else {
      throw .refuse(404, "the upload is not known")
    }
    exchange.recordedPath = upload.path.bytes
    return try exchange.holding(upload.body.lock, busy: Self.busy) { () throws(ExchangeEnd) in
      if upload.isExpired {
        if upload.body.discard() { try exchange.end(upload, .expired) }
        throw .refuse(410, "the upload expired")
      }
      let continuation = ResumableContinuation(
        transfer: ResumableTransfer(exchange: exchange, upload: upload, dialect: dialect))
      switch head.method {
      case "HEAD", "GET": return try continuation.look()
      case "PATCH": return try continuation.patch()
      case "DELETE": return try continuation.cancel()
      default: throw .refuse(405, "an upload takes HEAD, PATCH and DELETE")
      }
    }
  }

  static var busy: Answer {
    Answer(503, text: "another request is using the upload", fields: [Answer.Field("Retry-After", "1")])
  }
}
