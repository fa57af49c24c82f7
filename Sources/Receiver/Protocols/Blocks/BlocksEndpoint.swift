import TransferModel

/// A token and ordered blocks: `init`, `block` … `block`, `save`, and `query` for the next block. Many servers of one
/// family use this protocol with their own names; these are the names of the profile `token-blocks`.
struct BlocksEndpoint: Endpoint {
  static let names = ["blocks"]

  let exchange: Exchange
  let target: EndpointTarget

  func answer() throws(ExchangeEnd) -> Answer {
    try authorize()
    switch (target.words, exchange.head.method) {
    case (["init"], "POST"): return try open()
    case (["block"], "POST"): return try block()
    case (["query"], "GET"), (["query"], "POST"): return try query()
    case (["save"], "POST"): return try save()
    default: throw .refuse(404, "POST init, block and save, GET query")
    }
  }

  /// In this protocol the bearer token of the receiver has its own field.
  private func authorize() throws(ExchangeEnd) {
    guard let token = exchange.core.settings.bearerToken else { return try exchange.authorize() }
    let given = Array((exchange.head["x-token"] ?? "").utf8)
    guard isEqualInConstantTime(Array(token.utf8), given) else { throw .refuse(BlockCode.badToken.answer(status: 401)) }
  }

  private func open() throws(ExchangeEnd) -> Answer {
    guard let json = JSON(try exchange.smallBody()), let size = json["totFileSize"]?.number, size >= 0,
      json["fileName"]?.text != nil
    else { throw Self.refusal(.badRequest) }
    let upload = try BlockUpload(try AppendUpload(exchange.core), size: size, target.query)
    exchange.core.uploads.add(upload, as: Self.fileKey(upload))
    try exchange.open(upload)
    return BlockCode.done.answer(["upToken": shown(upload.token)])
  }

  private func block() throws(ExchangeEnd) -> Answer {
    let parameters = try BlockParameters(target.query)
    return try onUpload(target.query["upToken"] ?? "") { upload throws(ExchangeEnd) in
      guard parameters.totalSize == upload.size else { throw Self.refusal(.badRequest) }
      if parameters.number < upload.next {
        throw Self.refusal(upload.refusesDuplicates ? .duplicate : .haveIt, progress(upload))
      }
      if parameters.number > upload.next || upload.isComplete { throw Self.refusal(.gap, progress(upload)) }
      try receive(parameters, upload)
      upload.ends.append(upload.body.offset)
      try regress(upload)
      if upload.rotates { rotate(upload) }
      return BlockCode.done.answer(progress(upload))
    }
  }

  private func receive(_ parameters: BlockParameters, _ upload: BlockUpload) throws(ExchangeEnd) {
    let checksum = parameters.crc32.map { (RunningHash.Kind.crc32, CRC32C.bigEndianBytes($0)) }
    let check = BodyCheck(checksum, length: parameters.size, refusal: Self.refusal(.wrongChecksum, progress(upload)))
    if parameters.size > upload.size - upload.body.offset { throw Self.refusal(.badRequest) }
    try exchange.invite()
    let form = FormBody.isForm(exchange) ? try FormBody(exchange) : nil
    try upload.body.append(exchange, form: form, upTo: .max, keeping: .nothing, check: check)
  }

  private func query() throws(ExchangeEnd) -> Answer {
    var token = target.query["upToken"]
    if exchange.head.method == "POST" { token = JSON(try exchange.smallBody())?["upToken"]?.text ?? token }
    return try onUpload(token ?? "") { upload throws(ExchangeEnd) in
      try regress(upload)
      return BlockCode.done.answer(progress(upload))
    }
  }

  /// Gives the object its name. A repeated call with the same name gets the same answer and does nothing.
  private func save() throws(ExchangeEnd) -> Answer {
    guard let json = JSON(try exchange.smallBody()), let url = json["fileUrl"]?.text, let name = json["name"]?.text
    else { throw Self.refusal(.badRequest) }
    let path = try ObjectPath(name: Array(name.utf8))
    let key = url.split(separator: "/").last.map { "file:\($0)" } ?? ""
    return try onUpload(key) { upload throws(ExchangeEnd) in
      guard upload.isComplete, json["size"]?.number ?? upload.size == upload.size else {
        throw Self.refusal(.incomplete, progress(upload))
      }
      if let saved = upload.saved, saved.path != path { throw Self.refusal(.duplicate) }
      if upload.saved == nil {
        let from = exchange.recordedPath
        _ = try upload.body.publish(exchange, at: path)
        try exchange.note(.joined(from: from, ByteRange(offset: 0, length: upload.size)))
        upload.saved = (path, exchange.core.nextPosted())
        exchange.core.uploads.end(upload.token, BlockUpload.self)
        try exchange.end(upload, .completed, as: Self.fileKey(upload))
      }
      let receipt = exchange.receipt(path, size: upload.size, crc32c: upload.body.crc32c)
      return BlockCode.done.answer(receipt.adding("id", .number(Int64(upload.saved!.number))))
    }
  }

  private func onUpload(
    _ token: String, _ body: (BlockUpload) throws(ExchangeEnd) -> Answer
  ) throws(ExchangeEnd) -> Answer {
    guard let upload = try exchange.session(token, BlockUpload.self) else { throw Self.refusal(.noSession) }
    exchange.recordedPath = NameBytes("-/blocks/\(upload.id)")
    let busy = Answer(423, text: "another request is using the upload")
    return try exchange.holding(upload.body.lock, busy: busy) { () throws(ExchangeEnd) in
      // The token may have been replaced while this request waited.
      if upload.isExpired || token != upload.token && token != Self.fileKey(upload) { throw Self.refusal(.noSession) }
      return try body(upload)
    }
  }

  /// What every answer about an upload contains: the next block, or the location of the complete file.
  private func progress(_ upload: BlockUpload) -> JSON {
    let next = exchange.effect.isOffsetPastEnd ? upload.next + upload.size : upload.next
    let json: JSON = ["next": .number(next), "upToken": shown(upload.token)]
    guard upload.isComplete else { return json }
    return json.adding("fileUrl", .text(exchange.url("/-/blocks/files/\(upload.id)")))
  }

  private func rotate(_ upload: BlockUpload) {
    exchange.core.uploads.remove(upload.token, BlockUpload.self)
    upload.token = randomID()
    exchange.core.uploads.add(upload, as: upload.token)
  }

  private func regress(_ upload: BlockUpload) throws(ExchangeEnd) {
    guard let count = exchange.effect.regress, upload.saved == nil else { return }
    try upload.regress(by: count)
  }

  private func shown(_ token: String) -> JSON { .text(exchange.effect.token ?? token) }

  private static func fileKey(_ upload: BlockUpload) -> String { "file:\(upload.id)" }

  private static func refusal(_ code: BlockCode, _ data: JSON? = nil) -> ExchangeEnd { .refuse(code.answer(data)) }
}

/// The parameters of a block in the query.
struct BlockParameters {
  /// From 1.
  let number: Int64
  /// Length of this block in bytes.
  let size: Int64
  let totalSize: Int64
  /// CRC-32 of this block; nil to skip the check.
  let crc32: UInt32?

  init(_ query: Query) throws(ExchangeEnd) {
    guard let number = wholeNumber(query["sequenceNo"] ?? ""), let size = wholeNumber(query["blockSize"] ?? ""),
      let totalSize = wholeNumber(query["totFileSize"] ?? ""), number > 0
    else { throw .refuse(BlockCode.badRequest.answer()) }
    (self.number, self.size, self.totalSize) = (number, size, totalSize)
    guard let crc = query["crc"] else {
      crc32 = nil
      return
    }
    guard crc.utf8.count <= 8, let value = UInt32(crc, radix: 16) else { throw .refuse(BlockCode.badRequest.answer()) }
    crc32 = value
  }
}
