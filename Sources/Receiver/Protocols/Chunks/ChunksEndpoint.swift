import TransferModel

/// Numbered chunks and a merge call: `upload`, `status`, `merge`.
/// The form that many servers for browser uploads share. It has no specification.
struct ChunksEndpoint: Endpoint {
  static let names = ["chunks"]

  let exchange: Exchange
  let target: EndpointTarget

  private var receiver: ChunkReceiver { ChunkReceiver(exchange: exchange, name: "chunks") }
  private var merging: ChunkMerge { ChunkMerge(exchange: exchange, name: "chunks") }
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

  /// An upload that does not exist is reported without chunks; one that the script made unknown gets 404.
  private func status() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    let id = target.query["uploadId"] ?? ""
    exchange.recordedPath = ChunkUpload.path("chunks", id)
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
    let isAsAnnounced: (ChunkUpload) -> Bool = { upload in
      json["count"]?.number ?? upload.count == upload.count && json["size"]?.number ?? upload.size == upload.size
    }
    return try merging.merge(
      id, at: try ObjectPath(name: Array(name.utf8)), target.query, isAsAnnounced: isAsAnnounced, base: base)
  }

  private func mergeStatus() throws(ExchangeEnd) -> Answer {
    try exchange.drop()
    guard let merged = try merging.known(target.query["uploadId"] ?? "").merged else {
      throw .refuse(Answer(404, json: ["error": "the upload is not merged"]))
    }
    return merging.answer(merged)
  }
}
