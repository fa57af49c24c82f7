import TransferModel

/// The request that creates an upload.
struct ResumableCreation {
  let exchange: Exchange
  let dialect: ResumableDialect
  let query: Query

  func answer(_ path: ObjectPath, isComplete: Bool) throws(ExchangeEnd) -> Answer {
    let limits = try ResumableLimits(query)
    let lengths = ResumableLengths(head: exchange.head)
    let length = try lengths.declared(isComplete ? lengths.content : nil)
    let upload = ResumableUpload(
      try AppendUpload(exchange.core), path, limits, try exchange.condition(),
      digests: try exchange.head["repr-digest"].map { field throws(ExchangeEnd) in try digests(inField: field) } ?? [:],
      length: length)
    let transfer = ResumableTransfer(exchange: exchange, upload: upload, dialect: dialect)
    try transfer.check(isComplete: isComplete, isCreation: true)
    try exchange.open(upload)
    let location = Answer.Field(
      "Location", exchange.url("/-/resumable-uploads/\(upload.id)", isRelative: query["loc"] == "relative"))
    if !limits.hidesInterim {
      let limit = dialect.tellsLimits ? [upload.limitField(dialect)] : []
      try exchange.sendInterim(104, dialect.versionFields + [location] + limit)
    }
    return try exchange.holding(upload.body.lock, busy: ResumableEndpoint.busy) { () throws(ExchangeEnd) in
      var answer = try transfer.take(isComplete: isComplete, status: 201)
      if upload.final == nil { answer.fields.append(location) }
      return answer
    }
  }
}

/// The lengths that a request states.
struct ResumableLengths {
  let head: RequestHead

  /// nil for a body in chunks, whose length is not known.
  var content: Int64? {
    switch head.framing {
    case .none: 0
    case .length(let length): length
    case .chunked: nil
    }
  }

  /// Upload-Length, or the total length that follows from the end of this content; 400 when they differ.
  func declared(_ implied: Int64?) throws(ExchangeEnd) -> Int64? {
    let declared = ResumableDialect.number(head["upload-length"])
    if let declared, let implied, declared != implied { throw .refuse(ResumableProblem.inconsistentLength) }
    return declared ?? implied
  }
}
