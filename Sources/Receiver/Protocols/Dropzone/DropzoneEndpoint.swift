import TransferModel

/// The requests of Dropzone.js with chunking, and the merge call that applications add to it.
/// Source: the source code of Dropzone.js.
struct DropzoneEndpoint: Endpoint {
  static let names = ["dropzone"]

  let exchange: Exchange
  let target: EndpointTarget

  private var receiver: ChunkReceiver { ChunkReceiver(exchange: exchange, name: "dropzone") }

  func answer() throws(ExchangeEnd) -> Answer {
    try exchange.authorize()
    switch (target.words, exchange.head.method) {
    case (["upload"], "POST"), (["upload"], "PUT"): return try upload()
    case (["merge"], "POST"): return try merge()
    default: throw .refuse(404, "POST upload and merge")
    }
  }

  private func upload() throws(ExchangeEnd) -> Answer {
    guard FormBody.isForm(exchange) else { throw .refuse(415, "Dropzone sends multipart/form-data") }
    let part = try receiver.receive(
      lookup: { _ in nil },
      { value throws(ExchangeEnd) in
        let numbers = ["dzchunkindex", "dztotalchunkcount", "dztotalfilesize", "dzchunkbyteoffset"].map {
          wholeNumber(value($0) ?? "")
        }
        guard let id = value("dzuuid"), !id.isEmpty, let index = numbers[0], let count = numbers[1],
          let size = numbers[2], let offset = numbers[3]
        else { throw .refuse(400, "a field of Dropzone is missing or malformed") }
        return Chunk(id: id, index: index, count: count, totalSize: size, offset: offset)
      }, prepare: { _, _ in }
    ).part
    return Answer(200, json: ["size": .number(part.place.length), "crc32c": .text(CRC32C.text(part.crc32c))])
  }

  private func merge() throws(ExchangeEnd) -> Answer {
    let json = try exchange.jsonBody()
    guard let id = json["id"]?.text, let name = json["name"]?.text else { throw .refuse(400, "id or name is missing") }
    let path = try ObjectPath(name: Array(name.utf8))
    return try ChunkMerge(exchange: exchange, name: "dropzone")
      .merge(id, at: path, target.query, isAsAnnounced: { _ in true }, base: 0)
  }
}
