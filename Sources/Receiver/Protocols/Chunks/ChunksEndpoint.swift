import TransferModel

/// Numbered chunks and a merge call: `upload`, `status`, `merge`.
/// Source: the family of upload servers that reference/protocols.md section 5.1 A describes.
struct ChunksEndpoint: Endpoint {
  static let names = ["chunks"]

  let exchange: Exchange
  let target: EndpointTarget

  init(_ exchange: Exchange, _ target: EndpointTarget) {
    self.exchange = exchange
    self.target = target
  }

  private var receiver: ChunkReceiver { ChunkReceiver(exchange: exchange, name: "chunks") }
  /// The number of the first chunk.
  private var base: Int64 { target.query["base"] == "0" ? 0 : 1 }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    switch (target.words, exchange.head.method) {
    case (["upload"], "POST"), (["upload"], "PUT"): return try upload()
    case (["status"], "GET"): return try status()
    case (["merge"], "POST"): return try merge()
    case (["merge"], "GET"): return try mergeStatus()
    default: throw .refuse(404, "POST upload and merge, GET status and merge")
    }
  }

  private static let fields = [
    "uploadId": "x-upload-id", "chunkNumber": "x-chunk-number", "chunkCount": "x-chunk-count",
    "totalSize": "x-total-size",
  ]

  private func upload() throws(ExchangeEnd) -> Answer {
    let base = base
    let (_, part, chunk) = try receiver.receive(
      lookup: { [head = exchange.head] name in Self.fields[name].flatMap { head[$0] } },
      { value throws(ExchangeEnd) in
        guard let id = value("uploadId"), !id.isEmpty, let number = wholeNumber(value("chunkNumber") ?? ""),
          let count = wholeNumber(value("chunkCount") ?? ""), let size = wholeNumber(value("totalSize") ?? "")
        else { throw .refuse(400, "uploadId, chunkNumber, chunkCount or totalSize is missing or malformed") }
        return Chunk(id: id, index: number - base, count: count, totalSize: size)
      }, prepare: { _, _ in })
    return Answer(
      200,
      json: [
        "n": .number(chunk.index + base), "size": .number(part.place.length), "crc32c": .text(CRC32C.text(part.crc32c)),
      ])
  }

  /// An upload that nobody began has no chunks; one that the script made unknown is unknown.
  private func status() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let id = target.query["uploadId"] ?? ""
    exchange.recordedPath = receiver.path(id)
    let upload = try exchange.session(ChunkUpload.key("chunks", id), ChunkUpload.self)
    if exchange.core.uploads.isForgotten(ChunkUpload.key("chunks", id), ChunkUpload.self) {
      throw .refuse(Answer(404, json: ["error": "the upload is not known"]))
    }
    if let count = exchange.effect.regress { upload?.parts.regress(by: count) }
    var known = (upload?.parts.parts ?? [:]).sorted { $0.key < $1.key }.map { number, part -> JSON in
      ["n": .number(number + base), "size": .number(part.place.length)]
    }
    if exchange.effect.isOffsetPastEnd { known.append(["n": .number((upload?.count ?? 0) + base), "size": 1]) }
    return Answer(200, json: ["uploaded": .array(known)])
  }

  private func merge() throws(ExchangeEnd) -> Answer {
    let json = try exchange.jsonBody()
    guard let id = json["uploadId"]?.text, let name = json["name"]?.text else {
      throw .refuse(400, "uploadId or name is missing")
    }
    let path = try ObjectPath(name: Array(name.utf8))
    let upload = try known(id)
    return try exchange.holding(upload.merging, busy: Answer(423)) { () throws(ExchangeEnd) in
      if let merged = upload.merged {
        guard merged.isIdempotent else { throw .refuse(Answer(409, json: ["error": "the upload is merged already"])) }
        return answer(merged)
      }
      guard upload.isComplete, json["count"]?.number ?? upload.count == upload.count,
        json["size"]?.number ?? upload.size == upload.size
      else { throw .refuse(incomplete(upload)) }
      let words = (target.query["merge"] ?? "").split(separator: ",")
      let seconds = words.first == "slow" ? words.dropFirst().first.flatMap { wholeNumber($0) } ?? 1 : 0
      return answer(
        try receiver.merge(
          upload, at: path, joins: true, readyAtMs: wallMilliseconds() + min(seconds, 86_400) * 1000,
          isIdempotent: words.contains("idempotent")))
    }
  }

  private func mergeStatus() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    guard let merged = try known(target.query["uploadId"] ?? "").merged else {
      throw .refuse(Answer(404, json: ["error": "the upload is not merged"]))
    }
    return answer(merged)
  }

  private func known(_ id: String) throws(ExchangeEnd) -> ChunkUpload {
    exchange.recordedPath = receiver.path(id)
    guard let upload = try exchange.session(ChunkUpload.key("chunks", id), ChunkUpload.self) else {
      throw .refuse(Answer(404, json: ["error": "the upload is not known"]))
    }
    return upload
  }

  private func answer(_ merged: ChunkUpload.Merged) -> Answer {
    guard wallMilliseconds() >= merged.readyAtMs else {
      return Answer(202, json: ["state": "merging"], fields: [Answer.Field("Retry-After", "1")])
    }
    return Answer(200, json: exchange.receipt(merged.path, size: merged.size, crc32c: merged.crc32c))
  }

  private func incomplete(_ upload: ChunkUpload) -> Answer {
    let missing = upload.missing(upTo: 100).map { JSON.number($0 + base) }
    return Answer(409, json: ["error": "chunks are missing, or count or size is wrong", "missing": .array(missing)])
  }
}
