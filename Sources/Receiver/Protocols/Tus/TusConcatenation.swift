import TransferModel

/// The final upload of a concatenation: a copy of the parts, in the order of their URLs. The parts are kept, so that a
/// client that lost the answer can query again.
struct TusConcatenation {
  let exchange: Exchange
  let options: TusOptions

  func answer(_ urls: String) throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let metadata = exchange.head["upload-metadata"]
    let id = randomID()
    let path = try TusFields.objectPath(metadata, id: id)
    let parts = try parts(urls)
    let body = try AppendUpload(exchange.core)
    exchange.recordedPath = path.bytes
    let joined = try join(parts, into: body)
    let upload = TusUpload(
      id, body, options, .final(urls), metadata: metadata, path: path, length: body.offset)
    try exchange.open(upload)
    let transfer = TusTransfer(exchange: exchange, upload: upload)
    try transfer.publishIfComplete()
    for event in joined { try exchange.note(event) }
    return Answer(201, fields: [transfer.location])
  }

  private func parts(_ urls: String) throws(ExchangeEnd) -> [TusUpload] {
    var parts: [TusUpload] = []
    for url in urls.split(separator: " ") {
      let words = url.split(separator: "/")
      guard words.suffix(3).dropLast() == ["-", "tus"], let id = words.last,
        let part = try exchange.session(String(id), TusUpload.self), part.concatenation == .partial
      else { throw TusEndpoint.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat names an upload that is not partial") }
      parts.append(part)
    }
    if parts.isEmpty { throw TusEndpoint.refusal(400, "ERR_INVALID_CONCAT", "Upload-Concat names no upload") }
    return parts
  }

  /// Copies the parts; the events that say where the bytes of each are now.
  private func join(_ parts: [TusUpload], into body: AppendUpload) throws(ExchangeEnd) -> [ReceiverEvent.Kind] {
    var joined: [ReceiverEvent.Kind] = []
    for part in parts {
      try exchange.holding(part.body.lock, busy: Answer(423)) { () throws(ExchangeEnd) in
        guard part.isComplete else {
          throw TusEndpoint.refusal(400, "ERR_UPLOAD_NOT_FINISHED", "one of the partial uploads is not finished")
        }
        let range = ByteRange(offset: body.offset, length: part.body.offset)
        try body.append(copyOf: part.body)
        joined.append(.joined(from: NameBytes("-/tus/\(part.id)"), range))
      }
    }
    return joined
  }
}
